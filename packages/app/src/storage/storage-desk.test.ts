import {
  createIdSource,
  type Digest,
  failure,
  ok,
  portableHasher,
  type RunId,
  type StorageReason,
  timestampOf,
} from '@signalbox/model';
import { type CommitError, type Guard, memoryRuns, type WriteSet } from '@signalbox/runs';
import { fakeClock, fakeTimers, seededRng } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { newRun, startRun } from '../../../runs/test/builders.ts';
import { draftEvent } from '../host/run-events.ts';
import { feedWithHeld, withHeld } from './held-runs.ts';
import { createStorageDesk, type Hold } from './storage-desk.ts';

type Fault = 'full' | 'full-once' | 'read-only' | 'unknown' | 'lost';

/** A store whose disk does what the test says. */
function stage() {
  const clock = fakeClock();
  const timers = fakeTimers(clock);
  const ids = createIdSource(clock, seededRng(3));
  const store = memoryRuns(portableHasher);
  const tried: string[] = [];
  const over: (readonly [RunId, StorageReason])[] = [];
  let fault: Fault | undefined;
  const refuse = (run: RunId, sqliteCode: number): { readonly ok: false; readonly error: CommitError } => ({
    ok: false,
    error: failure('STORE_IO_FAILED', { message: 'refused', suggestion: 'wait', details: { run, sqliteCode } }),
  });
  const unknown = (run: RunId): { readonly ok: false; readonly error: CommitError } => ({
    ok: false,
    error: failure('store/outcome-unknown', {
      message: 'who knows',
      suggestion: 'look',
      details: { run, sqliteCode: 10 },
    }),
  });
  const desk = createStorageDesk({
    store: {
      ...store,
      put: async () => ok<readonly Digest[]>([]),
      async commit(writes: WriteSet, guard: Guard) {
        tried.push(nameOf(writes));
        if (fault === 'full') return refuse(guard.run, 13);
        if (fault === 'full-once') {
          fault = undefined;
          return refuse(guard.run, 13);
        }
        if (fault === 'read-only') return refuse(guard.run, 8);
        if (fault === 'lost') return unknown(guard.run);
        const committed = await store.commit(writes, guard);
        return fault === 'unknown' ? unknown(guard.run) : committed;
      },
    },
    dataDirectory: '/data',
    clock,
    timers,
    onOver: (run: RunId, { reason }: Hold) => over.push([run, reason]),
  });
  const signal = (name: string): WriteSet => ({
    at: timestampOf(clock),
    events: [draftEvent({ clock, ids }, 'signal.received', { name, payload: null, by: 'ada' })],
  });
  const calm = async () => {
    for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve));
  };
  return {
    ...{ desk, store, timers, clock, ids, tried, over, signal, calm },
    breaks(next: Fault | undefined) {
      fault = next;
    },
  };
}

const nameOf = ({ events = [] }: WriteSet) => (events[0] as { readonly name?: string } | undefined)?.name ?? '?';

describe('writes that the disk refuses', () => {
  it('[A193] wait and are tried again after waits that double; then all go through in their order', async () => {
    const at = stage();
    const { run } = await startRun(at.store, newRun());
    at.breaks('full');
    const answered: string[] = [];
    const send = (name: string) =>
      at.desk.commit(at.signal(name), { run, version: 'any' }).then(({ ok: isOk }) => answered.push(`${name} ${isOk}`));
    const sent = [send('a')];
    await at.calm();
    sent.push(send('b'), send('c'));
    const waits: (number | undefined)[] = [];
    for (let turn = 0; turn < 7; turn++) {
      await at.calm();
      waits.push(at.timers.next);
      at.timers.advance(at.timers.next ?? 0);
    }
    await at.calm();
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000]);
    expect(new Set(at.tried)).toEqual(new Set(['a']));
    expect(answered).toEqual([]);
    at.breaks(undefined);
    at.timers.advance(5000);
    await Promise.all(sent);
    expect(answered).toEqual(['a true', 'b true', 'c true']);
    expect(at.tried.slice(-3)).toEqual(['a', 'b', 'c']);
    const events = (await at.store.events(run, 0, 10)).flatMap(({ event }) =>
      event.type === 'signal.received' ? [event.name] : [],
    );
    expect(events).toEqual(['a', 'b', 'c']);
    expect(at.timers.next).toBeUndefined();
  });

  it('[A193] that may have been written are looked for, and neither lost nor doubled', async () => {
    for (const [fault, tries] of [
      ['unknown', 1],
      ['lost', 2],
    ] as const) {
      const at = stage();
      const { run, guard } = await startRun(at.store, newRun());
      at.breaks(fault);
      const committed = at.desk.commit(at.signal('a'), guard);
      await at.calm();
      at.breaks(undefined);
      at.timers.advance(at.timers.next ?? 0);
      const record = async () => at.store.run(run);
      expect(await committed).toMatchObject({ ok: true, value: { version: 2 } });
      expect([at.tried.length, (await record())?.version]).toEqual([tries, 2]);
    }
  });

  it('[A902] hold back later commits of their run that were on their way, which then follow in order', async () => {
    const at = stage();
    const { guard } = await startRun(at.store, newRun());
    const version = Number(guard.version);
    at.breaks('full-once');
    const answered: number[] = [];
    const send = (name: string, from: number) =>
      at.desk.commit(at.signal(name), { ...guard, version: from }).then(committed => {
        if (committed.ok) answered.push(committed.value.version);
        return committed.ok;
      });
    const sent = [send('a', version), send('b', version + 1), send('c', version + 2)];
    await at.calm();
    expect(at.tried).toEqual(['a', 'b', 'c']);
    expect(answered).toEqual([]);
    expect(at.desk.standing()).toMatchObject({ status: 'full', waiting: 3 });
    at.timers.advance(at.timers.next ?? 0);
    expect(await Promise.all(sent)).toEqual([true, true, true]);
    expect(answered).toEqual([version + 1, version + 2, version + 3]);
    expect(at.tried.slice(3)).toEqual(['a', 'b', 'c']);
    expect(at.desk.standing()).toEqual({ status: 'ok' });
  });

  it('[A902] hold back none whose earlier commit was refused for another reason, or is there', async () => {
    const refused = stage();
    const { guard } = await startRun(refused.store, newRun());
    const version = Number(guard.version);
    const sent = [9, 10].map(from => refused.desk.commit(refused.signal('a'), { ...guard, version: from }));
    expect((await Promise.all(sent)).map(({ ok: isOk }) => isOk)).toEqual([false, false]);
    expect(refused.desk.standing()).toEqual({ status: 'ok' });
    refused.breaks('unknown');
    const found = [0, 1].map(more => refused.desk.commit(refused.signal('b'), { ...guard, version: version + more }));
    expect(await Promise.all(found)).toMatchObject([
      { ok: true, value: { version: version + 1 } },
      { ok: true, value: { version: version + 2 } },
    ]);
  });

  it('[A194] pause their run and those above it, which says why; what is asked for is refused', async () => {
    const at = stage();
    const parent = await startRun(at.store, newRun({ name: 'parent' }));
    const origin = { kind: 'sub-plan', run: parent.run, node: 'sub' as never, iteration: 0 } as const;
    const child = await startRun(at.store, newRun({ name: 'child', origin }));
    const other = await startRun(at.store, newRun({ name: 'other' }));
    const told: RunId[] = [];
    feedWithHeld(at.store, at.desk).subscribe('all', notice => told.push(notice.run));
    const reader = withHeld(at.store, at.desk.standing);
    expect([at.desk.standing(), at.desk.refusal()]).toEqual([{ status: 'ok' }, undefined]);

    at.breaks('read-only');
    const sent = at.desk.commit(at.signal('a'), { run: child.run, version: 'any' });
    await at.calm();
    expect(at.desk.standing()).toEqual({
      status: 'read-only',
      message: 'The data directory /data is read-only. Make it writable again.',
      since: timestampOf(at.clock),
      runs: [child.run, parent.run],
      waiting: 1,
    });
    expect(at.desk.refusal()).toMatchObject({ code: 'store/held', retry: { kind: 'retryable_after_ms' } });
    const standings = async () =>
      (await reader.runs()).items.map(({ name, status, stopReason }) => [name, status, stopReason]);
    const why = 'The data directory /data is read-only. Make it writable again.';
    expect(await standings()).toEqual([
      ['other', 'running', undefined],
      ['child', 'paused', why],
      ['parent', 'paused', why],
    ]);
    const names = async (status: 'paused' | 'running') =>
      (await reader.runs({ status: [status] })).items.map(({ name }) => name);
    expect([await names('paused'), await names('running')]).toEqual([['child', 'parent'], ['other']]);
    expect(await reader.run(child.run)).toMatchObject({ status: 'paused' });
    expect(await reader.run(other.run)).toMatchObject({ status: 'running' });
    expect(told).toEqual([child.run, parent.run]);

    at.breaks(undefined);
    at.timers.advance(at.timers.next ?? 0);
    await sent;
    await at.calm();
    expect([at.desk.standing(), at.desk.refusal()]).toEqual([{ status: 'ok' }, undefined]);
    expect(await standings()).toEqual(['other', 'child', 'parent'].map(name => [name, 'running', undefined]));
    expect(at.over).toEqual([
      [child.run, 'read-only'],
      [parent.run, 'read-only'],
    ]);
  });

  it('[A550] pause the runs above a sub-run that they would have created', async () => {
    const at = stage();
    const parent = await startRun(at.store, newRun({ name: 'parent' }));
    const origin = { kind: 'sub-plan', run: parent.run, node: 'sub' as never, iteration: 0 } as const;
    const child = '01a1ed68-8c31-77ff-9208-3a9853d39c4c' as RunId;
    const create: WriteSet = {
      at: timestampOf(at.clock),
      run: { kind: 'create', run: newRun({ name: 'child', origin }) },
      events: [draftEvent(at, 'run.created', { driver: 'plan', name: 'child' })],
    };
    at.breaks('full');
    const sent = at.desk.commit(create, { run: child, epoch: 0, version: 0 });
    await at.calm();
    const reader = withHeld(at.store, at.desk.standing);
    const standings = async () => (await reader.runs()).items.map(({ name, status }) => [name, status]);
    expect(await standings()).toEqual([['parent', 'paused']]);
    at.breaks(undefined);
    at.timers.advance(at.timers.next ?? 0);
    expect((await sent).ok).toBe(true);
    await at.calm();
    expect(await standings()).toEqual([
      ['child', 'running'],
      ['parent', 'running'],
    ]);
    expect(at.over.map(([run]) => run)).toEqual([child, parent.run]);
  });

  it('[A195] are tried once more and answered when the process ends, and none waits after that', async () => {
    const at = stage();
    const { run } = await startRun(at.store, newRun());
    at.breaks('full');
    const first = at.desk.commit(at.signal('a'), { run, version: 'any' });
    await at.calm();
    const second = at.desk.commit(at.signal('b'), { run, version: 'any' });
    at.desk.endWaits();
    const late = at.desk.commit(at.signal('c'), { run, version: 'any' });
    for (const sent of [first, second, late]) {
      expect(await sent).toMatchObject({ ok: false, error: { code: 'STORE_IO_FAILED' } });
    }
    expect(at.timers.next).toBeUndefined();
    at.breaks(undefined);
    expect(await at.desk.commit(at.signal('d'), { run, version: 'any' })).toMatchObject({ ok: true });
  });
});
