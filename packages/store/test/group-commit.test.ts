import type { Result, RunId } from '@signalbox/model';
import type { CommitError, Committed, Guard } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import {
  at,
  changed,
  created,
  frame,
  freshId,
  interval,
  newRun,
  set,
  signal,
  startRun,
} from '../../runs/test/builders.ts';
import { opened, temporaryStore } from './support/stores.ts';
import { diskBroke, watchedDatabase } from './support/watched-database.ts';

const codes = (outcomes: readonly Result<Committed, CommitError>[]) =>
  outcomes.map(outcome => (outcome.ok ? 'ok' : outcome.error.code));

const creation = (run: RunId): Guard => ({ run, epoch: 0, version: 0 });
/** Creates a run that `poison` keeps from being committed. */
const poisonous = () => created(newRun({ tags: ['poison'] }));

/** Makes every transaction that writes the tag `poison` fail at its COMMIT: a constraint that is checked only there. */
function poison(watched: ReturnType<typeof watchedDatabase>): void {
  watched.database().exec(`
    create table antidote (id integer primary key);
    create table poisoned (id integer references antidote (id) deferrable initially deferred);
    create trigger poison after insert on run_tags when new.tag = 'poison' begin insert into poisoned values (1); end`);
}

describe('commits that wait at the same time', () => {
  it('[D3] share one transaction', async () => {
    const watched = watchedDatabase();
    const store = temporaryStore({ connect: watched.connect });
    const writers = [await startRun(store), await startRun(store), await startRun(store)];
    let commits = 0;
    watched.onCommit = commit => {
      commits += 1;
      commit();
    };
    await Promise.all(
      writers.flatMap(({ run }) =>
        Array.from({ length: 20 }, () => store.commit({ at: at(), events: [signal('x')] }, { run, version: 'any' })),
      ),
    );
    expect(commits).toBe(1);
    for (const { run } of writers) expect((await store.events(run, 0, 100)).length).toBe(21);
  });

  it('[D3] are no more than 256 to a transaction, and none waits for ever', async () => {
    const watched = watchedDatabase();
    const store = temporaryStore({ connect: watched.connect });
    const { run } = await startRun(store);
    let commits = 0;
    watched.onCommit = commit => {
      commits += 1;
      commit();
    };
    const many = Array.from({ length: 600 }, () =>
      store.commit({ at: at(), events: [signal('x')] }, { run, version: 'any' }),
    );
    expect(new Set(codes(await Promise.all(many)))).toEqual(new Set(['ok']));
    expect([commits, (await store.run(run))?.nextSeq]).toEqual([3, 601]);
  });

  it('[D4] are answered and told only after COMMIT, in the order they came', async () => {
    const watched = watchedDatabase();
    const store = temporaryStore({ connect: watched.connect });
    const { run } = await startRun(store);
    const log: string[] = [];
    watched.onCommit = commit => {
      log.push(`before commit ${log.length}`);
      commit();
      log.push('committed');
    };
    store.subscribe(run, ({ events }) => log.push(`told ${events.map(({ event }) => event.seq)}`));
    const commit = async (name: string, guard: Guard) => {
      const outcome = await store.commit({ at: at(), events: [signal(name)] }, guard);
      log.push(`${name} ${outcome.ok ? 'ok' : outcome.error.code}`);
    };
    await Promise.all([
      commit('a', { run, version: 'any' }),
      commit('b', { run, epoch: 0, version: 7 }),
      commit('c', { run, version: 'any' }),
    ]);
    await new Promise(process.nextTick);
    expect(log.slice(0, 2)).toEqual(['before commit 0', 'committed']);
    expect(log.slice(2)).toEqual(['a ok', 'b run/stale-version', 'c ok', 'told 1', 'told 2']);
  });

  it('[D5] fail alone where they do not fit: a guard, an epoch, a double, a decision', async () => {
    const store = temporaryStore();
    const writer = await startRun(store);
    const other = await startRun(store);
    const double = signal('double');
    await store.commit({ at: at(), events: [double] }, { run: other.run, version: 'any' });
    const { run } = writer;
    const any = { run, version: 'any' } as const;
    const outcomes = await Promise.all([
      store.commit({ at: at(), events: [signal('first')] }, any),
      store.commit(changed({ phase: 'DONE' }), { run, epoch: 9, version: 1 }),
      store.commit({ at: at(), events: [signal('half'), double] }, any),
      store.commit({ at: at(), decisions: [{ kind: 'withdraw', id: freshId(), at: at() }] }, any),
      store.commit(changed({ phase: 'EXECUTE' }), writer.guard),
      store.commit(changed({ phase: 'VERIFY' }), writer.guard),
      store.commit({ at: at(), events: [signal('last')] }, any),
    ]);
    expect(codes(outcomes)).toEqual([
      'ok',
      'run/stale-epoch',
      'run/writes-refused',
      'decision/unknown',
      'ok',
      'run/stale-version',
      'ok',
    ]);
    const names = (await store.events(run, 1, 10)).map(({ event }) => ('name' in event ? event.name : event.type));
    expect([names, (await store.run(run))?.phase]).toEqual([['first', 'last'], 'EXECUTE']);
  });
});

describe('a COMMIT that fails', () => {
  it('[D7] costs only the member that made it fail', async () => {
    const watched = watchedDatabase();
    const store = temporaryStore({ connect: watched.connect });
    const writer = await startRun(store);
    poison(watched);
    const told: RunId[] = [];
    store.subscribe('all', ({ run }) => told.push(run));
    const bad = freshId<RunId>();
    const outcomes = await Promise.all([
      store.commit({ at: at(), events: [signal('before')] }, writer.guard),
      store.commit(poisonous(), creation(bad)),
      store.commit({ at: at(), events: [signal('after')] }, { run: writer.run, version: 'any' }),
    ]);
    expect(codes(outcomes)).toEqual(['ok', 'run/writes-refused', 'ok']);
    expect((await store.events(writer.run, 0, 10)).length).toBe(3);
    await new Promise(process.nextTick);
    expect([await store.run(bad), told]).toEqual([undefined, [writer.run, writer.run]]);
  });

  it('[D7] takes back refusals that rested on what was lost, and successes too', async () => {
    const watched = watchedDatabase();
    const store = temporaryStore({ connect: watched.connect });
    await startRun(store);
    poison(watched);
    const [taken, lost] = [freshId<RunId>(), freshId<RunId>()];
    const outcomes = await Promise.all([
      store.commit(poisonous(), creation(taken)),
      store.commit(created(), creation(taken)),
      store.commit(poisonous(), creation(lost)),
      store.commit({ at: at(), events: [signal('x')] }, { run: lost, version: 'any' }),
    ]);
    expect(codes(outcomes)).toEqual(['run/writes-refused', 'ok', 'run/writes-refused', 'run/unknown']);
    expect((await store.run(taken))?.tags).toEqual([]);
  });

  it('[D7] forgets the values that it had written, so that the next patch fits what is there', async () => {
    const watched = watchedDatabase();
    const store = temporaryStore({ connect: watched.connect });
    const [writer, other] = [await startRun(store), await startRun(store)];
    poison(watched);
    const append = (at: number, line: string) =>
      interval('state', 'log', 0, {
        kind: 'patch',
        steps: [{ op: 'splice', path: [], at, remove: 0, insert: [line] }],
      });
    await writer.write({ at: at(), intervals: [interval('state', 'log', 0, set([]))] });
    await writer.write({ at: at(), intervals: [append(0, 'one')] });
    const outcomes = await Promise.all([
      store.commit({ ...changed({ tags: ['poison'] }), intervals: [append(1, 'lost')] }, writer.guard),
      store.commit({ at: at(), events: [signal('x')] }, other.guard),
    ]);
    expect(codes(outcomes)).toEqual(['run/writes-refused', 'ok']);
    expect((await writer.refused({ at: at(), intervals: [append(2, 'three')] })).code).toBe('run/writes-refused');
    await writer.write({ at: at(), intervals: [append(1, 'two')] });
    expect(await store.valueAt(writer.run, 'state', 'log', 0)).toEqual(['one', 'two']);
  });

  it('[D8] because the disk broke off is run again; if that breaks off too, its outcome is unknown', async () => {
    const watched = watchedDatabase();
    const store = temporaryStore({ connect: watched.connect });
    const [one, other] = [await startRun(store), await startRun(store)];
    let failures = 2;
    watched.onCommit = commit => {
      if (failures-- > 0) throw diskBroke();
      commit();
    };
    const outcomes = await Promise.all([
      store.commit({ at: at(), events: [signal('a')] }, one.guard),
      store.commit({ at: at(), events: [signal('b')] }, other.guard),
    ]);
    expect(codes(outcomes)).toEqual(['store/outcome-unknown', 'ok']);
    expect([(await store.run(one.run))?.nextSeq, (await store.run(other.run))?.nextSeq]).toEqual([1, 2]);
    await one.write({ at: at(), events: [signal('again')] });
  });
});

describe('a disk that is full', () => {
  it('[D9] refuses what does not fit and keeps every other member of the group, each answered rightly', async () => {
    const watched = watchedDatabase();
    const store = temporaryStore({ connect: watched.connect });
    const [one, big, other] = [await startRun(store), await startRun(store), await startRun(store)];
    const database = watched.database();
    const pages = Number(database.prepare('pragma page_count').get()?.page_count);
    database.exec(`pragma max_page_count = ${pages + 12}`);
    let wasGone = false;
    watched.onCommit = commit => {
      wasGone ||= !database.isTransaction;
      commit();
    };
    const huge = Array.from({ length: 60 }, (_, index) => interval('state', `k${index}`, 0, set('x'.repeat(20_000))));
    const outcomes = await Promise.all([
      store.commit({ at: at(), events: [signal('a')] }, one.guard),
      store.commit({ at: at(), frame: frame(0), intervals: huge, events: [signal('huge')] }, big.guard),
      store.commit({ at: at(), events: [signal('b')] }, other.guard),
    ]);
    expect(codes(outcomes)).toEqual(['ok', 'STORE_IO_FAILED', 'ok']);
    expect(outcomes[1]).toMatchObject({
      error: { retry: { kind: 'retryable_immediate' }, details: { sqliteCode: 13 } },
    });

    database.exec(`pragma max_page_count = ${pages + 2_000}`);
    await big.write({ at: at(), frame: frame(0), intervals: huge, events: [signal('huge')] });
    const counts = [one, big, other].map(async ({ run }) => (await store.events(run, 0, 10)).length);
    expect(await Promise.all(counts)).toEqual([2, 2, 2]);
    expect(await store.valueAt(big.run, 'state', 'k59', 0)).toBe('x'.repeat(20_000));
    expect(wasGone).toBe(false);
  });
});

describe('closing a store', () => {
  it('[D10] commits what waits, takes nothing more, and what was answered is there when it is opened again', async () => {
    const store = temporaryStore();
    const writer = await startRun(store);
    const waiting = store.commit({ at: at(), events: [signal('waits')] }, writer.guard);
    // Reaches the queue before the store is closed.
    await Promise.resolve();
    store.close();
    expect(codes([await waiting, await store.commit({ at: at() }, writer.guard)])).toEqual(['ok', 'STORE_IO_FAILED']);
    const again = opened(store.home);
    expect((await again.events(writer.run, 0, 10)).length).toBe(2);
    again.close();
  });
});
