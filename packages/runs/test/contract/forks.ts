import type { Digest, RunId } from '@signalbox/model';
import { inheritedTaskId, type WriteSet } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import {
  at,
  changed,
  created,
  frame,
  freshId,
  gone,
  hashOf,
  interval,
  newRun,
  runCreated,
  set,
  startRun,
  task,
} from '../builders.ts';
import type { RunStore } from './run-store.ts';

const spaces = ['node', 'status', 'state', 'read'] as const;

function forkOf(parent: RunId, index: number, head: Digest): WriteSet {
  const run = newRun({ status: 'paused', origin: { kind: 'fork', run: parent, frame: index, head } });
  return {
    at: at(9),
    run: { kind: 'create', run },
    inherit: { run: parent, frame: index },
    frame: frame(0),
    events: [runCreated(run)],
  };
}

export function describeForks(name: string, open: () => RunStore): void {
  describe(`forks in ${name}`, () => {
    /** A run of three frames whose state is set, patched, deleted and large. */
    async function parentRun(store: RunStore) {
      const writer = await startRun(store);
      const { run } = writer;
      const done = task(run, { status: 'running', startedAt: at(1) });
      const large = 'x'.repeat(100_000);
      await writer.write({
        at: at(1),
        frame: frame(0),
        intervals: [
          interval('node', 'build', 0, set({ kind: 'task' })),
          interval('status', 'build', 0, set({ status: 'running', iteration: 0 })),
          interval('state', 'n', 0, set(1)),
          interval('state', 'list', 0, set(['a'])),
          interval('state', 'large', 0, set(large)),
          interval('read', 'n', 0, set(true)),
        ],
        tasks: [done],
      });
      const patch = {
        kind: 'patch' as const,
        steps: [{ op: 'splice' as const, path: [], at: 1, remove: 0, insert: ['b'] }],
      };
      await writer.write({
        at: at(2),
        frame: frame(1),
        intervals: [interval('state', 'list', 1, patch), interval('state', 'n', 1, set(2))],
        tasks: [{ ...done, status: 'done', result: { big: large }, handledFrame: 0, endedAt: at(2) }],
      });
      await writer.write({ at: at(3), frame: frame(2), intervals: [interval('state', 'n', 2, gone)] });
      return { writer, run, done: done.id };
    }
    const pictureOf = async (store: RunStore, run: RunId) => ({
      record: await store.run(run),
      frames: await store.frames(run, 0, 10),
      values: await Promise.all(spaces.map(space => store.at(run, space, 9))),
      transitions: await store.transitions(run),
      tasks: await store.tasks(run),
      events: await store.events(run, 0, 100),
    });

    it('[L32] begin with what held in the frame of their parent, and leave the parent as it was', async () => {
      const store = open();
      const { run, done } = await parentRun(store);
      const before = await pictureOf(store, run);
      for (const index of [0, 1, 2]) {
        const fork = freshId<RunId>();
        const guard = { run: fork, epoch: 0, version: 0 };
        const writes = forkOf(run, index, hashOf(index));
        expect(await store.commit(writes, guard)).toMatchObject({ ok: true });
        for (const space of spaces) {
          expect(await store.at(fork, space, 0)).toEqual(await store.at(run, space, index));
        }
        const tasks = await store.tasks(fork);
        const parents = await store.tasks(run);
        expect(tasks).toEqual(
          index === 0 ? [] : parents.map(one => ({ ...one, id: inheritedTaskId(fork, done), handledFrame: 0 })),
        );
        expect(await store.run(fork)).toMatchObject({ status: 'paused', frames: 1, origin: { run, frame: index } });
      }
      expect(await pictureOf(store, run)).toEqual(before);
      expect((await store.children(run)).map(({ origin }) => origin?.kind)).toEqual(['fork', 'fork', 'fork']);
    });

    it('[L33] go on from what they inherited, and have it as the first transitions of their state', async () => {
      const store = open();
      const { run } = await parentRun(store);
      const fork = freshId<RunId>();
      const guard = { run: fork, epoch: 0, version: 0 };
      expect(await store.commit(forkOf(run, 1, hashOf(1)), guard)).toMatchObject({ ok: true });
      const steps = [{ op: 'splice' as const, path: [], at: 2, remove: 0, insert: ['c'] }];
      const written = await store.commit(
        {
          at: at(10),
          frame: frame(1),
          intervals: [interval('state', 'list', 1, { kind: 'patch', steps })],
          transitions: [{ frame: 0, index: 3, key: 'list', change: { kind: 'patch', steps }, at: at(10) }],
        },
        { run: fork, epoch: 0, version: 1 },
      );
      expect(written).toMatchObject({ ok: true });
      expect(await store.valueAt(fork, 'state', 'list', 1)).toEqual(['a', 'b', 'c']);
      const { items } = await store.transitions(fork);
      expect(items.map(one => [one.index, one.key, one.trigger])).toEqual([
        [0, 'large', 'run.forked'],
        [1, 'list', 'run.forked'],
        [2, 'n', 'run.forked'],
        [3, 'list', undefined],
      ]);
      expect(items.at(-1)).toMatchObject({ old: ['a', 'b'], new: ['a', 'b', 'c'] });
    });

    it('[L34] inherit only with the commit that makes them, from a frame that is there and that they name', async () => {
      const store = open();
      const { writer, run } = await parentRun(store);
      const fork = freshId<RunId>();
      const guard = { run: fork, epoch: 0, version: 0 };
      const good = forkOf(run, 1, hashOf(1));
      const refusals: readonly WriteSet[] = [
        forkOf(run, 3, hashOf(1)),
        forkOf(freshId<RunId>(), 1, hashOf(1)),
        { ...good, inherit: { run, frame: 2 } },
        { ...created(), inherit: { run, frame: 1 } },
      ];
      for (const writes of refusals) {
        expect(await store.commit(writes, guard)).toMatchObject({ ok: false, error: { code: 'run/writes-refused' } });
      }
      const late = { ...changed({}), inherit: { run, frame: 0 } };
      expect((await writer.refused(late)).code).toBe('run/writes-refused');
      expect((await writer.refused(late, { run, version: 'any' })).code).toBe('run/writes-refused');
      expect(await store.run(fork)).toBe(undefined);
    });
  });
}
