import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openAcpLife, SECRET } from './acp-life.ts';
import { assignmentOf, kindsOf } from './builders.ts';
import { createMemoryTask, entriesOf, type MemoryTask } from './memory-session.ts';

const streamedOf = (task: MemoryTask, kind: string) =>
  task.streamed.filter(chunk => chunk.kind === kind).map(chunk => chunk.payload);
const { task: TASK } = assignmentOf();

describe('a turn', () => {
  it('[B44, B46] ends with the last message, and keeps what it told like the built-in agent does', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const diff = { path: `${life.root}/a.txt`, oldText: 'a', newText: 'b' };
    const outcome = await life.run(task.session(), [
      { do: 'think', text: 'Hm.' },
      { do: 'say', text: 'I look ' },
      { do: 'say', text: 'first.' },
      { do: 'plan', entries: ['look', 'answer'] },
      {
        ...{ do: 'tool', id: 'r', kind: 'read', title: 'Read a.txt', name: 'Read', input: { file: 'a.txt' } },
        ...{ locations: [{ path: `${life.root}/a.txt` }], diff, statuses: ['pending', 'in_progress', 'completed'] },
      },
      { do: 'say', text: 'All done.' },
    ]);
    expect(outcome).toEqual({ kind: 'done', output: 'All done.' });
    expect(life.isAnyAlive()).toBe(false);
    expect(kindsOf(task.kept)).toEqual([
      ...['tool_begun', 'begun', 'prompted', 'plan', 'assistant', 'tool_ended', 'assistant', 'answer', 'tool_ended'],
    ]);
    const call = String(entriesOf(task, 'tool_ended')[0]?.call);
    expect(call).toMatch(new RegExp(`^${TASK}/acp/[0-9a-f]{64}/u1$`));
    expect(entriesOf(task, 'plan').map(({ entries }) => entries)).toEqual([
      [
        { content: 'look', priority: 'medium', status: 'pending' },
        { content: 'answer', priority: 'medium', status: 'pending' },
      ],
    ]);
    expect(entriesOf(task, 'assistant').map(({ content }) => content)).toEqual([
      [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'I look first.' },
        { type: 'tool-call', toolCallId: call, toolName: 'Read', input: { file: 'a.txt' } },
      ],
      [{ type: 'text', text: 'All done.' }],
    ]);
    expect(entriesOf(task, 'tool_ended')[0]).toEqual({
      ...{ v: 1, kind: 'tool_ended', call, tool: 'Read', status: 'succeeded', ms: 0, approval: 'not-needed' },
      output: { type: 'json', value: { diffs: [diff] } },
    });
    expect(streamedOf(task, 'token')).toEqual(['I look ', 'first.', 'All done.']);
    expect(streamedOf(task, 'thinking')).toEqual(['Hm.']);
    expect(streamedOf(task, 'tool_start')[1]).toEqual({
      ...{ call, tool: 'Read', input: { file: 'a.txt' }, kind: 'read', title: 'Read a.txt' },
      ...{ locations: [{ path: `${life.root}/a.txt` }], diffs: [diff] },
    });
    expect(streamedOf(task, 'tool_end')[0]).toEqual({
      ...{ call, tool: 'Read', outcome: 'succeeded', ms: 0, approval: 'not-needed' },
    });
  });

  it('[B44, B47] is prompted with system text, task and form of the answer, which are kept as sent', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const prompt = '```echo\n[[{"do":"say","text":"{\\"n\\": 1}"}]]\n```';
    expect(await life.run(task.session(), [], { prompt, system: 'Be short.', schema })).toEqual({
      kind: 'done',
      output: { n: 1 },
    });
    const [sent] = entriesOf<{ blocks: { type: string; text: string }[]; text: string }>(task, 'prompted');
    expect(sent?.blocks.slice(0, 2)).toEqual([
      { type: 'text', text: 'Be short.' },
      { type: 'text', text: prompt },
    ]);
    expect(sent?.blocks[2]?.text).toContain(JSON.stringify(schema));
    expect(sent?.text).toBe(sent?.blocks.map(({ text }) => text).join('\n\n'));
  });

  it('[B44] that ended is not done again', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const steps = [{ do: 'say', text: 'Once.' }] as const;
    expect(await life.run(task.session(), steps)).toEqual({ kind: 'done', output: 'Once.' });
    expect(await life.run(task.session(), steps)).toEqual({ kind: 'done', output: 'Once.' });
    expect(life.children).toHaveLength(1);
  });

  it('[B61] gives the agent its variables, settings and a fresh home, and shows no key', async () => {
    const life = openAcpLife();
    life.variables.ECHO_HOME = 'of the user';
    const task = createMemoryTask();
    const outcome = await life.run(task.session(), [
      { do: 'variable', name: 'ECHO_KEY' },
      { do: 'say', text: ' ' },
      { do: 'variable', name: 'ECHO_HOME' },
      { do: 'say', text: ' ' },
      { do: 'variable', name: 'HOME' },
      { do: 'stderr', text: `bad ${SECRET}` },
      { do: 'exit', code: 3 },
    ]);
    const [home = ''] = life.homes;
    expect(outcome).toEqual({
      kind: 'failed',
      error: {
        ...{ class: 'retryable', code: 'agent-exited' },
        message: 'Echo ended before its turn did: it exited with 3. Its last errors:\nbad [redacted]',
      },
    });
    expect(streamedOf(task, 'token').join('')).toBe(`[redacted] ${home}/config in ${life.root} ${home}`);
    expect(JSON.stringify([task.kept, task.streamed])).not.toContain(SECRET);
    expect(fs.existsSync(home)).toBe(false);
  });

  it('[B61] finds the files of its row in its home', async () => {
    const life = openAcpLife();
    const outcome = await life.run(createMemoryTask().session(), [{ do: 'homeRead', file: '.echo/config.json' }]);
    expect(outcome).toEqual({ kind: 'done', output: `{"home":"${life.homes[0]}"}` });
  });

  it('[B58] is asked again for an answer that fits, in the same session, at most 3 times', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const say = (text: string) => [{ do: 'say', text }] as const;
    const corrected = createMemoryTask();
    const life = openAcpLife();
    const fits = 'Here it is:\n```json\n{"n": 2}\n```\nGood luck!';
    expect(await life.run(corrected.session(), [say('no'), say('{"n": "x"}'), say(fits)], { schema })).toEqual({
      kind: 'done',
      output: { n: 2 },
    });
    expect(life.children).toHaveLength(1);
    expect(entriesOf(corrected, 'correction')).toHaveLength(2);
    expect(entriesOf(corrected, 'prompted')).toHaveLength(3);

    const wrong = await life.run(createMemoryTask().session(), Array(9).fill(say('no')), { schema });
    expect(wrong).toMatchObject({ kind: 'failed', error: { class: 'terminal', code: 'output-invalid' } });
    const few = createMemoryTask();
    const limited = await life.run(few.session(), Array(9).fill(say('no')), { schema, maxTurns: 2 });
    expect(limited).toMatchObject({ kind: 'failed', error: { class: 'terminal', code: 'turns-exhausted' } });
    expect(entriesOf(few, 'prompted')).toHaveLength(2);
    const spent = [{ do: 'tokens', inputTokens: 90, outputTokens: 10 } as const, ...say('no')];
    const poor = await life.run(createMemoryTask().session(), [spent, say('{"n": 1}')], { schema, maxTokens: 100 });
    expect(poor).toMatchObject({ kind: 'failed', error: { class: 'terminal', code: 'tokens-exhausted' } });
    const odd = await life.run(createMemoryTask().session(), say('no'), { schema: { type: 'object', if: {} } });
    expect(odd).toMatchObject({ kind: 'failed', error: { class: 'terminal', code: 'schema-unsupported' } });
  });
});

describe('the asking mode', () => {
  const asking = { kind: 'mode', mode: 'ask' } as const;
  const modes = { current: 'auto', available: ['auto', 'ask'] };
  const hi = [{ do: 'say', text: 'hi' }] as const;

  it('[B45] is set before the prompt', async () => {
    const life = openAcpLife({ row: { asking }, setup: { modes } });
    expect(await life.run(createMemoryTask().session(), hi)).toEqual({ kind: 'done', output: 'hi' });
    const option = { kind: 'option', option: 'approval', value: 'always' } as const;
    const options = [{ id: 'approval', current: 'never', values: ['never', 'always'] }];
    const other = openAcpLife({ row: { asking: option }, setup: { options } });
    expect(await other.run(createMemoryTask().session(), hi)).toEqual({ kind: 'done', output: 'hi' });
  });

  it.each([
    ['has no such mode', { asking, setup: { modes: { current: 'auto', available: ['auto'] } } }],
    ['has no modes', { asking, setup: {} }],
    ['stays in another mode', { asking, setup: { modes: { ...modes, stays: true } } }],
    [
      'keeps another value',
      {
        asking: { kind: 'option', option: 'approval', value: 'always' } as const,
        setup: { options: [{ id: 'approval', current: 'never', values: [], stays: true }] },
      },
    ],
    ['has no such option', { asking: { kind: 'option', option: 'approval', value: 'always' } as const, setup: {} }],
  ])('[B45] refuses an agent that %s', async (_, { asking: wanted, setup }) => {
    const life = openAcpLife({ row: { asking: wanted }, setup });
    const task = createMemoryTask();
    const outcome = await life.run(task.session(), hi);
    expect(outcome).toMatchObject({ kind: 'failed', error: { class: 'terminal', code: 'agent-not-asking' } });
    expect(entriesOf(task, 'prompted')).toEqual([]);
  });

  it('[B45] ends an agent that leaves it, and drops its changes', async () => {
    const life = openAcpLife({ row: { asking }, setup: { modes } });
    const outcome = await life.run(createMemoryTask().session(), [
      { do: 'write', file: 'made.txt', text: 'x' },
      { do: 'mode', mode: 'auto' },
      { do: 'hang', deaf: true },
    ]);
    expect(outcome).toMatchObject({ kind: 'failed', error: { class: 'terminal', code: 'agent-left-asking' } });
    expect(life.read('made.txt')).toBeUndefined();
    const options = [{ id: 'approval', current: 'always', values: ['never', 'always'] }];
    const option = { kind: 'option', option: 'approval', value: 'always' } as const;
    const other = openAcpLife({ row: { asking: option }, setup: { options } });
    expect(
      await other.run(createMemoryTask().session(), [{ do: 'option', id: 'approval', value: 'never' }, { do: 'hang' }]),
    ).toMatchObject({ kind: 'failed', error: { code: 'agent-left-asking' } });
  });
});

describe('the model', () => {
  it('[B44] is the one that the plan names, or the agent is not prompted', async () => {
    const options = [{ id: 'model', category: 'model', current: 'small', values: ['small', 'large'] }];
    const life = openAcpLife({ setup: { options } });
    const hi = [{ do: 'say', text: 'hi' }] as const;
    const task = createMemoryTask();
    expect(await life.run(task.session(), hi, { model: 'large' })).toEqual({ kind: 'done', output: 'hi' });
    expect(task.admitted).toEqual([{ provider: 'echo', model: 'large' }]);
    expect(await life.run(createMemoryTask().session(), hi, { model: 'huge' })).toMatchObject({
      error: { class: 'terminal', code: 'model-unknown' },
    });
    expect(await openAcpLife().run(createMemoryTask().session(), hi, { model: 'large' })).toMatchObject({
      error: { class: 'terminal', code: 'model-unknown' },
    });
  });

  it('[B44] needs a login where the agent says so', async () => {
    const hi = [{ do: 'say', text: 'hi' }] as const;
    const setup = { authenticate: 'key' };
    const life = openAcpLife({ row: { authenticate: 'key' }, setup });
    expect(await life.run(createMemoryTask().session(), hi)).toEqual({ kind: 'done', output: 'hi' });
    expect(await openAcpLife({ setup }).run(createMemoryTask().session(), hi)).toMatchObject({
      error: { class: 'terminal', code: 'key-missing' },
    });
  });
});

describe('spending', () => {
  it('[B59] is recorded as it is reported, each report once', async () => {
    const task = createMemoryTask();
    await openAcpLife().run(task.session(), [
      { do: 'cost', amount: 0.25 },
      { do: 'tool', id: 'r', kind: 'read', title: 'Read', statuses: ['completed'] },
      { do: 'cost', amount: 0.25 },
      { do: 'cost', amount: 0.75 },
      { do: 'cost', amount: 9, currency: 'EUR' },
      { do: 'tokens', inputTokens: 100, outputTokens: 20 },
      { do: 'say', text: 'hi' },
    ]);
    const spent = [...task.spent.values()];
    expect(spent.map(({ call: _, wallMs: __, ...rest }) => rest)).toEqual([
      { ...NOTHING, costMicroUsd: 250_000 },
      { ...NOTHING, costMicroUsd: 500_000, toolCalls: 1 },
      { ...NOTHING, inputTokens: 100, outputTokens: 20 },
    ]);
    expect(entriesOf(task, 'assistant').at(-1)?.usage).toEqual({
      ...{ inputTokens: 100, outputTokens: 20, cachedTokens: 0, costMicroUsd: 750_000, wallMs: 0 },
    });
  });

  it('[B59] that is not reported is said to be unknown', async () => {
    const task = createMemoryTask();
    await openAcpLife().run(task.session(), [{ do: 'say', text: 'hi' }]);
    expect(entriesOf(task, 'assistant').at(-1)?.usage).toEqual({ wallMs: 0, unknown: ['tokens', 'cost'] });
  });

  it('[B59] ends the agent when a limit is reached', async () => {
    const life = openAcpLife();
    const stopped = createMemoryTask();
    const first = await life.run(stopped.session({ stopReason: 'The run has spent 1 USD.' }), [{ do: 'hang' }]);
    expect(first).toMatchObject({ kind: 'failed', error: { class: 'terminal', code: 'budget-exceeded' } });
    expect(entriesOf(stopped, 'prompted')).toEqual([]);

    const task = createMemoryTask();
    const session = task.session();
    let admissions = 0;
    const admit: typeof session.admit = async model =>
      ++admissions < 2
        ? session.admit(model)
        : { kind: 'stop', reason: 'The run has spent 1 USD.', waits: 'limit_reached' };
    const outcome = await life.run({ ...session, admit }, [
      { do: 'write', file: 'made.txt', text: 'x' },
      { do: 'cost', amount: 1 },
      { do: 'hang', deaf: true },
    ]);
    expect(outcome).toEqual({ kind: 'blocked', reason: 'limit_reached' });
    expect([...task.spent.values()].map(({ costMicroUsd }) => costMicroUsd)).toEqual([1_000_000]);
    expect(life.read('made.txt')).toBeUndefined();
  });

  it('[B59] must be reported in a run that limits cost', async () => {
    const row = { reports: { usage: true, cost: false } };
    const life = openAcpLife({ row, ports: { costLimited: () => true } });
    const outcome = await life.run(createMemoryTask().session(), [{ do: 'say', text: 'hi' }]);
    expect(outcome).toMatchObject({ kind: 'failed', error: { class: 'terminal', code: 'agent-cost-unknown' } });
    expect(life.children).toEqual([]);
  });
});

const NOTHING = {
  ...{ provider: 'echo', model: 'default', inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  ...{ toolCalls: 0, costMicroUsd: 0 },
};
