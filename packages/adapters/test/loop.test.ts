import type { Json, JsonObject } from '@signalbox/model';
import { ok } from '@signalbox/model';
import type { Assignment } from '@signalbox/runs';
import { defineTool, succeed, VisibilityExpansionRequired } from '@signalbox/state';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createScriptedModel, type ModelOf, parseModelScript } from '../src/builtin/index.ts';
import { assignmentOf, createTestRunner, createWorld, kindsOf, type World } from './builders.ts';
import { createMemoryTask, Died, type SessionOptions } from './memory-session.ts';

interface Rule extends JsonObject {
  readonly when?: JsonObject;
}

/** Rules in order, one for each turn unless they say otherwise. */
function scripted(...rules: readonly Rule[]): ModelOf {
  const numbered = rules.map((rule, index) => ({ when: { turn: index + 1 }, ...rule }));
  const script = parseModelScript(JSON.stringify({ version: 1, rules: numbered }));
  if (!script.ok) throw new Error(script.error);
  const model = createScriptedModel('test', script.value);
  return async () => ok({ name: { provider: 'scripted', model: 'test' }, model, secrets: [] });
}

function given(rules: readonly Rule[], world: World = createWorld()) {
  const task = createMemoryTask();
  const runner = createTestRunner({ world, modelOf: scripted(...rules) });
  const run = (fields: Partial<Assignment> = {}, options: SessionOptions = {}) =>
    runner.run(assignmentOf(fields), task.session(options));
  return { task, world, run, runner };
}

const read = { calls: [{ tool: 'read_file', input: { path: 'a.txt' } }] };
const mail = { calls: [{ tool: 'send_mail', input: { to: 'a@b' } }] };
const write = (content: string) => ({ calls: [{ tool: 'write_file', input: { path: 'a.txt', content } }] });
const usage = { input: 10, output: 5 };

/** What the model was told about its calls. */
function told(kept: readonly Json[]): readonly string[] {
  return kept.flatMap(entry => {
    const { kind, output } = entry as { kind: string; output?: { value: Json } };
    return kind === 'tool_ended' ? [JSON.stringify(output?.value)] : [];
  });
}

describe('limits', () => {
  it('[B10] a task that takes all its turns fails, and says what it reached', async () => {
    const { run, task } = given([
      { text: 'Reading.', ...read },
      { text: 'Still reading.', ...read },
    ]);
    expect(await run({ maxTurns: 2 })).toEqual({
      kind: 'failed',
      error: { class: 'terminal', code: 'turns-exhausted', message: expect.stringContaining('Still reading.') },
    });
    expect(task.admitted).toHaveLength(2);
  });

  it('[B10] a task that uses all its tokens fails before the next call', async () => {
    const { run, task } = given([
      { ...read, usage },
      { ...read, usage },
      { text: 'Done.', usage },
    ]);
    expect(await run({ maxTokens: 30 })).toMatchObject({ error: { class: 'terminal', code: 'tokens-exhausted' } });
    expect(task.admitted).toHaveLength(2);
  });

  it('[B26] a run whose limit is reached makes no call', async () => {
    const { run, task } = given([{ text: 'Done.' }]);
    expect(await run({}, { stopReason: 'Run x used 5 of its 5 tokens.' })).toEqual({
      kind: 'failed',
      error: { class: 'terminal', code: 'budget-exceeded', message: expect.stringContaining('5 of its 5 tokens') },
    });
    expect([task.admitted, kindsOf(task.kept)]).toEqual([[], ['begun']]);
  });

  it('[B41] a limit for which a person is asked leaves the task waiting, and it goes on from its transcript', async () => {
    const { run, task } = given([{ ...read, usage }, { text: 'Done.' }]);
    const waits = 'approval_required:confirmation';
    expect(await run({}, { stopReason: 'Run x used 5 of its 5 tokens.', waits })).toEqual({
      kind: 'blocked',
      reason: waits,
    });
    expect(task.admitted).toEqual([]);
    expect(await run()).toEqual({ kind: 'done', output: 'Done.' });
    expect(kindsOf(task.kept).filter(kind => kind === 'begun')).toHaveLength(1);
  });
});

describe('approvals', () => {
  it.each([
    ['skip', read, undefined],
    ['gated', read, undefined],
    ['skip', write('A'), undefined],
    ['gated', write('A'), 'file_edit'],
    ['skip', mail, 'external_api'],
    ['gated', mail, 'external_api'],
    ['skip', { calls: [{ tool: 'run_command', input: { command: ['ls'] } }] }, 'command_exec'],
  ] as const)('[B11] with %s a person is asked about %j: %s', async (permissions, turn, kind) => {
    const { run, task } = given([turn, { text: 'Done.' }]);
    const outcome = await run({ permissions });
    expect([...task.questions.values()].map(question => question.kind)).toEqual(kind === undefined ? [] : [kind]);
    expect(outcome).toEqual(
      kind === undefined ? { kind: 'done', output: 'Done.' } : { kind: 'blocked', reason: `approval_required:${kind}` },
    );
  });

  it('[B12] nobody is asked about a call that cannot run', async () => {
    const calls = [
      { tool: 'send_mail', input: { to: 7 } },
      { tool: 'send_pigeon', input: {} },
      { tool: 'run_command', input: { command: ['ls'] } },
    ];
    const { run, task, world } = given([{ calls }, { text: 'Done.' }]);
    expect(await run({ tools: { deny: ['run_command'] } })).toMatchObject({ kind: 'done' });
    expect([task.questions.size, world.runs]).toEqual([0, {}]);
    expect(told(task.kept)).toEqual([
      expect.stringContaining('is not valid'),
      expect.stringContaining('There is no tool named'),
      expect.stringContaining('is denied here'),
    ]);
  });

  it('[B12] asked again while people still think, it says nothing new', async () => {
    const { run, task } = given([{ ...mail }]);
    await run();
    const kept = structuredClone(task.kept);
    expect(await run()).toEqual({ kind: 'blocked', reason: 'approval_required:external_api' });
    expect([task.kept, task.questions.size]).toEqual([kept, 1]);
  });

  it('[B13] a call that a person changed runs as they said, and the model is told', async () => {
    const { run, task, world } = given([{ ...mail }, { text: 'Done.' }]);
    await run();
    task.answer('send_mail', { resolutionType: 'modify', modifiedArgs: { to: 'c@d' }, rationale: 'Wrong address.' });
    expect(await run()).toMatchObject({ kind: 'done' });
    expect(world.runs).toEqual({ send_mail: 1 });
    expect(told(task.kept)).toEqual([expect.stringMatching(/"sent":"c@d".*changed the input.*Wrong address\./)]);
  });

  it.each([
    [{ resolutionType: 'reject', rationale: 'Never.' }, /A person denied this call. Never\./],
    [{ resolutionType: 'choose_option', chosenOptionId: 'x' }, /does not have/],
    [{ resolutionType: 'modify' }, /gave none/],
  ] as const)('[B13] an answer %j lets nothing run', async (resolution, said) => {
    const { run, task, world } = given([{ ...mail }, { text: 'Then not.' }]);
    await run();
    task.answer('send_mail', resolution);
    expect(await run()).toEqual({ kind: 'done', output: 'Then not.' });
    expect(world.runs).toEqual({});
    expect(told(task.kept)).toEqual([expect.stringMatching(said)]);
  });

  it('[B14] a question has the same name after a crash, and another in another conversation', async () => {
    const { run, task } = given([{ ...mail }, { text: 'Done.' }]);
    await run();
    await run();
    expect([...task.questions.keys()]).toEqual([`${assignmentOf().task}/1/1/0`]);
    task.answer('send_mail', { resolutionType: 'approve' });
    await expect(run({}, { stop: { at: 3, when: 'before' } })).rejects.toThrow(Died);
    await run({ resume: 'restart' });
    expect([...task.questions.keys()]).toEqual([`${assignmentOf().task}/1/1/0`, `${assignmentOf().task}/2/1/0`]);
  });
});

describe('after an interruption', () => {
  const interrupted = async (rules: readonly Rule[], world?: World) => {
    const made = given(rules, world);
    // Died when the first answer was kept, before its cost was reported.
    await expect(made.run({}, { stop: { at: 2, when: 'after' } })).rejects.toThrow(Died);
    return made;
  };

  it('[B17] goes on with the conversation', async () => {
    const { run, task } = await interrupted([
      { text: 'Reading.', ...read, usage },
      { text: 'Done.', usage },
    ]);
    expect(await run({ resume: 'continue' })).toEqual({ kind: 'done', output: 'Done.' });
    expect(kindsOf(task.kept)).toEqual(['begun', 'assistant', 'tool_ended', 'assistant']);
    expect([...task.spent.keys()]).toEqual([`${assignmentOf().task}/1`, `${assignmentOf().task}/2`]);
  });

  it('[B17, B27] or begins again, apart from what was, and what was spent is spent', async () => {
    const { run, task } = await interrupted([
      { text: 'Reading.', ...read, usage },
      { text: 'Done.', usage },
    ]);
    expect(await run({ resume: 'restart', maxTurns: 2 })).toEqual({ kind: 'done', output: 'Done.' });
    expect(kindsOf(task.kept)).toEqual(['begun', 'assistant', 'begun', 'assistant', 'tool_ended', 'assistant']);
    expect(task.spent.size).toBe(3);
  });

  it('[B16, B17] a new beginning is told of calls that may have happened', async () => {
    const { run, task } = given([{ ...mail }, { text: 'Done.' }]);
    await run();
    task.answer('send_mail', { resolutionType: 'approve' });
    await expect(run({}, { stop: { at: 2, when: 'after' } })).rejects.toThrow(Died);
    await run({ resume: 'restart' });
    const begun = task.kept.filter(entry => (entry as { kind: string }).kind === 'begun');
    expect(begun[1]).toMatchObject({ note: expect.stringContaining('send_mail {"to":"a@b"}') });
  });

  it('[B17] or refuses, and says what to do', async () => {
    const { run, task } = await interrupted([{ text: 'Reading.', ...read }]);
    expect(await run({ resume: 'fail' })).toEqual({
      kind: 'failed',
      error: { class: 'terminal', code: 'resume-refused', message: expect.stringMatching(/Reading.|transcript/) },
    });
    expect(task.admitted).toHaveLength(1);
  });

  it.each(['restart', 'fail'] as const)('[B17] who waited for a person is not interrupted: %s', async resume => {
    const { run, task, world } = given([{ ...mail }, { text: 'Done.' }]);
    await run({ resume });
    task.answer('send_mail', { resolutionType: 'approve' });
    expect(await run({ resume })).toEqual({ kind: 'done', output: 'Done.' });
    expect([world.runs, task.admitted.length]).toEqual([{ send_mail: 1 }, 2]);
  });

  it.each([
    [true, 1],
    [false, 2],
  ])(
    '[B16] a call that can be undone runs again unless it is known to have taken effect: %s',
    async (knowsFate, runs) => {
      const { run, task, world } = given([write('A'), { text: 'Done.' }], createWorld({ knowsFate }));
      await expect(run({}, { stop: { at: 4, when: 'before' } })).rejects.toThrow(Died);
      expect([kindsOf(task.kept).at(-1), world.runs]).toEqual(['tool_begun', { write_file: 1 }]);
      expect(await run()).toMatchObject({ kind: 'done' });
      expect(world.runs).toEqual({ write_file: runs });
    },
  );

  it.each([
    ['before it ran', 2, 'after', true, 0, 'outcome is unknown'],
    ['before it ran', 2, 'after', false, 0, 'outcome is unknown'],
    ['after it ran', 3, 'before', true, 1, 'answer was lost'],
    ['after it ran', 3, 'before', false, 1, 'outcome is unknown'],
  ] as const)(
    '[B16] a call with effects outside that died %s is not repeated',
    async (_, at, when, knowsFate, runs, said) => {
      const { run, task, world } = given([{ ...mail }, { text: 'Done.' }], createWorld({ knowsFate }));
      await run();
      task.answer('send_mail', { resolutionType: 'approve' });
      await expect(run({}, { stop: { at, when } })).rejects.toThrow(Died);
      expect(kindsOf(task.kept).at(-1)).toBe('tool_begun');
      expect(await run()).toEqual({ kind: 'done', output: 'Done.' });
      expect([world.runs.send_mail ?? 0, told(task.kept)]).toEqual([runs, [expect.stringContaining(said)]]);
      expect(task.kept).toContainEqual(
        expect.objectContaining({ kind: 'tool_ended', tool: 'send_mail', approval: 'approve' }),
      );
    },
  );

  it.each([true, false])('[B13, B16] what a person changed is told after an interruption too', async knowsFate => {
    const { run, task, world } = given([write('A'), { text: 'Done.' }], createWorld({ knowsFate }));
    await run({ permissions: 'gated' });
    task.answer('write_file', { resolutionType: 'modify', modifiedArgs: { path: 'b.txt', content: 'B' } });
    await expect(run({ permissions: 'gated' }, { stop: { at: 3, when: 'before' } })).rejects.toThrow(Died);
    expect(await run({ permissions: 'gated' })).toEqual({ kind: 'done', output: 'Done.' });
    expect([await world.read('a.txt'), await world.read('b.txt')]).toEqual([undefined, 'B']);
    expect(told(task.kept)).toEqual([expect.stringContaining('A person changed the input of this call to')]);
  });

  it('[B17] a transcript that cannot be read is no reason to guess', async () => {
    const { run, task } = given([{ text: 'Done.' }]);
    task.kept.push({ v: 2, kind: 'begun' });
    expect(await run()).toMatchObject({ error: { class: 'terminal', code: 'transcript-unreadable' } });
  });
});

describe('the final answer', () => {
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };

  it('[B19] may be corrected three times, then the task fails', async () => {
    const rules = Array.from({ length: 5 }, (_, index) => ({ output: { ok: index } }));
    const { run, task } = given(rules);
    expect(await run({ schema })).toEqual({
      kind: 'failed',
      error: { class: 'terminal', code: 'output-invalid', message: expect.stringContaining('4 answers') },
    });
    expect(task.admitted).toHaveLength(4);
  });

  it('[B19] an answer without tools is corrected in the same way', async () => {
    const { run, task } = given([{ text: 'Yes.' }, { text: '```json\n{"ok": true}\n```' }]);
    expect(await run({ schema, tools: { allow: [] } })).toEqual({ kind: 'done', output: { ok: true } });
    expect(kindsOf(task.kept)).toEqual(['begun', 'assistant', 'correction', 'assistant']);
  });

  it('[B18] does not count while another call of its turn failed', async () => {
    const { run } = given([
      { calls: [{ tool: 'final_answer', input: { ok: true } }, ...read.calls] },
      { output: { ok: false } },
    ]);
    expect(await run({ schema })).toEqual({ kind: 'done', output: { ok: false } });
  });

  it('[B20] a schema that cannot be checked fails before a call is made', async () => {
    const { run, task } = given([{ text: 'Done.' }]);
    expect(await run({ schema: { type: 'object', not: { type: 'object' } } })).toMatchObject({
      error: { class: 'terminal', code: 'schema-unsupported' },
    });
    expect(task.admitted).toEqual([]);
  });

  it('[B9] a handler that asks for more to be shown is told to the model as a failure', async () => {
    const more = defineTool({
      name: 'look',
      description: 'Looks.',
      input: z.strictObject({}),
      output: z.null(),
      risk: 'low',
      effects: { kind: 'none' },
      handler() {
        throw new VisibilityExpansionRequired(['details'], 'More must be shown.');
      },
    });
    const { run, task } = given([{ calls: [{ tool: 'look' }] }, { text: 'Done.' }], createWorld({ more: [more] }));
    expect(await run()).toMatchObject({ kind: 'done' });
    expect(told(task.kept)).toEqual([expect.stringContaining('More must be shown.')]);
  });
});

describe('money', () => {
  const unknown: ModelOf = async () => {
    const known = await scripted({ text: 'Done.' })(assignmentOf());
    return known.ok ? ok({ ...known.value, name: { provider: 'anthropic', model: 'claude-of-tomorrow' } }) : known;
  };

  it('[B28] a model without a known price costs nothing that is known, and the transcript says so', async () => {
    const task = createMemoryTask();
    expect(await createTestRunner({ modelOf: unknown }).run(assignmentOf(), task.session())).toMatchObject({
      kind: 'done',
    });
    expect(task.kept[0]).toMatchObject({ kind: 'begun', priceKnown: false });
    expect([...task.spent.values()][0]?.costMicroUsd).toBe(0);
  });

  it('[B28] but is refused where cost is limited', async () => {
    const task = createMemoryTask();
    const runner = createTestRunner({ modelOf: unknown, costLimited: () => true });
    expect(await runner.run(assignmentOf(), task.session())).toMatchObject({
      error: { class: 'terminal', code: 'price-unknown', message: expect.stringContaining('claude-of-tomorrow') },
    });
    expect([task.kept, task.admitted]).toEqual([[], []]);
    const prices = { 'anthropic:claude-of-tomorrow': { input: 1, output: 1 } };
    const priced = createTestRunner({ modelOf: unknown, costLimited: () => true, prices });
    expect(await priced.run(assignmentOf(), task.session())).toMatchObject({ kind: 'done' });
    expect([...task.spent.values()][0]?.costMicroUsd).toBeGreaterThan(0);
  });
});

it('[B24] a task that is canceled before it begins asks no model', async () => {
  const { runner, task } = given([{ text: 'Done.' }]);
  const session = task.session();
  session.abort();
  expect(await runner.run(assignmentOf(), session)).toMatchObject({ error: { code: 'canceled' } });
  expect(task.admitted).toEqual([]);
});

it('[B24] [A400] a call that is canceled is undone, says so, and runs again when the work goes on', async () => {
  let cancel = () => {};
  let first = true;
  const slow = defineTool({
    name: 'slow',
    description: 'Takes long.',
    input: z.strictObject({}),
    output: z.string(),
    risk: 'low',
    effects: { kind: 'files' },
    async handler(_, { files, signal }) {
      await files.write('a.txt', 'A');
      if (!first) return succeed('done');
      first = false;
      cancel();
      await new Promise(resolve => signal.addEventListener('abort', resolve));
      return succeed('too late');
    },
  });
  const { runner, task, world } = given(
    [{ calls: [{ tool: 'slow' }] }, { text: 'Done.' }],
    createWorld({ more: [slow] }),
  );
  const session = task.session();
  cancel = () => setImmediate(() => session.abort());
  expect(await runner.run(assignmentOf(), session)).toMatchObject({ error: { code: 'canceled' } });
  expect([await world.read('a.txt'), kindsOf(task.kept).at(-1)]).toEqual([undefined, 'tool_begun']);
  expect(task.streamed.at(-1)).toEqual({
    kind: 'tool_end',
    payload: {
      call: expect.any(String),
      tool: 'slow',
      outcome: 'canceled',
      message: expect.stringMatching(/canceled\. What it changed was undone/),
    },
  });
  expect(await runner.run(assignmentOf(), task.session())).toEqual({ kind: 'done', output: 'Done.' });
  expect(await world.read('a.txt')).toBe('A');
});
