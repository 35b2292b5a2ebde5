import {
  createSecretFilter,
  err,
  failure,
  knownSecretOf,
  portableHasher,
  type RunId,
  timestampOf,
} from '@signalbox/model';
import type { Assignment, RunReader, StopVerdict } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { manualMachine, memoryRun, someNode, someTask } from '../../test/support/run-builders.ts';
import { until } from '../../test/support/until.ts';
import { createDecisionDesk } from '../decisions/decision-desk.ts';
import { createAgentInbox } from './agent-inbox.ts';
import { openAgentSession, SessionFault } from './agent-session.ts';
import { createActivity } from './host-activity.ts';
import { createRateLimitDesk } from './rate-limit-desk.ts';

async function openSession(verdict: StopVerdict = { kind: 'go' }) {
  const machine = manualMachine();
  const { store, run } = await memoryRun(machine);
  const assignment: Assignment = {
    run,
    task: someTask,
    node: someNode,
    iteration: 0,
    attempt: 1,
    vendor: 'any',
    prompt: 'Do it.',
    permissions: 'skip',
    maxTurns: 5,
    resume: 'continue',
    directory: '/project',
    planDirectory: '/project',
  };
  const ports = {
    commit: store,
    reader: store,
    machine,
    decisions: createDecisionDesk({ commit: store, reader: store, machine }),
    rateLimits: createRateLimitDesk(machine),
    activity: createActivity(),
    verdict: async () => verdict,
    room: async () => ({ kind: 'go', release: () => {} }) as const,
    progress: () => {},
  };
  const open = () => openAgentSession(ports, assignment, new AbortController().signal);
  return { machine, store, run, assignment, ports, open };
}

const mac = (text: string) => portableHasher(`key ${text}`).slice(7);
const secrets = createSecretFilter({ known: [knownSecretOf('DOOR', 'open-sesame-42', mac)], mac });

const question = { call: 'call-1', kind: 'command_exec', proposal: { tool: 'run_command' } } as const;
const approve = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;

/** The questions that wait, as soon as there is one. */
const opened = (reader: RunReader, run: RunId) =>
  until(async () => {
    const found = await reader.decisions({ run, status: ['open'] });
    return found.length > 0 ? found : undefined;
  });

const settle = () => new Promise(resolve => setImmediate(resolve));

describe('the session of an agent', () => {
  it('[A22] keeps messages durably and in order, and finds them in its next life', async () => {
    const { open } = await openSession();
    const session = await open();
    session.stream('token', 'thin');
    await session.keep([{ role: 'assistant', content: 'first' }]);
    await session.keep([{ role: 'tool', content: 'second' }]);
    expect(await (await open()).transcript()).toEqual([
      { role: 'assistant', content: 'first' },
      { role: 'tool', content: 'second' },
    ]);
  });

  it('[A244] keeps no secret of what is said, also where it comes in pieces, and gives back what it kept', async () => {
    const { machine, store, run, ports, assignment } = await openSession();
    const session = await openAgentSession({ ...ports, secrets }, assignment, new AbortController().signal);
    for (const piece of ['Say open-', 'sesame', '-42 at', ' the door.']) {
      session.stream('token', piece);
      machine.pass(100);
      await settle();
    }
    session.stream('tool_start', { tool: 'knock', input: 'open-sesame-42' });
    session.stream('thinking', 'open-sesame');
    const kept = await session.keep([{ role: 'assistant', content: 'It is open-sesame-42.' }]);
    expect(kept).toEqual([{ role: 'assistant', content: 'It is [redacted: DOOR].' }]);
    expect(await session.transcript()).toEqual(kept);
    await session.close();
    const chunks = await store.stream(run, assignment.task, 0, 100);
    const said = (kind: string) => chunks.filter(chunk => chunk.kind === kind).map(({ payload }) => payload);
    expect(said('token').join('')).toBe('Say [redacted: DOOR] at the door.');
    // Text that only looks like the start of a secret is released when nothing follows it.
    expect(said('thinking')).toEqual(['open-sesame']);
    expect(said('message')).toEqual(kept);
  });

  it('[A700] waits for an answer, and has it as soon as a person gave it', async () => {
    const { open, ports, run } = await openSession();
    const session = await open();
    const waiting = session.answered(question, 600_000);
    const [asked] = await opened(ports.reader, run);
    await ports.decisions.answer(asked?.decision.id as never, { resolution: approve }, 'ada');
    expect(await waiting).toEqual(approve);
    // Given before anyone waits for it again, it is there at once.
    expect(await (await open()).answered(question, 0)).toEqual(approve);
    const delivered = (await ports.reader.events(run, 0, 100)).filter(
      ({ event }) => event.type === 'decision.delivered',
    );
    expect(delivered).toHaveLength(1);
  });

  it('[A700] one that waits for another answer goes on waiting', async () => {
    const { machine, open, ports, run } = await openSession();
    const session = await open();
    const waiting = [question, { ...question, call: 'other' }].map(one => session.answered(one, 600_000));
    const both = await until(async () => {
      const found = await ports.reader.decisions({ run, status: ['open'] });
      return found.length === 2 ? found : undefined;
    });
    const first = both.find(({ decision }) => decision.call === question.call);
    await ports.decisions.answer(first?.decision.id as never, { resolution: approve }, 'ada');
    expect(await waiting[0]).toEqual(approve);
    machine.pass(600_000);
    expect(await waiting[1]).toBeUndefined();
  });

  it('[A700] has nothing once its patience is over, it is canceled or the question was taken back', async () => {
    const { machine, ports, assignment, run, open } = await openSession();
    const session = await open();
    const parked = session.answered(question, 1000);
    await opened(ports.reader, run);
    machine.pass(1000);
    expect(await parked).toBeUndefined();
    const aborter = new AbortController();
    const canceled = (await openAgentSession(ports, assignment, aborter.signal)).answered(question, 600_000);
    aborter.abort();
    expect(await canceled).toBeUndefined();
    expect(await opened(ports.reader, run)).toHaveLength(1);
    const withdrawn = session.answered(question, 600_000);
    await settle();
    await ports.decisions.withdraw(run);
    expect(await withdrawn).toBeUndefined();
  });

  it('[A22] brings what is said together, at most ten chunks a second', async () => {
    const { machine, store, run, open } = await openSession();
    const session = await open();
    for (const word of ['a', 'b', 'c']) session.stream('token', word);
    session.stream('thinking', 'hm');
    expect(await store.stream(run, someTask, 0, 10)).toEqual([]);
    machine.pass(100);
    await settle();
    const chunks = (await store.stream(run, someTask, 0, 10)).map(({ index, kind, payload }) => [index, kind, payload]);
    expect(chunks).toEqual([
      [0, 'token', 'abc'],
      [1, 'thinking', 'hm'],
    ]);
  });

  it('[A22] goes on counting chunks where its former life stopped', async () => {
    const { store, run, open } = await openSession();
    const first = await open();
    first.stream('token', 'one');
    await first.close();
    const second = await open();
    second.stream('token', 'two');
    await second.close();
    expect((await store.stream(run, someTask, 0, 10)).map(({ index, payload }) => [index, payload])).toEqual([
      [0, 'one'],
      [1, 'two'],
    ]);
  });

  it('[A23] counts what a call spent once, however often it is told', async () => {
    const { store, run, open } = await openSession();
    const session = await open();
    const usage = {
      call: 'turn-1',
      inputTokens: 5,
      outputTokens: 7,
      cachedTokens: 0,
      toolCalls: 0,
      costMicroUsd: 3,
      wallMs: 1,
    };
    await session.spend(usage);
    await session.spend(usage);
    expect(await store.usageOfTree(run)).toMatchObject({ calls: 1, inputTokens: 5, outputTokens: 7, costMicroUsd: 3 });
  });

  it('[A23] admits no call once a limit is reached', async () => {
    const reason = 'Run x used 100 of its 100 tokens.';
    const { run, open } = await openSession();
    const stopped = await openSession({ kind: 'stop', run, condition: 'tokens', reason });
    expect(await (await stopped.open()).admit({ provider: 'p', model: 'm' })).toEqual({ kind: 'stop', reason });
    expect(await (await open()).admit({ provider: 'p', model: 'm' })).toMatchObject({ kind: 'go' });
  });

  it('[A22] says so when nothing more can be kept', async () => {
    const { assignment, ports } = await openSession();
    const broken = { ...ports, commit: { commit: async () => err(failure('STORE_IO_FAILED', FULL)) } };
    const session = await openAgentSession(broken, assignment, new AbortController().signal);
    await expect(session.keep([{ role: 'assistant' }])).rejects.toThrow(SessionFault);
  });
});

const FULL = { message: 'The disk is full.', suggestion: 'Make room.' };

describe('a call whose effects are outside', () => {
  it('[A47] is in the log of its run before it begins, and how it ended after, also in another life', async () => {
    const { store, run, open } = await openSession();
    const session = await open();
    const begun = (call: string, external: boolean) => ({ v: 1, kind: 'tool_begun', call, tool: 'send', external });
    const ended = (call: string, status: string) => ({ v: 1, kind: 'tool_ended', call, tool: 'send', status });
    await session.keep([begun('t/1/1/0', false)]);
    await session.keep([ended('t/1/1/0', 'succeeded')]);
    await session.keep([begun('t/1/2/0', true)]);
    expect((await callsIn(store, run)).at(-1)).toMatchObject({ type: 'call.began', call: 't/1/2/0' });
    await (await open()).keep([ended('t/1/2/0', 'unknown')]);
    const of = { tool: 'send', node: someNode, task: someTask };
    expect(await callsIn(store, run)).toMatchObject([
      { type: 'call.proposed', call: 't/1/1/0', ...of, index: 0 },
      { type: 'call.began', call: 't/1/1/0', ...of },
      { type: 'call.ended', call: 't/1/1/0', outcome: 'succeeded', index: 1 },
      { type: 'call.proposed', call: 't/1/2/0', index: 2 },
      { type: 'call.began', call: 't/1/2/0' },
      { type: 'call.ended', call: 't/1/2/0', outcome: 'unknown', index: 3 },
    ]);
    expect(await (await open()).transcript()).toHaveLength(4);
  });
});

const callsIn = async (store: Pick<RunReader, 'events'>, run: RunId) =>
  (await store.events(run, 0, 100)).map(({ event }) => event).filter(({ type }) => type.startsWith('call.'));

describe('the events of what an agent keeps', () => {
  const start = (call: string) => ({ call, tool: 'look', input: { n: 1 } });
  const ended = (call: string) => ({ v: 1, kind: 'tool_ended', call, tool: 'look', status: 'succeeded' });
  const told = async (store: Pick<RunReader, 'events'>, run: RunId) =>
    (await store.events(run, 0, 100)).flatMap(({ event }) => {
      if (event.type === 'message.said') return [`said ${event.index}`];
      return event.type.startsWith('call.') && 'call' in event ? [`${event.type} ${event.call}`] : [];
    });

  it('[A580] are committed with it, once, whichever life tells them', async () => {
    const { machine, store, run, open } = await openSession();
    const first = await open();
    await first.keep([{ kind: 'assistant', content: [] }]);
    first.stream('tool_start', start('c1'));
    machine.pass(100);
    await settle();
    const begun = ['said 0', 'call.proposed c1', 'call.began c1'];
    expect(await told(store, run)).toEqual(begun);
    // It was killed; the call runs again.
    const second = await open();
    second.stream('tool_start', start('c1'));
    await second.keep([ended('c1')]);
    second.stream('tool_end', { call: 'c1', tool: 'look', outcome: 'succeeded' });
    await second.close();
    await (await open()).close();
    expect(await told(store, run)).toEqual([...begun, 'call.ended c1']);
  });

  it('[A580] a call that is only proposed has not begun', async () => {
    const { store, run, open } = await openSession();
    const proposed = { kind: 'tool_proposed', call: 'c1', tool: 'look', input: {} };
    await (await open()).keep([proposed]);
    expect(await told(store, run)).toEqual(['call.proposed c1']);
    const second = await open();
    await second.keep([proposed]);
    second.stream('tool_start', start('c1'));
    await second.keep([ended('c1')]);
    expect(await told(store, run)).toEqual(['call.proposed c1', 'call.began c1', 'call.ended c1']);
  });

  it('[A580] a call that was canceled and runs again begins again', async () => {
    const { store, run, open } = await openSession();
    const first = await open();
    first.stream('tool_start', start('c1'));
    first.stream('tool_end', { call: 'c1', tool: 'look', outcome: 'canceled', message: 'It was undone.' });
    await first.close();
    const second = await open();
    second.stream('tool_start', start('c1'));
    await second.keep([ended('c1')]);
    expect(await callsIn(store, run)).toMatchObject([
      { type: 'call.proposed' },
      { type: 'call.began' },
      { type: 'call.ended', outcome: 'canceled' },
      { type: 'call.began' },
      { type: 'call.ended', outcome: 'succeeded' },
    ]);
  });

  it('[A580] are neither lost nor told twice when a commit fails', async () => {
    const { machine, store, run, assignment, ports } = await openSession();
    let fails = 1;
    const commit: typeof store.commit = async (writes, guard) =>
      fails-- > 0 ? err(failure('STORE_IO_FAILED', FULL)) : store.commit(writes, guard);
    const session = await openAgentSession({ ...ports, commit: { commit } }, assignment, new AbortController().signal);
    session.stream('token', 'Hm.');
    session.stream('tool_start', start('c1'));
    machine.pass(100);
    await settle();
    expect(await told(store, run)).toEqual([]);
    // One that is under way is waited for.
    session.stream('tool_start', start('c2'));
    machine.pass(100);
    await session.keep([ended('c1'), ended('c2')]);
    expect(await told(store, run)).toEqual([
      ...['call.proposed c1', 'call.began c1', 'call.proposed c2', 'call.began c2'],
      ...['call.ended c1', 'call.ended c2'],
    ]);
  });

  it('[A580] what could not be kept is not kept later', async () => {
    const { store, run, assignment, ports } = await openSession();
    let fails = 1;
    const commit: typeof store.commit = async (writes, guard) =>
      fails-- > 0 ? err(failure('STORE_IO_FAILED', FULL)) : store.commit(writes, guard);
    const session = await openAgentSession({ ...ports, commit: { commit } }, assignment, new AbortController().signal);
    await expect(session.keep([{ kind: 'assistant', content: [] }])).rejects.toThrow(SessionFault);
    await session.close();
    expect([await told(store, run), await session.transcript()]).toEqual([[], []]);
  });
});

describe('messages of people', () => {
  const chat = async () => {
    const opened = await openSession();
    const { store, machine, run, assignment } = opened;
    const at = timestampOf(machine.clock);
    const { task: id, node, iteration } = assignment;
    const facts = { signature: 'sig', status: 'pending', effects: 'undoable', retryCount: 0, maxRetries: 3 } as const;
    const record = await store.run(run);
    const guard = { run, epoch: record?.epoch ?? 0, version: record?.version ?? 0 };
    const task = { id, node, iteration, ...facts, backoffMs: 1000, createdAt: at };
    const begun = await store.commit({ at, tasks: [task] }, guard);
    expect(begun.ok).toBe(true);
    const inbox = createAgentInbox({ commit: store, reader: store, machine, secrets });
    const tell = (text: string) => inbox.tell(run, assignment.node, text, 'ada');
    const said = async () =>
      (await store.stream(run, assignment.task, 0, 100)).flatMap(({ kind, payload }) =>
        kind === 'message' ? [(payload as { text?: string; content?: string }).text ?? 'kept'] : [],
      );
    return { ...opened, inbox, tell, said };
  };

  it('[A1071] are durable in order, whether the agent works or not, without secrets', async () => {
    const { open, inbox, assignment, tell, said } = await chat();
    expect((await tell('Before open-sesame-42.')).ok).toBe(true);
    const session = await inbox.open(assignment.task, open);
    await session.keep([{ kind: 'kept' }]);
    expect((await tell('Meanwhile.')).ok).toBe(true);
    await session.keep([{ kind: 'kept' }]);
    const all = await said();
    expect(all.map(text => text.replace(/Before .*/, 'Before'))).toEqual(['Before', 'kept', 'Meanwhile.', 'kept']);
    expect(all.join()).not.toContain('open-sesame-42');
    expect(await session.transcript()).toHaveLength(4);
    inbox.close(assignment.task, session);
    await session.close();
    await tell('After.');
    expect(await (await open()).transcript()).toHaveLength(5);
  });

  it('[A1071] are refused where no turn is open', async () => {
    const { inbox, run } = await chat();
    const told = await inbox.tell(run, 'nobody', 'Hello?', 'ada');
    expect(!told.ok && told.error.code).toBe('run/no-effect');
  });
});
