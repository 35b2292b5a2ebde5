import type { Json } from '@signalbox/model';
import type { ModelReply, ModelRequest, ScriptedCall } from '@signalbox/testkit';
import type { AgentRow } from '../src/acp/index.ts';

/** The tools that an agent's model calls, and the settings with which the agent asks nobody. `{root}` stands for its directory. */
export interface Ways {
  /** Runs a command. */
  command(line: string): ScriptedCall;
  /** Writes a new file in the root. */
  write(name: string, content: string): ScriptedCall;
  /** Reads a file of the root. */
  read(name: string): ScriptedCall;
  /** Replaces one line of a file of the root by others. */
  edit(name: string, line: string, lines: readonly string[]): ScriptedCall;
  /** The tool that asks a person, if it can be called without being among the tools that the model is shown. */
  readonly hidden?: Pick<ScriptedCall, 'tool' | 'namespace'>;
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
const text = (lines: readonly string[]) => lines.join('\n');

const ways: Readonly<Record<string, Ways>> = {
  claude: {
    command: line => ({ tool: 'Bash', input: { command: line, description: 'Run it' } }),
    write: (name, content) => ({ tool: 'Write', input: { file_path: `{root}/${name}`, content } }),
    read: name => ({ tool: 'Read', input: { file_path: `{root}/${name}` } }),
    edit: (name, line, lines) => ({
      tool: 'Edit',
      input: { file_path: `{root}/${name}`, old_string: line, new_string: text(lines) },
    }),
    careless: { '.claude/settings.json': ALLOW_CLAUDE },
    unasking: row => home(row, { '.claude/settings.json': ALLOW_CLAUDE }),
  },
  codex: {
    command: line => ({
      tool: 'exec_command',
      // It does not wait longer for a command.
      input: {
        cmd: line,
        sandbox_permissions: 'require_escalated',
        justification: 'It writes.',
        yield_time_ms: 30_000,
      },
    }),
    write: (name, content) => ({
      tool: 'apply_patch',
      input: `*** Begin Patch\n*** Add File: ${name}\n+${content}\n*** End Patch\n`,
    }),
    read: name => ({ tool: 'exec_command', input: { cmd: `cat {root}/${name}`, yield_time_ms: 30_000 } }),
    edit: (name, line, lines) => ({
      tool: 'apply_patch',
      input: `*** Begin Patch\n*** Update File: ${name}\n@@\n-${line}\n${lines.map(one => `+${one}\n`).join('')}*** End Patch\n`,
    }),
    // Its models find tools of MCP servers by a search.
    hidden: { tool: 'request_decision', namespace: 'mcp__signalbox' },
    careless: { '.codex/config.toml': 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n' },
    unasking: row => settings(row, { INITIAL_AGENT_MODE: 'agent-full-access' }),
  },
  gemini: {
    command: line => ({ tool: 'run_shell_command', input: { command: line, description: 'Run it' } }),
    write: (name, content) => ({ tool: 'write_file', input: { file_path: `{root}/${name}`, content } }),
    read: name => ({ tool: 'read_file', input: { file_path: `{root}/${name}` } }),
    edit: (name, line, lines) => ({
      tool: 'replace',
      input: {
        file_path: `{root}/${name}`,
        instruction: 'Replace the line.',
        old_string: line,
        new_string: text(lines),
      },
    }),
    careless: { '.gemini/settings.json': ALLOW_GEMINI },
    unasking: row => home(row, { '.gemini/settings.json': ALLOW_GEMINI }),
  },
  opencode: {
    command: line => ({ tool: 'bash', input: { command: line, description: 'Run it' } }),
    write: (name, content) => ({ tool: 'write', input: { filePath: `{root}/${name}`, content } }),
    read: name => ({ tool: 'read', input: { filePath: `{root}/${name}` } }),
    edit: (name, line, lines) => ({
      tool: 'edit',
      input: { filePath: `{root}/${name}`, oldString: line, newString: text(lines) },
    }),
    careless: { '.config/opencode/opencode.json': json({ permission: 'allow' }) },
    unasking: row => settings(row, { OPENCODE_PERMISSION: json({ '*': 'allow' }) }),
  },
  goose: {
    command: line => ({ tool: 'shell', input: { command: line } }),
    write: (name, content) => ({ tool: 'write', input: { path: `{root}/${name}`, content } }),
    read: name => ({ tool: 'shell', input: { command: `cat {root}/${name}` } }),
    edit: (name, line, lines) => ({
      tool: 'edit',
      input: { path: `{root}/${name}`, before: line, after: text(lines) },
    }),
    careless: { '.config/goose/config.yaml': 'GOOSE_MODE: auto\n' },
    unasking: row => settings(row, { GOOSE_MODE: 'auto' }),
  },
  copilot: {
    command: line => ({
      tool: 'bash',
      input: { command: line, description: 'Run it', mode: 'sync', initial_wait: 600 },
    }),
    write: (name, content) => ({ tool: 'create', input: { path: `{root}/${name}`, file_text: content } }),
    read: name => ({ tool: 'view', input: { path: `{root}/${name}` } }),
    edit: (name, line, lines) => ({
      tool: 'edit',
      input: { path: `{root}/${name}`, old_str: line, new_str: text(lines) },
    }),
    careless: { '.copilot/config.json': json({ allow_all: true }) },
    unasking: row => ({
      ...row,
      asking: { kind: 'settings' },
      start: { ...row.start, args: [...row.start.args, '--allow-all-tools', '--allow-all-paths'] },
    }),
  },
};

export function waysOf(id: string): Ways {
  const found = ways[id];
  if (found === undefined) throw new Error(`nobody knows the tools of ${id}`);
  return found;
}

/** Whether a request is for a title or a summary, beside the turns. */
export function isAside({ tools }: ModelRequest): boolean {
  return tools.length === 0;
}

/** A reply that names the root. */
export function inRoot(reply: ModelReply, root: string): ModelReply {
  return JSON.parse(JSON.stringify(reply).replaceAll('{root}', root));
}

/** Counts a model's turns from 1; a session that continues repeats the turn that was cut off. */
export function turnCounter(): (request: ModelRequest) => number {
  let turn = 0;
  return request => {
    const isRepeated = request.since.some(({ text }) => text.includes('make exactly the same call again'));
    if (request.turn === 1) turn = 1;
    else if (!isRepeated) turn += 1;
    return turn;
  };
}
