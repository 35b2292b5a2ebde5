import * as fs from 'node:fs';
import type { Socket } from 'node:net';
import type { HeldChanges, ToolOutcome } from '@signalbox/state';
import type { EchoStep } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { openAcpLife } from './acp-life.ts';
import { createMemoryTask, Died, entriesOf, type MemoryTask } from './memory-session.ts';

const notesOf = (task: MemoryTask) => entriesOf(task, 'note').map(({ text }) => text);
const tokensOf = (task: MemoryTask) =>
  task.streamed.flatMap(({ kind, payload }) => (kind === 'token' ? [payload] : [])).join('');
const done: EchoStep = { do: 'say', text: 'Done.' };
const command = (text: string): EchoStep => ({
  ...{ do: 'ask', id: text, kind: 'execute', title: text, name: 'shell', input: { command: text } },
  allowed: [{ do: 'append', file: 'log.txt', text }],
});

describe('a violation', () => {
  it.each([
    ['gated', 'edit', true],
    ['gated', 'delete', true],
    ['gated', 'move', true],
    ['gated', 'execute', true],
    ['gated', 'fetch', false],
    ['gated', 'read', false],
    ['skip', 'edit', false],
    ['skip', 'execute', true],
  ] as const)('[B52] in a node that is %s, an unasked %s: %s', async (permissions, kind, isOne) => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const steps: readonly EchoStep[] = [
      { do: 'write', file: 'made.txt', text: 'x' },
      { do: 'tool', id: 't', kind, title: `Do ${kind}`, statuses: ['pending', 'in_progress', 'completed'] },
      ...(isOne ? [{ do: 'hang', deaf: true } as const] : []),
    ];
    const outcome = await life.run(task.session(), steps, { permissions });
    if (!isOne) return expect(outcome.kind).toBe('done');
    expect(outcome).toEqual({
      kind: 'failed',
      error: {
        ...{ class: 'terminal', code: 'agent-violation' },
        message: `Echo ran a tool of kind ${kind} without asking: Do ${kind}. Its turn was ended, and nothing that it changed was applied. Check that its asking mode holds with \`signalbox agents doctor\`.`,
      },
    });
    expect(life.read('made.txt')).toBeUndefined();
    return expect(entriesOf(task, 'tool_ended').at(-1)).toMatchObject({ tool: 'agent_turn', status: 'failed' });
  });

  it('[B52] a call that ran although it was denied', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    task.answerAll({ resolutionType: 'reject' });
    const denied: readonly EchoStep[] = [{ do: 'append', file: 'log.txt', text: 'anyway' }];
    const outcome = await life.run(task.session(), [{ ...command('rm'), denied, regardless: true } as EchoStep, done]);
    expect(outcome).toMatchObject({ kind: 'failed', error: { class: 'terminal', code: 'agent-violation' } });
    expect(life.read('log.txt')).toBeUndefined();
  });

  it('[B52] a change on the layer beside a command that the agent runs unasked because it is harmless', async () => {
    const life = openAcpLife({ isOnLayer: true, row: { unasked: ['read', 'execute'] } });
    const outcome = await life.run(createMemoryTask().session(), [
      { do: 'tool', id: 't', kind: 'execute', title: 'ls', statuses: ['in_progress', 'completed'] },
      { do: 'write', file: 'made.txt', text: 'x' },
      done,
    ]);
    expect(outcome).toMatchObject({ kind: 'failed', error: { class: 'terminal', code: 'agent-violation' } });
  });

  it('[B52] a change on the layer without an allowed call', async () => {
    const change: EchoStep = { do: 'write', file: 'deep/made.txt', text: 'x' };
    const silent = openAcpLife({ isOnLayer: true });
    expect(await silent.run(createMemoryTask().session(), [change, done])).toEqual({
      kind: 'failed',
      error: {
        ...{ class: 'terminal', code: 'agent-violation' },
        message:
          'Echo changed deep without asking. Nothing of it was applied. Check that its asking mode holds with `signalbox agents doctor`.',
      },
    });
    const unchanged = openAcpLife({ isOnLayer: true });
    fs.writeFileSync(`${unchanged.root}/a.txt`, 'a');
    const copy: EchoStep = { do: 'write', file: 'a.txt', text: 'a' };
    expect(await unchanged.run(createMemoryTask().session(), [copy, done])).toEqual({ kind: 'done', output: 'Done.' });
    const other: EchoStep = { do: 'write', file: 'a.txt', text: 'b' };
    expect(await unchanged.run(createMemoryTask().session(), [other, done])).toMatchObject({
      error: { code: 'agent-violation' },
    });
    const asked = createMemoryTask();
    asked.answerAll({ resolutionType: 'approve' });
    expect(await silent.run(asked.session(), [change, command('ls'), done])).toEqual({ kind: 'done', output: 'Done.' });
    const skipping = createMemoryTask();
    expect(await silent.run(skipping.session(), [change, done], { permissions: 'skip' })).toEqual({
      kind: 'done',
      output: 'Done.',
    });
  });
});

describe('an agent that breaks the protocol', () => {
  it('[B56] ends with an error that names what it sent', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const outcome = await life.run(task.session(), [
      { do: 'write', file: 'made.txt', text: 'x' },
      { do: 'line', line: '{"jsonrpc": "2.0", oops' },
      { do: 'hang', deaf: true },
    ]);
    expect(outcome).toEqual({
      kind: 'failed',
      error: {
        ...{ class: 'terminal', code: 'agent-malformed' },
        message: 'Echo sent a line that is not an ACP message: {"jsonrpc": "2.0", oops',
      },
    });
    expect(life.read('made.txt')).toBeUndefined();
    const array = await life.run(createMemoryTask().session(), [
      { do: 'line', line: '[1]' },
      { do: 'hang', deaf: true },
    ]);
    expect(array).toMatchObject({ error: { code: 'agent-malformed' } });
  });

  it('[B56] is not read any further after 10 MB in a line', async () => {
    const life = openAcpLife();
    const outcome = await life.run(createMemoryTask().session(), [{ do: 'longLine', bytes: 100_000_000 }, done]);
    expect(outcome).toMatchObject({ kind: 'failed', error: { class: 'terminal', code: 'agent-line-too-long' } });
    expect((life.children[0]?.stdout as Socket | undefined)?.bytesRead).toBeLessThan(11_000_000);
    expect(life.isAnyAlive()).toBe(false);
  });

  it('[B56] may send 50,000 updates', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const outcome = await life.run(task.session(), [{ do: 'say', text: 'ab', times: 50_000 }]);
    expect(outcome).toEqual({ kind: 'done', output: 'ab'.repeat(50_000) });
    expect(task.kept.length).toBeLessThan(10);
  });

  it('[B56] is ignored where that is safe, and a note is kept', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    task.answerAll({ resolutionType: 'approve' });
    const outcome = await life.run(task.session(), [
      { do: 'update', update: { sessionUpdate: 'dance', steps: 3 } },
      { do: 'update', update: { sessionUpdate: 'tool_call' } },
      { do: 'update', update: { sessionUpdate: 'available_commands_update', availableCommands: [] } },
      {
        ...{ do: 'update', session: 'other' },
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Psst.' } },
      },
      { do: 'line', line: '{"jsonrpc":"2.0","id":999,"result":{}}' },
      { do: 'ask', id: 'a', kind: 'execute', title: 'ls', input: {}, session: 'other' },
      { do: 'say', text: ' Done.' },
    ]);
    expect(outcome).toEqual({ kind: 'done', output: ' Done.' });
    expect(tokensOf(task)).toBe('not asked: -32002 Done.');
    expect(task.questions.size).toBe(0);
    expect(notesOf(task)).toEqual([
      'The agent sent an update that is not understood: dance.',
      'The agent sent an update that is not understood: tool_call.',
      'The agent sent an update of a session that is not its own. It was ignored.',
      'The agent sent an answer to a request that was not open. It was ignored.',
      'The agent asked for a permission in a session that is not its own. It was refused.',
    ]);
  });

  it('[B56] gets one answer for a prompt that it answers twice', async () => {
    const schema = { type: 'number' };
    const task = createMemoryTask();
    const outcome = await openAcpLife().run(
      task.session(),
      [[{ do: 'say', text: 'no' }, { do: 'answerTwice' }], [{ do: 'say', text: '7' }]],
      { schema },
    );
    expect(outcome).toEqual({ kind: 'done', output: 7 });
    expect(notesOf(task)).toEqual(['The agent sent an answer to a request that was not open. It was ignored.']);
  });
});

it('[B158] an agent that breaks the protocol disturbs no other turn', async () => {
  const quiet = openAcpLife();
  const task = createMemoryTask();
  const allowed = [{ do: 'write', file: 'a.txt', text: 'x' }] as const;
  const running = quiet.run(task.session(), [{ do: 'ask', id: 'a', kind: 'edit', title: 'Write', allowed }, done]);
  const { call } = await task.asked();
  const loud: readonly (readonly EchoStep[])[] = [
    [{ do: 'longLine', bytes: 100_000_000 }, done],
    [{ do: 'line', line: 'oops' }, done],
    [{ do: 'say', text: 'ab', times: 50_000 }],
    [{ do: 'exit', code: 1 }],
  ];
  const ends = await Promise.all(loud.map(steps => openAcpLife().run(createMemoryTask().session(), steps)));
  expect(ends.map(({ kind }) => kind)).toEqual(['failed', 'failed', 'done', 'failed']);
  expect([quiet.isAnyAlive(), quiet.read('a.txt')]).toEqual([true, undefined]);
  task.waiting.get(call)?.({ resolutionType: 'approve', rationale: '', actionKind: 'update' });
  expect(await running).toEqual({ kind: 'done', output: 'Done.' });
  expect(quiet.read('a.txt')).toBe('x');
});

describe('an agent that fails', () => {
  it.each([
    ['exits', [{ do: 'exit', code: 0 }], 'agent-exited', 'retryable'],
    ['answers with an error', [{ do: 'fail', code: -32603, message: 'No money' }], 'agent-failed', 'retryable'],
    ['refuses', [{ do: 'stop', reason: 'refusal' }], 'agent-refused', 'terminal'],
    ['is cut short', [{ do: 'stop', reason: 'max_tokens' }], 'answer-truncated', 'terminal'],
    ['asks its model too often', [{ do: 'stop', reason: 'max_turn_requests' }], 'turns-exhausted', 'terminal'],
    ['stops for nobody', [{ do: 'stop', reason: 'cancelled' }], 'agent-failed', 'retryable'],
  ] as const)('[B57] because it %s fails its turn', async (_, steps, code, errorClass) => {
    const life = openAcpLife();
    const outcome = await life.run(createMemoryTask().session(), [
      { do: 'write', file: 'made.txt', text: 'x' },
      ...(steps as readonly EchoStep[]),
    ]);
    expect(outcome).toMatchObject({ kind: 'failed', error: { class: errorClass, code } });
    expect([life.read('made.txt'), life.isAnyAlive()]).toEqual([undefined, false]);
  });

  it('[B57] because it speaks another version or says nothing', async () => {
    const other = openAcpLife({ setup: { protocolVersion: 2 } });
    expect(await other.run(createMemoryTask().session(), [done])).toMatchObject({
      error: { class: 'terminal', code: 'agent-not-started' },
    });
    const mute = openAcpLife({ setup: { silent: true } });
    const starting = mute.run(createMemoryTask().session(), [done]);
    await mute.timers.isWaiting(120_000);
    mute.timers.fire();
    expect(await starting).toMatchObject({ error: { class: 'retryable', code: 'agent-silent' } });
    const life = openAcpLife();
    const task = createMemoryTask();
    const running = life.run(task.session(), [
      { do: 'say', text: 'hm' },
      { do: 'hang', deaf: true },
    ]);
    await life.timers.isWaiting(1_800_000);
    life.timers.fire();
    expect(await running).toMatchObject({ error: { class: 'retryable', code: 'agent-silent' } });
    expect([mute.isAnyAlive(), life.isAnyAlive()]).toEqual([false, false]);
  });

  it('[B57] tries again under another call', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const steps: readonly EchoStep[] = [{ do: 'when', variable: 'ECHO_DIES', steps: [{ do: 'exit', code: 1 }] }, done];
    life.variables.ECHO_DIES = 'yes';
    expect(await life.run(task.session(), steps)).toMatchObject({ kind: 'failed' });
    delete life.variables.ECHO_DIES;
    expect(await life.run(task.session(), steps)).toEqual({ kind: 'done', output: 'Done.' });
    expect(entriesOf(task, 'tool_begun').map(({ call }) => String(call).split('/').at(-1))).toEqual(['1', '2']);
  });
});

describe('a cancellation', () => {
  const change: EchoStep = { do: 'write', file: 'made.txt', text: 'x' };

  it('[B55] reaches the agent, which ends its turn', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const session = task.session();
    const running = life.run(session, [change, { do: 'say', text: 'hm' }, { do: 'hang' }]);
    await task.said('hm');
    session.abort();
    expect(await running).toMatchObject({ kind: 'failed', error: { class: 'retryable', code: 'canceled' } });
    expect([life.read('made.txt'), life.isAnyAlive()]).toEqual([undefined, false]);
  });

  it('[B55] ends an agent that does not listen, even to signals', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const session = task.session();
    const running = life.run(session, [
      ...[change, { do: 'ignoreTerm' } as const],
      ...[{ do: 'say', text: 'hm' } as const, { do: 'hang', deaf: true } as const],
    ]);
    await task.said('hm');
    session.abort();
    await life.timers.isWaiting(1_000);
    life.timers.fire();
    expect(await running).toMatchObject({ kind: 'failed', error: { class: 'retryable', code: 'canceled' } });
    expect([life.read('made.txt'), life.isAnyAlive()]).toEqual([undefined, false]);
  });

  it('[B55] before it began starts nothing', async () => {
    const life = openAcpLife();
    const session = createMemoryTask().session();
    session.abort();
    expect(await life.run(session, [done])).toMatchObject({ error: { code: 'canceled' } });
    expect(life.children).toEqual([]);
  });
});

describe('files through the client', () => {
  it('[B54] are read as they are, in part, or not found', async () => {
    const life = openAcpLife();
    fs.writeFileSync(`${life.root}/a.txt`, 'one\ntwo\nthree');
    fs.symlinkSync('a.txt', `${life.root}/link`);
    const read = (path: string, more = {}): EchoStep => ({ do: 'clientRead', path, ...more });
    const outcome = await life.run(createMemoryTask().session(), [
      read(`${life.root}/a.txt`),
      read(`${life.root}/link`, { line: 2, limit: 1 }),
      read(`${life.root}/none/b.txt`),
      read(`${life.root}/none`),
    ]);
    const missing = (path: string) => `not read: -32002 Resource not found: ${life.root}/${path}`;
    expect(outcome).toEqual({
      kind: 'done',
      output: `read "one\\ntwo\\nthree"read "two"${missing('none/b.txt')}${missing('none')}`,
    });
  });

  it.each([
    ['above', '../secret.txt'],
    ['absolute', '/etc/hostname'],
    ['by a link', 'out'],
    ['below a link', 'up/secret.txt'],
    ['in a circle', 'loop'],
    ['a directory', 'inner'],
  ])('[B54] are not reached %s', async (_, path) => {
    const life = openAcpLife();
    fs.writeFileSync(`${life.root}/../secret.txt`, 'secret');
    fs.symlinkSync('../secret.txt', `${life.root}/out`);
    fs.symlinkSync('..', `${life.root}/up`);
    fs.symlinkSync('loop', `${life.root}/loop`);
    fs.mkdirSync(`${life.root}/inner`);
    const full = path.startsWith('/') ? path : `${life.root}/${path}`;
    const task = createMemoryTask();
    task.answerAll({ resolutionType: 'approve' });
    await life.run(task.session(), [
      { do: 'clientRead', path: full },
      { do: 'clientWrite', path: full, text: 'mine' },
    ]);
    expect(tokensOf(task)).toMatch(/^not read: -32602 .*not written: -32602 .*$/);
    expect(task.questions.size).toBe(0);
    expect(fs.readFileSync(`${life.root}/../secret.txt`, 'utf8')).toBe('secret');
  });

  it('[B54] are written if a person allows it, or has allowed the call', async () => {
    const life = openAcpLife();
    const write: EchoStep = { do: 'clientWrite', path: `${life.root}/deep/a.txt`, text: 'a' };
    const asked = createMemoryTask();
    asked.answerAll({ resolutionType: 'approve' });
    expect(await life.run(asked.session(), [write])).toEqual({ kind: 'done', output: 'written' });
    expect(life.read('deep/a.txt')).toBe('a');
    expect([...asked.questions.values()].map(({ kind, proposal }) => [kind, proposal])).toMatchObject([
      ['file_edit', { tool: 'fs/write_text_file', input: { path: `${life.root}/deep/a.txt`, content: 'a' } }],
    ]);
    const covered = createMemoryTask();
    covered.answerAll({ resolutionType: 'approve' });
    const edit: EchoStep = { do: 'ask', id: 'e', kind: 'edit', title: 'Edit', input: { b: 1 }, allowed: [write] };
    expect(await life.run(covered.session(), [edit])).toMatchObject({ kind: 'done' });
    expect(covered.questions.size).toBe(1);
    const elsewhere = createMemoryTask();
    elsewhere.answerAll({ resolutionType: 'approve' });
    await life.run(elsewhere.session(), [{ ...edit, locations: [{ path: `${life.root}/c.txt` }] }]);
    expect(elsewhere.questions.size).toBe(2);
    const skipping = createMemoryTask();
    expect(await life.run(skipping.session(), [write], { permissions: 'skip' })).toEqual({
      kind: 'done',
      output: 'written',
    });
    expect(skipping.questions.size).toBe(0);
    const denied = createMemoryTask();
    denied.answerAll({ resolutionType: 'reject' });
    const other: EchoStep = { do: 'clientWrite', path: `${life.root}/b.txt`, text: 'b' };
    expect(await life.run(denied.session(), [other])).toMatchObject({
      output: expect.stringContaining('not written: -32600'),
    });
    expect(life.read('b.txt')).toBeUndefined();
  });
});

describe('after a crash', () => {
  it('[B49, B60] at any durable operation, the next attempt ends the same, and nobody is asked twice', async () => {
    const steps: readonly EchoStep[] = [{ do: 'say', text: 'Hm.' }, command('one'), done];
    const calm = createMemoryTask();
    calm.answerAll({ resolutionType: 'approve' });
    const session = calm.session();
    expect(await openAcpLife().run(session, steps)).toEqual({ kind: 'done', output: 'Done.' });
    const operations = session.operations();
    expect(operations).toBeGreaterThan(8);
    for (let at = 0; at < operations; at++) {
      const life = openAcpLife();
      const task = createMemoryTask();
      task.answerAll({ resolutionType: 'approve' });
      const when = at % 2 === 0 ? 'before' : 'after';
      await expect(life.run(task.session({ stop: { at, when } }), steps), `operation ${at}`).rejects.toThrow(Died);
      expect(life.isAnyAlive(), `operation ${at}`).toBe(false);
      expect(await life.run(task.session(), steps), `operation ${at}`).toEqual({ kind: 'done', output: 'Done.' });
      expect([life.read('log.txt'), task.questions.size], `operation ${at}`).toEqual(['one\n', 1]);
    }
  });

  it('[B60] a turn that took effect is not repeated', async () => {
    const task = createMemoryTask();
    const first = openAcpLife();
    await first.run(task.session(), [done]);
    task.kept.pop();
    const life = openAcpLife({ tools: { fateOf: async () => 'committed' } });
    expect(await life.run(task.session(), [done])).toEqual({ kind: 'done', output: 'Done.' });
    expect(life.children).toEqual([]);
    expect(entriesOf(task, 'tool_ended').at(-1)).toMatchObject({ tool: 'agent_turn', status: 'succeeded' });
  });

  it('[B60] a node that says so does not continue by itself', async () => {
    const task = createMemoryTask();
    const life = openAcpLife();
    await expect(life.run(task.session({ stop: { at: 3, when: 'after' } }), [done])).rejects.toThrow(Died);
    expect(await life.run(task.session(), [done], { resume: 'fail' })).toMatchObject({
      error: { class: 'terminal', code: 'resume-refused' },
    });
  });

  it('[B60] changes that conflict wait for a person', async () => {
    const held = {
      round: 0,
      root: '/work',
      call: { tool: 'agent_turn' },
      changes: [],
      conflicts: [{ path: 'notes.md', of: 'notes.md', theirs: 'changed', yours: null, layers: null }],
    };
    const settled: string[] = [];
    const outcomes: Record<string, ToolOutcome> = {
      'apply-rest': { status: 'succeeded', value: null, warnings: [] },
      drop: {
        status: 'failed',
        error: {
          code: 'tool/conflict',
          message: 'A person dropped them.',
          suggestion: '',
          retry: { kind: 'not_retryable' },
        },
        rollback: { kind: 'dropped' },
      },
    };
    for (const choice of ['apply-rest', 'drop']) {
      const task = createMemoryTask();
      await openAcpLife().run(task.session(), [done]);
      task.kept.pop();
      const life = openAcpLife({
        tools: {
          fateOf: async () => 'held',
          held: () => held as unknown as HeldChanges,
          settle: async (_, chosen) => {
            settled.push(chosen);
            return outcomes[chosen];
          },
        },
      });
      expect(await life.run(task.session(), [done])).toEqual({ kind: 'blocked', reason: 'approval_required:choice' });
      const [question] = [...task.questions.values()];
      expect(question?.proposal).toMatchObject({
        prompt: expect.stringContaining("An agent's changes conflict"),
        options: [
          { id: 'apply-rest', label: 'Apply everything else' },
          { id: 'apply-all', label: "Use the agent's versions" },
          { id: 'drop', label: 'Drop all of its changes' },
        ],
      });
      task.answerAll({ resolutionType: 'choose_option', chosenOptionId: choice });
      const outcome = await life.run(task.session(), [done]);
      if (choice === 'drop') expect(outcome).toMatchObject({ error: { class: 'terminal', code: 'changes-dropped' } });
      else expect(outcome).toEqual({ kind: 'done', output: 'Done.' });
    }
    expect(settled).toEqual(['apply-rest', 'drop']);
  });
});
