import type { Json } from '@signalbox/model';
import type { AgentQuestion } from '@signalbox/runs';
import type { ModelReply, ModelRequest, ScriptedCall } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { agentsCache, cachedAgent } from '../../../scripts/agents-cache.ts';
import { AGENT_ROWS, type AgentRow } from '../src/acp/index.ts';
import { createMemoryTask, type MemoryTask } from './memory-session.ts';
import { hasLayers, openRealLife, type RealLife, refusals } from './real-life.ts';

/** The tools that an agent's model calls, and the settings with which the agent asks nobody. */
interface Ways {
  /** Runs a command. */
  command(line: string): ScriptedCall;
  /** Writes a new file in the root. */
  write(name: string, content: string): ScriptedCall;
  /** The user's own settings, in the user's home: they allow everything. */
  readonly careless: Readonly<Record<string, string>>;
  /** Our settings taken away, and the vendor's that allow everything put in their place. */
  unasking(row: AgentRow): AgentRow;
}

const json = (value: Json) => JSON.stringify(value);
const settings = (row: AgentRow, changed: Readonly<Record<string, string>>): AgentRow => ({
  ...row,
  asking: { kind: 'settings' },
  settings: { ...row.settings, ...changed },
});
const home = (row: AgentRow, homeFiles: Readonly<Record<string, string>>): AgentRow => ({
  ...row,
  asking: { kind: 'settings' },
  homeFiles,
});

const ALLOW_CLAUDE = json({ permissions: { allow: ['Bash', 'Write', 'Edit'], defaultMode: 'acceptEdits' } });
const ALLOW_GEMINI = json({
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { defaultApprovalMode: 'auto_edit' },
  tools: { allowed: ['run_shell_command', 'write_file'] },
});

const ways: Readonly<Record<string, Ways>> = {
  claude: {
    command: line => ({ tool: 'Bash', input: { command: line, description: 'Run it' } }),
    write: (name, content) => ({ tool: 'Write', input: { file_path: `{root}/${name}`, content } }),
    careless: { '.claude/settings.json': ALLOW_CLAUDE },
    unasking: row => home(row, { '.claude/settings.json': ALLOW_CLAUDE }),
  },
  codex: {
    command: line => ({
      tool: 'exec_command',
      input: { cmd: line, sandbox_permissions: 'require_escalated', justification: 'It writes.' },
    }),
    write: (name, content) => ({
      tool: 'apply_patch',
      input: `*** Begin Patch\n*** Add File: ${name}\n+${content}\n*** End Patch\n`,
    }),
    careless: { '.codex/config.toml': 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n' },
    unasking: row => settings(row, { INITIAL_AGENT_MODE: 'agent-full-access' }),
  },
  gemini: {
    command: line => ({ tool: 'run_shell_command', input: { command: line, description: 'Run it' } }),
    write: (name, content) => ({ tool: 'write_file', input: { file_path: `{root}/${name}`, content } }),
    careless: { '.gemini/settings.json': ALLOW_GEMINI },
    unasking: row => home(row, { '.gemini/settings.json': ALLOW_GEMINI }),
  },
  opencode: {
    command: line => ({ tool: 'bash', input: { command: line, description: 'Run it' } }),
    write: (name, content) => ({ tool: 'write', input: { filePath: `{root}/${name}`, content } }),
    careless: { '.config/opencode/opencode.json': json({ permission: 'allow' }) },
    unasking: row => settings(row, { OPENCODE_PERMISSION: json({ '*': 'allow' }) }),
  },
  goose: {
    command: line => ({ tool: 'shell', input: { command: line } }),
    write: (name, content) => ({ tool: 'write', input: { path: `{root}/${name}`, content } }),
    careless: { '.config/goose/config.yaml': 'GOOSE_MODE: auto\n' },
    unasking: row => settings(row, { GOOSE_MODE: 'auto' }),
  },
  copilot: {
    command: line => ({
      tool: 'bash',
      input: { command: line, description: 'Run it', mode: 'sync', initial_wait: 10 },
    }),
    write: (name, content) => ({ tool: 'create', input: { path: `{root}/${name}`, file_text: content } }),
    careless: { '.copilot/config.json': json({ allow_all: true }) },
    unasking: row => ({
      ...row,
      asking: { kind: 'settings' },
      start: { ...row.start, args: [...row.start.args, '--allow-all-tools', '--allow-all-paths'] },
    }),
  },
};

const LAST: ModelReply = { text: 'Done.' };
/** Some put their own notes before what the model says. */
const DONE = { kind: 'done', output: expect.stringMatching(/Done\.$/) };
const WANTED = 'exactly these arguments';

/** A model that makes these calls one after the other, then one that a person asks for instead, and says when it is done. */
function model(calls: readonly ScriptedCall[], instead?: ScriptedCall) {
  return (request: ModelRequest): ModelReply => {
    // Titles and summaries, beside the turns.
    if (request.tools.length === 0) return { text: 'A title' };
    const said = request.since.map(part => part.text).join('\n');
    if (instead !== undefined && said.includes(WANTED)) return { calls: [instead] };
    const call = said.includes(WANTED) ? undefined : calls[request.turn - 1];
    return call === undefined ? LAST : { calls: [call] };
  };
}

const cache = agentsCache();
const tried = AGENT_ROWS.filter(row => row.isTried);
const installed = new Map<string, string>();
for (const row of tried) {
  const agent = hasLayers ? await cachedAgent(row, cache) : undefined;
  if (agent?.directory !== undefined) installed.set(row.id, agent.directory);
}
const names = (wanted: boolean) => tried.flatMap(({ id }) => (installed.has(id) === wanted ? [id] : [])).join(', ');
console.log(`Real agents: ran: ${names(true) || 'none'}; not installed: ${names(false) || 'none'}.`);

describe.each(tried)('$title', row => {
  const way = ways[row.id];
  const directory = installed.get(row.id);
  const test = it.skipIf(directory === undefined);

  /** Calls name the root by a placeholder, because it is made with the life. */
  const open = async (script: (request: ModelRequest) => ModelReply, change?: (row: AgentRow) => AgentRow) => {
    let root = '';
    const life = await openRealLife({
      ...{ row, directory: directory ?? '', userHome: way?.careless ?? {} },
      script: request => filled(script(request), root),
      ...(change && { change }),
    });
    root = life.root;
    return life;
  };
  const command = (line: string) => way?.command(line) ?? { tool: '', input: {} };
  const write = (name: string, content: string) => way?.write(name, content) ?? { tool: '', input: {} };

  test('[B80] answers a prompt', async () => {
    const life = await open(model([]));
    const task = createMemoryTask();
    expect(await settled(life, life.run(task.session()))).toEqual(DONE);
    expect([task.questions.size, life.tree()]).toEqual([0, {}]);
    const spent = (of: 'inputTokens' | 'outputTokens' | 'costMicroUsd') =>
      [...task.spent.values()].reduce((sum, usage) => sum + usage[of], 0);
    const { usage, cost } = row.reports;
    expect([spent('inputTokens'), spent('outputTokens')]).toEqual(usage ? [100, 20] : [0, 0]);
    expect(spent('costMicroUsd') > 0).toBe(cost);
  });

  test('[B80, B81] asks before it acts, whatever its user allows it elsewhere, and acts if it may', async () => {
    const life = await open(model([command('printf hi > {root}/made.txt'), write('other.txt', 'ho')]));
    const task = createMemoryTask();
    const ended = settled(life, life.run(task.session()));
    const first = await task.asked();
    expect([JSON.stringify(first.proposal), first.kind]).toEqual([expect.stringContaining('made.txt'), kindOf(first)]);
    expect(life.tree()).toEqual({});
    answer(task, first, { resolutionType: 'approve' });
    const second = await task.asked();
    expect(JSON.stringify(second.proposal)).toContain('other.txt');
    expect(life.tree()).toEqual({});
    answer(task, second, { resolutionType: 'approve' });
    expect(await ended).toEqual(DONE);
    expect(life.tree()).toEqual({ 'made.txt': 'hi', 'other.txt': expect.stringMatching(/^ho\n?$/) });
    expect(task.questions.size).toBe(2);
  });

  test('[B80] does nothing that a person denies', async () => {
    const life = await open(model([command('printf hi > {root}/made.txt')]));
    const task = createMemoryTask();
    const ended = settled(life, life.run(task.session()));
    answer(task, await task.asked(), { resolutionType: 'reject', rationale: 'Not that.' });
    expect(await ended).toEqual(DONE);
    expect([life.tree(), task.questions.size]).toEqual([{}, 1]);
    expect(said(life)).toContain('Not that.');
  });

  test('[B80] does what a person wants instead', async () => {
    const wanted = command('printf ho > {root}/made.txt');
    const life = await open(model([command('printf hi > {root}/made.txt')], wanted));
    const task = createMemoryTask();
    const ended = settled(life, life.run(task.session()));
    const question = await task.asked();
    const { input } = question.proposal as { input: Json };
    const tellsInput = Object.keys(input as object).length > 0;
    const modifiedArgs = tellsInput
      ? JSON.parse(JSON.stringify(input).replaceAll('printf hi', 'printf ho'))
      : { command: 'printf ho > made.txt' };
    answer(task, question, { resolutionType: 'modify', modifiedArgs });
    // An agent that does not tell arguments cannot be known to use the wanted ones.
    if (!tellsInput) answer(task, await task.asked(), { resolutionType: 'approve' });
    expect(await ended).toEqual(DONE);
    expect([life.tree(), task.questions.size]).toEqual([{ 'made.txt': 'ho' }, tellsInput ? 1 : 2]);
  });

  test('[B80] asks once about what it may always do', async () => {
    const again = command('printf x >> {root}/made.txt');
    const life = await open(model([again, again]));
    const task = createMemoryTask();
    const ended = settled(life, life.run(task.session()));
    answer(task, await task.asked(), { resolutionType: 'approve', alwaysApprove: true });
    expect(await ended).toEqual(DONE);
    expect([life.tree(), task.questions.size]).toEqual([{ 'made.txt': 'xx' }, 1]);
  });

  test('[B80] ends when it is canceled, and leaves nothing behind', async () => {
    const life = await open(model([command('printf hi > {root}/made.txt'), command('printf ho > {root}/more.txt')]));
    const task = createMemoryTask();
    const session = task.session();
    const ended = settled(life, life.run(session));
    const first = await task.asked();
    answer(task, first, { resolutionType: 'approve' });
    await task.asked();
    session.abort();
    expect(await ended).toMatchObject({ kind: 'failed', error: { code: 'canceled' } });
    expect(life.tree()).toEqual({});
    // It has 5 s to end by itself.
    await expect.poll(life.isAnyAlive).toBe(false);
  });

  test('[B82] that dies with a question open is answered afterwards, and acts once', async () => {
    const life = await open(model([command('printf x >> {root}/made.txt')]));
    const task = createMemoryTask();
    const cut = settled(life, life.run(task.session()));
    const question = await task.asked();
    await life.kill();
    expect(await cut).toEqual({ kind: 'blocked', reason: `approval_required:${question.kind}` });
    expect([life.tree(), life.isAnyAlive()]).toEqual([{}, false]);
    answer(task, question, { resolutionType: 'approve' });
    expect(await settled(life, life.run(task.session()))).toEqual(DONE);
    expect([life.tree(), task.questions.size, life.starts()]).toEqual([{ 'made.txt': 'x' }, 1, 2]);
  });

  test('[B83] that is not made to ask is found out, and nothing of it is applied', async () => {
    // Files that it writes through us are asked about here, whatever its settings.
    const call = row.files === 'client' ? command('printf hi > {root}/made.txt') : write('made.txt', 'hi');
    const life = await open(model([call]), way?.unasking);
    const task = createMemoryTask();
    expect(await settled(life, life.run(task.session()))).toMatchObject({
      kind: 'failed',
      error: { code: 'agent-violation' },
    });
    expect([life.tree(), task.questions.size]).toEqual([{}, 0]);
  });
});

/** A model that refused something explains more than an agent that then failed. */
async function settled<T>(life: RealLife, ended: Promise<T>): Promise<T> {
  const outcome = await ended;
  expect(refusals(life.model)).toEqual([]);
  return outcome;
}

function answer(task: MemoryTask, { call }: AgentQuestion, resolution: Parameters<MemoryTask['answer']>[1]): void {
  const whole = { rationale: '', actionKind: 'update', ...resolution } as const;
  task.answers.set(call, whole);
  task.waiting.get(call)?.(whole);
}

function kindOf({ proposal }: AgentQuestion): string {
  const { kind } = proposal as { readonly kind: string };
  return kind === 'execute' ? 'command_exec' : 'external_api';
}

/** Everything that the model was told. */
function said({ model: server }: RealLife): string {
  return server.requests.flatMap(({ asked }) => asked?.since.map(part => part.text) ?? []).join('\n');
}

function filled(reply: ModelReply, root: string): ModelReply {
  return JSON.parse(JSON.stringify(reply).replaceAll('{root}', root));
}
