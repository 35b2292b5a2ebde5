import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createIdSource, type Digest, EMPTY_HEAD, type EventId, type Json, type RunId } from '@signalbox/model';
import type { AnyEvent, EventDraft, IntervalSpace, RunRecord } from '@signalbox/runs';
import { fakeClock, seededRng } from '@signalbox/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { at, created, frame, gone, interval, key, newRun, set, startRun } from '../../../runs/test/builders.ts';
import { isChained } from '../../../runs/test/log-chain.ts';
import { longRun } from '../support/long-runs.ts';
import { opened, temporaryHome, temporaryStore } from '../support/stores.ts';

const ids = createIdSource(fakeClock(), seededRng(7));
const HOUR = 3_600_000;
const NOW = Date.parse('2026-06-01T00:00:00.000Z');

const keep = (store: OpenStore, run: RunId, kept: RunRecord['kept'] | null) => {
  const fields = { type: 'run.kept', kept: kept !== null, by: 'anna' } as const;
  const event = { id: ids.mint<EventId>(), ts: at(99), ...fields } as EventDraft;
  return store.commit({ at: at(99), retention: { kept }, events: [event] }, { run, version: 'any' });
};

type OpenStore = ReturnType<typeof opened>;
const spaces: readonly IntervalSpace[] = ['node', 'status', 'state', 'read'];

async function pictureAt(store: OpenStore, run: RunId, index: number): Promise<Json> {
  const parts = await Promise.all(spaces.map(space => store.at(run, space, index)));
  return parts.map(part => Object.fromEntries([...part].sort())) as Json;
}

async function collapse(store: OpenStore, run: RunId) {
  const { ranges, ...weight } = store.retention.weighCollapse(run);
  const request = { at: at(99), by: 'gc', why: 'it is old', eventId: ids.mint<EventId>() };
  const done = store.takenAway.collapse(run, ranges, request);
  if (!done.ok) throw new Error(done.error.message);
  return weight;
}

describe('a run that is collapsed', () => {
  it('[D42] keeps first, last and telling frames as they were and the chain of its log, and says what is gone', async () => {
    const store = temporaryStore();
    const { run } = await longRun(store, 'growing list', 40);
    const failed = {
      id: ids.mint<EventId>(),
      ts: at(),
      type: 'handler.failed',
      node: key('step'),
      handler: 'onFinished',
      frame: 20,
      error: 'no',
    };
    await store.commit({ at: at(), events: [failed as EventDraft] }, { run, version: 'any' });
    const kept = [0, 20, 39, 40];
    const before = await Promise.all(kept.map(index => pictureAt(store, run, index)));
    const transitions = (await store.transitions(run, { limit: 1000 })).items;
    const weight = await collapse(store, run);
    expect(weight).toEqual({ frames: 37, bytes: expect.any(Number) });
    expect(await Promise.all(kept.map(index => pictureAt(store, run, index)))).toEqual(before);
    const ranges = [
      { from: 1, to: 19 },
      { from: 21, to: 38 },
    ];
    expect((await store.run(run))?.collected).toEqual(ranges);
    expect((await store.frames(run, 0, 100)).map(({ index }) => index)).toEqual([0, 20, 39]);
    expect(await store.frame(run, 7)).toBeUndefined();
    expect((await store.transitions(run, { limit: 1000 })).items).toEqual(transitions);
    expect(await isChained(store, run)).toBe(true);
    const last = (await store.events(run, 0, 1000)).at(-1)?.event as AnyEvent;
    expect(last).toMatchObject({ type: 'run.collapsed', frames: ranges, by: 'gc' });
  });

  it('[D42] shows nothing of a collected frame, to its owner and to readers, instead of what was before it', async () => {
    const store = temporaryStore();
    const { run } = await longRun(store, 'iterations', 10);
    await collapse(store, run);
    expect(await store.at(run, 'state', 5)).toEqual(new Map());
    expect(await store.valueAt(run, 'state', 'i', 5)).toBeUndefined();
    expect(await store.valueAt(run, 'state', 'i', 10)).toBe(9);
  });

  it('[D42] goes on where it was, in this process and in the next', async () => {
    const home = temporaryHome();
    const first = opened(home);
    const writer = await longRun(first, 'growing list', 12);
    await collapse(first, writer.run);
    const list = (await first.valueAt(writer.run, 'state', 'log', 12)) as readonly Json[];
    await writer.write({
      at: at(),
      frame: frame(12),
      intervals: [
        interval('state', 'log', 12, {
          kind: 'patch',
          steps: [{ op: 'splice', path: [], at: list.length, remove: 0, insert: ['more'] }],
        }),
      ],
    });
    expect(await first.valueAt(writer.run, 'state', 'log', 12)).toEqual([...list, 'more']);
    first.close();
    const next = opened(home);
    expect(await next.valueAt(writer.run, 'state', 'log', 12)).toEqual([...list, 'more']);
    expect((await next.run(writer.run))?.collected).toEqual([{ from: 1, to: 10 }]);
    next.close();
  });

  it('[D43] shows in its kept frames what it showed, whatever was written when', async () => {
    const change = fc.oneof(
      fc.integer({ min: 0, max: 3 }).map(value => ({ kind: 'set' as const, value: [value] })),
      fc.integer({ min: 0, max: 9 }).map(value => ({ kind: 'add' as const, value })),
      fc.constant({ kind: 'gone' as const }),
    );
    const history = fc.array(fc.record({ a: fc.option(change), b: fc.option(change) }), {
      minLength: 3,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(history, fc.array(fc.nat(11)), async (steps, failing) => {
        const store = temporaryStore();
        const writer = await startRun(store, newRun(), ids.mint());
        const values = new Map<string, number[]>();
        for (const [index, step] of steps.entries()) {
          const intervals = Object.entries(step).flatMap(([name, wanted]) => {
            const now = values.get(name);
            if (wanted === null || (wanted.kind !== 'set' && now === undefined)) return [];
            if (wanted.kind === 'gone') {
              values.delete(name);
              return [interval('state', name, index, gone)];
            }
            if (wanted.kind === 'set') {
              values.set(name, wanted.value);
              return [interval('state', name, index, set(wanted.value))];
            }
            values.set(name, [...(now ?? []), wanted.value]);
            return [
              interval('state', name, index, {
                kind: 'patch',
                steps: [{ op: 'splice', path: [], at: now?.length ?? 0, remove: 0, insert: [wanted.value] }],
              }),
            ];
          });
          const events = failing.includes(index)
            ? [
                {
                  id: ids.mint<EventId>(),
                  ts: at(),
                  type: 'handler.failed',
                  node: key('n'),
                  handler: 'h',
                  frame: index,
                  error: '',
                } as EventDraft,
              ]
            : [];
          await writer.write({ at: at(), frame: frame(index), intervals, events });
        }
        const before = await Promise.all(steps.map((_, index) => pictureAt(store, writer.run, index)));
        await collapse(store, writer.run);
        const left = (await store.frames(writer.run, 0, 100)).map(({ index }) => index);
        expect(left).toEqual(
          [...new Set([0, ...failing.filter(index => index < steps.length), steps.length - 1])].sort((a, b) => a - b),
        );
        expect(await Promise.all(left.map(index => pictureAt(store, writer.run, index)))).toEqual(
          left.map(index => before[index]),
        );
      }),
      { numRuns: 25 },
    );
  });

  it('[D42] keeps the frame that a fork began from', async () => {
    const store = temporaryStore();
    const { run } = await longRun(store, 'iterations', 9);
    const origin = { kind: 'fork', run, frame: 4, head: EMPTY_HEAD as Digest } as const;
    await startRun(store, newRun({ origin }), ids.mint());
    await collapse(store, run);
    expect((await store.frames(run, 0, 100)).map(({ index }) => index)).toEqual([0, 4, 8]);
  });

  it('[D42] cannot be forked from a collected frame', async () => {
    const store = temporaryStore();
    const { run } = await longRun(store, 'iterations', 9);
    await collapse(store, run);
    const fork = async (index: number) => {
      const id = ids.mint<RunId>();
      const origin = { kind: 'fork', run, frame: index, head: EMPTY_HEAD as Digest } as const;
      const writes = { ...created(newRun({ origin })), frame: frame(0), inherit: { run, frame: index } };
      return store.commit(writes, { run: id, epoch: 0, version: 0 });
    };
    expect(await fork(4)).toMatchObject({ ok: false, error: { message: expect.stringContaining('was collected') } });
    expect(await fork(8)).toMatchObject({ ok: true });
  });
});

describe('a run that is kept', () => {
  it('[D44] says by whom and since when, until the mark is taken away; each with its event', async () => {
    const home = temporaryHome();
    const store = opened(home);
    const writer = await startRun(store, newRun(), ids.mint());
    const told: string[] = [];
    store.subscribe(writer.run, ({ events }) => told.push(...events.map(({ event }) => event.type)));
    await keep(store, writer.run, { at: at(1), by: 'anna' });
    expect((await store.run(writer.run))?.kept).toEqual({ at: at(1), by: 'anna' });
    await new Promise(process.nextTick);
    expect(told).toEqual(['run.kept']);
    // A driver that knows nothing of it does not take it away.
    await writer.write({ at: at(2), run: { kind: 'change', change: { status: 'paused' } } });
    store.close();
    const next = opened(home);
    expect(await next.run(writer.run)).toMatchObject({ status: 'paused', kept: { at: at(1), by: 'anna' } });
    expect(next.retention.retained()).toMatchObject([{ id: writer.run, isKept: true, isCollapsed: false }]);
    await keep(next, writer.run, null);
    expect((await next.run(writer.run))?.kept).toBeUndefined();
    expect(await isChained(next, writer.run)).toBe(true);
    expect(await keep(next, ids.mint(), null)).toMatchObject({ ok: false, error: { code: 'run/unknown' } });
    next.close();
  });
});

describe('a run that is removed', () => {
  it('[D45] leaves no row in any table, and no trace for the next run of its number', async () => {
    const store = temporaryStore();
    const first = await longRun(store, 'growing list', 5);
    const second = await startRun(store, newRun(), ids.mint());
    await second.write({ at: at(), frame: frame(0), intervals: [interval('state', 'log', 0, set(['mine']))] });
    expect(store.retention.weigh([second.run])).toBeGreaterThan(100);
    expect(store.retention.remove([second.run])).toEqual({ ok: true, value: undefined });
    expect(await store.run(second.run)).toBeUndefined();
    expect(store.retention.weigh([second.run])).toBe(0);
    // It has the number of the one that went.
    const third = await startRun(store, newRun(), ids.mint());
    await third.write({ at: at(), frame: frame(0) });
    expect(await store.at(third.run, 'state', 0)).toEqual(new Map());
    expect((await store.events(third.run, 0, 10)).length).toBe(1);
    expect(await isChained(store, first.run)).toBe(true);
  });
});

describe('blobs', () => {
  const large = (letter: string) => letter.repeat(100_000);
  const makeOld = (home: string) => {
    for (const entry of readdirSync(path.join(home, 'blobs'), { recursive: true, encoding: 'utf8' })) {
      utimesSync(path.join(home, 'blobs', entry), new Date(NOW - 2 * HOUR), new Date(NOW - 2 * HOUR));
    }
  };
  const fileOf = (home: string, name: Digest) => {
    const hex = name.slice('sha256:'.length);
    return path.join(home, 'blobs', hex.slice(0, 2), hex);
  };
  const put = async (store: OpenStore, content: string | Uint8Array): Promise<Digest> => {
    const names = await store.put([Buffer.from(content)]);
    if (!names.ok) throw new Error(names.error.message);
    return names.value[0] as Digest;
  };
  const unreferenced = (store: OpenStore, without: readonly RunId[] = [], texts: readonly string[] = []) =>
    store.retention.unreferenced({ nowMs: NOW, without, texts });

  it('[D46] stay while a row, a text or another blob refers to them, and while they are young', async () => {
    const store = temporaryStore();
    const { home } = store;
    const writer = await startRun(store, newRun(), ids.mint());
    await writer.write({ at: at(), frame: frame(0), intervals: [interval('state', 'big', 0, set(large('a')))] });
    const inText = await put(store, large('b'));
    const inside = await put(store, large('c'));
    const manifest = await put(store, JSON.stringify({ entries: [{ digest: inside }] }));
    const loose = await put(store, large('d'));
    const binary = await put(store, Buffer.concat([Buffer.from([0]), Buffer.from(loose)]));
    expect(await unreferenced(store)).toEqual([]);
    makeOld(home);
    const texts = [`{"snapshot":"${manifest}"}`, `x ${inText} ${binary}`];
    expect((await unreferenced(store, [], texts)).map(({ name }) => `sha256:${name}`)).toEqual([loose]);
    expect(await unreferenced(store, [writer.run], texts)).toHaveLength(2);
    const going = await unreferenced(store, [], texts);
    expect(store.retention.removeBlobs(going, NOW)).toEqual(going);
    expect(existsSync(fileOf(home, loose))).toBe(false);
    expect(await store.valueAt(writer.run, 'state', 'big', 0)).toBe(large('a'));
  });

  it('[D46] that are put again are young again, also those that were removed', async () => {
    const store = temporaryStore();
    const name = await put(store, large('a'));
    makeOld(store.home);
    const going = await unreferenced(store);
    expect(going).toHaveLength(1);
    await put(store, large('a'));
    expect(store.retention.removeBlobs(going, NOW)).toEqual([]);
    makeOld(store.home);
    expect(store.retention.removeBlobs(going, NOW)).toEqual(going);
    await put(store, large('a'));
    expect(await store.get(name)).toMatchObject({ ok: true });
  });

  it('[D46] leave no rest of a write that was cut off', async () => {
    const store = temporaryStore();
    await put(store, large('a'));
    mkdirSync(path.join(store.home, 'blobs', 'ff'), { recursive: true });
    writeFileSync(path.join(store.home, 'blobs', 'ff', '.ff00.123.tmp'), 'half');
    writeFileSync(path.join(store.home, 'blobs', 'README'), 'not ours');
    makeOld(store.home);
    const names = (await unreferenced(store)).map(({ path: file }) => path.basename(file));
    expect(names.filter(name => name.endsWith('.tmp'))).toEqual(['.ff00.123.tmp']);
    expect(names).not.toContain('README');
  });
});
