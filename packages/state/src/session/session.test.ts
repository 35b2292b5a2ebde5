import type { SessionId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  createTestClock,
  createTestIds,
  createTestState,
  must,
  note,
  noted,
  plan,
  setupPlan,
} from '../../test/builders.ts';
import { createSession } from './session.ts';
import { append, clear, defineEvent, defineSlice, extend, replace } from './slice.ts';
import { defaultPolicy } from './slice-policy.ts';

const step = defineSlice({ name: 'Step', item: z.strictObject({ name: z.string(), done: z.boolean() }) });
const count = defineSlice({ name: 'Count', item: z.number() });
const digest = defineSlice({ name: 'WorkspaceDigest', item: z.string() });
const planned = defineEvent('Planned', z.strictObject({ names: z.array(z.string()) }));

function createTestSession() {
  return createSession({ id: createTestIds().mint<SessionId>(), clock: createTestClock() });
}

describe('slices', () => {
  it('[S1] a slice answers its latest item, all items, and those that match; seed sets them and clear empties it', () => {
    const steps = createTestSession().slice(step);
    expect(steps.latest()).toBeUndefined();
    must(
      steps.seed([
        { name: 'a', done: true },
        { name: 'b', done: false },
      ]),
    );
    expect(steps.latest()).toEqual({ name: 'b', done: false });
    expect(steps.where(item => item.done)).toEqual([{ name: 'a', done: true }]);
    must(steps.clear());
    expect(steps.all()).toEqual([]);
  });

  it('[S1] an item that the schema refuses does not come in', () => {
    const steps = createTestSession().slice(step);
    const refused = steps.seed([{ name: 'a' } as never]);
    expect(refused).toMatchObject({ ok: false, error: { code: 'state/dispatch-failed' } });
    expect(steps.all()).toEqual([]);
  });

  it('[S1] items cannot be changed from outside once they are in', () => {
    const steps = createTestSession().slice(step);
    const item = { name: 'a', done: false };
    must(steps.seed([item]));
    item.done = true;
    expect(steps.all()).toEqual([{ name: 'a', done: false }]);
    expect(Object.isFrozen(steps.latest())).toBe(true);
  });

  it('[S2] an event goes to every reducer that registered for it, each on its own slice', () => {
    const session = createTestSession();
    session.slice(step).register(planned, (_, { names }) => extend(names.map(name => ({ name, done: false }))));
    session.slice(count).register(planned, (items, { names }) => append((items.at(-1) ?? 0) + names.length));
    must(session.dispatch(planned, { names: ['a', 'b'] }));
    must(session.dispatch(planned, { names: ['c'] }));
    expect(
      session
        .slice(step)
        .all()
        .map(item => item.name),
    ).toEqual(['a', 'b', 'c']);
    expect(session.slice(count).all()).toEqual([2, 3]);
  });

  it('[S2] replace and clear are operations too', () => {
    const session = createTestSession();
    const emptied = defineEvent('Emptied', z.null());
    session.slice(count).register(planned, (_, { names }) => replace([names.length]));
    session.slice(count).register(emptied, () => clear());
    must(session.dispatch(planned, { names: ['a'] }));
    must(session.dispatch(planned, { names: ['a', 'b'] }));
    expect(session.slice(count).all()).toEqual([2]);
    must(session.dispatch(emptied, null));
    expect(session.slice(count).all()).toEqual([]);
  });

  it('[S3] a reducer that throws fails the dispatch and no slice changes', () => {
    const session = createTestSession();
    session.slice(count).register(planned, () => append(1));
    session.slice(step).register(planned, () => {
      throw new Error('no');
    });
    expect(session.dispatch(planned, { names: [] })).toMatchObject({
      ok: false,
      error: { code: 'state/dispatch-failed' },
    });
    expect(session.slice(count).all()).toEqual([]);
  });

  it('[S3] a reducer that returns what its slice does not take fails the dispatch and no slice changes', () => {
    const session = createTestSession();
    session.slice(count).register(planned, () => append(1));
    session.slice(step).register(planned, () => append({ name: 1 } as never));
    expect(session.dispatch(planned, { names: [] }).ok).toBe(false);
    expect(session.slice(count).all()).toEqual([]);
  });

  it('[S4] slices have the specified policies by name, and STATE otherwise', () => {
    const names = [
      'Plan',
      'VisibilityOverrides',
      'WorkspaceDigest',
      'ToolInvoked',
      'PromptRendered',
      'PromptExecuted',
      'Mine',
    ];
    expect(names.map(defaultPolicy)).toEqual(['state', 'state', 'cache', 'log', 'log', 'log', 'state']);
    expect(defineSlice({ name: 'ToolInvoked', item: z.string() }).policy).toBe('log');
  });

  it('[S4] a policy can be given when a reducer is registered', () => {
    const session = createTestSession();
    session.slice(count).register(planned, () => append(1), { policy: 'log' });
    must(session.dispatch(planned, { names: [] }));
    const before = session.snapshot();
    must(session.dispatch(planned, { names: [] }));
    must(session.rollback(before));
    expect(session.slice(count).all()).toEqual([1, 1]);
  });

  it('[S5] a log refuses to be replaced or cleared', () => {
    const notes = createTestSession().slice(note);
    must(notes.seed(['first']));
    expect(notes.clear().ok).toBe(false);
    expect(notes.seed(['other']).ok).toBe(false);
    expect(notes.all()).toEqual(['first']);
  });

  it('[S7] the transcript is part of the root and survives a rollback', async () => {
    const { state } = createTestState();
    const before = must(await state.snapshot());
    must(state.transcript.seed([{ role: 'user', content: 'hello' }]));
    must(await state.restore(before));
    expect(state.transcript.all()).toEqual([{ role: 'user', content: 'hello' }]);
  });
});

describe('snapshots of a session', () => {
  function createFilledSession() {
    const session = createTestSession();
    must(session.slice(plan).seed([{ objective: 'one', status: 'active' }]));
    must(session.slice(digest).seed(['abc']));
    must(session.slice(note).seed(['first']));
    session.slice(note).register(noted, (_, event) => append(event));
    session.slice(plan).register(setupPlan, (_, event) => replace([event]));
    return session;
  }

  it('[S9] a snapshot holds STATE slices, or those of the asked policies, or all', () => {
    const session = createFilledSession();
    expect(Object.keys(session.snapshot().slices)).toEqual(['Plan']);
    expect(Object.keys(session.snapshot({ policies: new Set(['cache', 'log']) }).slices)).toEqual([
      'WorkspaceDigest',
      'Note',
    ]);
    expect(Object.keys(session.snapshot({ includeAll: true }).slices)).toEqual(['Plan', 'WorkspaceDigest', 'Note']);
  });

  it('[S9] a snapshot keeps policies, parent, children, tags and the length of every log', () => {
    const ids = createTestIds();
    const [parentId, id, childId] = [ids.mint<SessionId>(), ids.mint<SessionId>(), ids.mint<SessionId>()];
    const session = createSession({ id: parentId, clock: createTestClock() }).child(id);
    session.child(childId);
    must(session.slice(note).seed(['a', 'b']));
    expect(session.snapshot({ tags: { why: 'test' } })).toEqual({
      sessionId: id,
      createdAt: '2023-11-14T22:13:20.000Z',
      slices: {},
      policies: { Note: 'log' },
      logLengths: { Note: 2 },
      parentId,
      childrenIds: [childId],
      tags: { why: 'test' },
    });
  });

  it('[S10] rollback brings STATE back, keeps LOG and empties CACHE', () => {
    const session = createFilledSession();
    const before = session.snapshot();
    must(session.dispatch(setupPlan, { objective: 'two', status: 'active' }));
    must(session.dispatch(noted, 'second'));
    must(session.rollback(before));
    expect(session.slice(plan).all()).toEqual([{ objective: 'one', status: 'active' }]);
    expect(session.slice(note).all()).toEqual(['first', 'second']);
    expect(session.slice(digest).all()).toEqual([]);
  });

  it('[S10] rollback can be told not to keep logs', () => {
    const session = createFilledSession();
    const before = session.snapshot({ includeAll: true });
    must(session.dispatch(noted, 'second'));
    must(session.rollback(before, { preserveLogs: false }));
    expect(session.slice(note).all()).toEqual(['first']);
    expect(session.slice(digest).all()).toEqual(['abc']);
  });

  it('[S10] a STATE slice that did not exist yet is empty after the rollback', () => {
    const session = createFilledSession();
    const before = session.snapshot();
    must(session.slice(count).seed([1]));
    must(session.rollback(before));
    expect(session.slice(count).all()).toEqual([]);
  });

  it('[S13] a slice whose policy changed since does not fit, and nothing changes', () => {
    const session = createFilledSession();
    const before = session.snapshot({ includeAll: true });
    session.slice(note).register(defineEvent('Other', z.null()), () => append('x'), { policy: 'state' });
    must(session.dispatch(setupPlan, { objective: 'two', status: 'active' }));
    expect(session.rollback(before)).toMatchObject({ ok: false, error: { code: 'state/snapshot-mismatch' } });
    expect(session.slice(plan).latest()?.objective).toBe('two');
  });
});

describe('transactions', () => {
  const added = defineEvent('Added', z.number());
  function createCountingSession() {
    const session = createTestSession();
    session.slice(count).register(added, (items, more) => append((items.at(-1) ?? 0) + more));
    session.slice(note).register(noted, (_, event) => append(event));
    return session;
  }

  it('[S8] nobody sees what a transaction did until it commits', () => {
    const session = createCountingSession();
    const call = session.begin();
    must(call.view.dispatch(added, 1));
    expect([call.view.slice(count).all(), session.slice(count).all()]).toEqual([[1], []]);
    must(call.commit());
    expect(session.slice(count).all()).toEqual([1]);
  });

  it('[S8] a transaction that is dropped leaves logs and nothing else', () => {
    const session = createCountingSession();
    const call = session.begin();
    must(call.view.dispatch(added, 1));
    must(call.view.dispatch(noted, 'tried'));
    expect([session.slice(count).all(), session.slice(note).all()]).toEqual([[], ['tried']]);
  });

  it('[S8] a commit that meets the changes of another one reduces its events again on them', () => {
    const session = createCountingSession();
    const [first, second] = [session.begin(), session.begin()];
    must(first.view.dispatch(added, 1));
    must(second.view.dispatch(added, 10));
    must(second.commit());
    must(first.commit());
    expect(session.slice(count).all()).toEqual([10, 11]);
  });

  it('[S8] a commit whose events can no longer be reduced fails and changes nothing', () => {
    const session = createTestSession();
    session.slice(count).register(added, (items, more) => {
      if (items.length > 0) throw new Error('only once');
      return append(more);
    });
    const [first, second] = [session.begin(), session.begin()];
    must(first.view.dispatch(added, 1));
    must(second.view.dispatch(added, 2));
    must(first.commit());
    expect(second.commit()).toMatchObject({ ok: false, error: { code: 'state/dispatch-failed' } });
    expect(session.slice(count).all()).toEqual([1]);
  });
});
