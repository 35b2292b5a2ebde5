import { type ArtifactId, portableHasher, type RunId } from '@signalbox/model';
import { anyEvent, openForeignRecord, runAfter, type Transition, type UsageRecord } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import {
  at,
  changed,
  created,
  frame,
  freshId,
  interval,
  newRun,
  owner,
  set,
  signal,
  startRun,
  task,
} from '../builders.ts';
import { isChained } from '../log-chain.ts';

import type { RunStore } from './run-store.ts';
import { artifactOf } from './sample-artifact.ts';

export function describeCommits(name: string, open: () => RunStore): void {
  describe(`commits in ${name}`, () => {
    it('[L12] number the events of a run from 0 without a gap, and chain its records by hash', async () => {
      const store = open();
      const [one, other] = [await startRun(store), await startRun(store)];
      await one.write({ at: at(), events: [signal('a'), signal('b')] });
      await other.write({ at: at(), events: [signal('c')] });
      await one.write({ at: at() });
      const last = await one.write({ at: at(), events: [signal('d', { deep: [1, 'ü', null] })] });

      const stored = await store.events(one.run, 0, 100);
      expect(stored.map(({ event }) => event.seq)).toEqual([0, 1, 2, 3]);
      expect(stored.every(({ event }) => anyEvent.safeParse(event).success)).toBe(true);
      expect([last.nextSeq, last.head]).toEqual([4, stored[3]?.hash]);
      expect(stored[1]?.hash).toBe(stored[2]?.hash);
      expect(await store.events(one.run, 2, 1)).toEqual([stored[2]]);
      expect((await store.events(other.run, 0, 100)).length).toBe(2);
      expect([await isChained(store, one.run), await isChained(store, other.run)]).toEqual([true, true]);
      const records = await store.records(one.run, 0, 100);
      expect(records.length).toBe(4);
      expect(await store.records(one.run, 1, 2)).toEqual(records.slice(1, 3));
    });

    it('[L90] are records that say everything they wrote, and what it came to', async () => {
      const store = open();
      const writer = await startRun(store, newRun({ input: { n: 1 } }));
      const { run } = writer;
      const done = task(run);
      const artifact = { ...artifactOf(freshId<ArtifactId>()), key: 'report' };
      await writer.write({
        ...changed({ phase: 'EXECUTE' }),
        frame: frame(0),
        intervals: [interval('state', 'a', 0, set('x'.repeat(70_000)))],
        tasks: [done],
        artifacts: [artifact],
        stream: [
          { task: done.id, index: 0, kind: 'token', payload: 'h', at: at() },
          { task: done.id, index: 1, kind: 'message', payload: { text: 'hi' }, at: at() },
        ],
        usage: [usage('c'), usage('c')],
        events: [signal('x')],
      });
      await store.commit({ at: at(5), usage: [usage('c')], events: [signal('y')] }, { run, version: 'any' });
      const opened = (await store.records(run, 0, 10)).map(record => openForeignRecord(record, portableHasher));
      const bodies = opened.map(record => (record.ok ? record.value : record.error));
      expect(bodies).toMatchObject([
        { header: { n: 0, who: 'driver', version: 1 }, body: { run: { kind: 'create', run: { input: { n: 1 } } } } },
        {
          header: { n: 1, who: 'driver', version: 2, blobs: [expect.any(String)] },
          body: {
            run: { kind: 'change', change: { phase: 'EXECUTE' } },
            frame: { index: 0 },
            intervals: [{ key: 'a', change: { kind: 'set', value: null } }],
            tasks: [{ id: done.id }],
            artifacts: [{ key: 'report', version: 1 }],
            stream: [{ index: 1, kind: 'message' }],
            usage: [{ call: 'c' }],
            events: [{ type: 'signal.received' }],
          },
        },
        { header: { n: 2, who: 'outside', version: 2 }, body: { events: [{ type: 'signal.received' }] } },
      ]);
      expect(bodies[2]).not.toHaveProperty('body.usage');
      expect(await store.stream(run, done.id, 0, 10)).toHaveLength(2);
      let after: Parameters<typeof runAfter>[0];
      for (const [n, { hash }] of (await store.records(run, 0, 10)).entries()) {
        const record = opened[n];
        const next = record?.ok ? runAfter(after, record.value, hash) : undefined;
        if (next?.ok !== true) throw new Error(`record ${n} does not follow`);
        after = next.value;
      }
      expect(after).toEqual(await store.run(run));
    });

    it('[L12] keep all of a write set or nothing', async () => {
      const store = open();
      const writer = await startRun(store);
      const before = await store.run(writer.run);
      const error = await writer.refused({
        ...changed({ phase: 'EXECUTE' }),
        frame: frame(0),
        intervals: [interval('state', 'a', 0, set(1)), interval('state', 'b', 7, set(1))],
        tasks: [task(writer.run)],
        events: [signal('lost')],
      });
      expect(error.code).toBe('run/writes-refused');
      expect(await store.run(writer.run)).toEqual(before);
      expect(await store.events(writer.run, 1, 10)).toEqual([]);
      expect([await store.frame(writer.run, 0), await store.tasks(writer.run)]).toEqual([undefined, []]);
      expect(await store.valueAt(writer.run, 'state', 'a', 0)).toBe(undefined);
    });

    it('[L308] begin with the creation of their run: nothing is told before it', async () => {
      const store = open();
      const run = freshId<RunId>();
      const creation = created();
      const guard = { run, epoch: 0, version: 0 } as const;
      for (const events of [[], [signal('early'), ...(creation.events ?? [])]]) {
        expect(await store.commit({ ...creation, events }, guard)).toMatchObject({
          ok: false,
          error: { code: 'run/writes-refused', message: expect.stringContaining('run.created') },
        });
      }
      expect(
        await store.commit({ ...creation, events: [...(creation.events ?? []), signal('later')] }, guard),
      ).toMatchObject({ ok: true });
      expect((await store.events(run, 0, 10)).map(({ event }) => event.type)).toEqual([
        'run.created',
        'signal.received',
      ]);
    });

    it('[L13] that do not fit their guard change nothing and say why', async () => {
      const store = open();
      const writer = await startRun(store);
      await writer.write(changed({ epoch: 4 }));
      const { run } = writer;
      const before = await store.run(run);
      const code = async (guard: Parameters<typeof store.commit>[1], writes = changed({ phase: 'VERIFY' })) =>
        (await writer.refused(writes, guard)).code;
      expect(await code({ run, epoch: 3, version: 2 })).toBe('run/stale-epoch');
      expect(await code({ run, epoch: 5, version: 2 })).toBe('run/stale-epoch');
      expect(await code({ run, epoch: 4, version: 1 })).toBe('run/stale-version');
      expect(await code({ run, epoch: 4, version: 3 })).toBe('run/stale-version');
      expect(await code({ run, epoch: 4, version: 0 }, created())).toBe('run/exists');
      expect(await code({ run, epoch: 4, version: 2 }, created())).toBe('run/exists');
      expect(await code({ run: freshId<RunId>(), epoch: 0, version: 1 })).toBe('run/unknown');
      expect(await code({ run: freshId<RunId>(), epoch: 0, version: 0 })).toBe('run/unknown');
      expect(await code({ run: freshId<RunId>(), version: 'any' })).toBe('run/unknown');
      expect(await store.run(run)).toEqual(before);
    });

    it('[L13] of one version succeed once, however many come at the same time', async () => {
      const store = open();
      const { run, guard } = await startRun(store);
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, index) => store.commit({ at: at(), events: [signal(`try ${index}`)] }, guard)),
      );
      expect(outcomes.map(outcome => (outcome.ok ? 'ok' : outcome.error.code)).sort()).toEqual([
        'ok',
        ...Array.from({ length: 7 }, () => 'run/stale-version'),
      ]);
      expect((await store.events(run, 0, 100)).length).toBe(2);
    });

    it('[L14] of others than the driver count as no version and touch nothing of its part', async () => {
      const store = open();
      const writer = await startRun(store);
      const { run } = writer;
      const any = { run, version: 'any' } as const;
      expect(await store.commit({ at: at(3), events: [signal('go')] }, any)).toMatchObject({
        ok: true,
        value: { version: 1, nextSeq: 2 },
      });
      for (const writes of [
        changed({ phase: 'DONE' }),
        { at: at(), frame: frame(0) },
        { at: at(), intervals: [] },
        { at: at(), transitions: [] },
        { at: at(), tasks: [task(run)] },
      ]) {
        expect((await writer.refused(writes, any)).code).toBe('run/writes-refused');
      }
      await writer.write({ at: at(), events: [signal('driver goes on')] });
      expect(await store.run(run)).toMatchObject({ version: 2, nextSeq: 3 });
    });

    it('[L15] of whoever held a run before it was claimed are refused', async () => {
      const store = open();
      const first = await startRun(store, newRun({ owner: owner('first') }));
      const stale = first.guard;
      await first.write(changed({ epoch: 1, owner: owner('second') }));
      expect((await first.refused(changed({ phase: 'EXECUTE' }), stale)).code).toBe('run/stale-epoch');
      expect((await first.refused(changed({ epoch: 1 }))).code).toBe('run/writes-refused');
      expect(await store.run(first.run)).toMatchObject({ epoch: 1, owner: 'second', version: 2 });
    });

    it('[L16] that are not valid write sets are refused with the place of the fault', async () => {
      const store = open();
      const writer = await startRun(store);
      const bad = (writes: unknown) => writer.refused(writes as never);
      expect(await bad({ at: 'yesterday' })).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { place: 'writes.at' },
      });
      expect(await bad({ at: at(), events: [{ ...signal('x'), type: 'run.exploded' }] })).toMatchObject({
        details: { place: 'writes.events[0].type' },
      });
      expect(await bad({ at: at(), events: [{ ...signal('x'), seq: 9 }] })).toMatchObject({ code: 'VALIDATION_ERROR' });
      expect(await bad({ at: at(), intervals: [interval('state', 'a', 0, set(Number.NaN))] })).toMatchObject({
        code: 'VALIDATION_ERROR',
      });
      expect(await bad({ at: at(), callback: () => 1 })).toMatchObject({ code: 'VALIDATION_ERROR' });
    });

    it('[L17] change a run as its lifecycle allows, and note when it started and ended', async () => {
      const store = open();
      const writer = await startRun(store, newRun({ status: 'queued', input: { n: 1 }, tags: ['x'] }));
      expect((await writer.refused(changed({ status: 'completed' }))).code).toBe('run/writes-refused');
      await writer.write({ ...changed({ status: 'running' }), at: at(2) });
      await writer.write({ ...changed({ status: 'stopped', stopReason: 'cost' }), at: at(3) });
      const stopped = await store.run(writer.run);
      expect(stopped).toMatchObject({
        status: 'stopped',
        stopReason: 'cost',
        startedAt: at(2),
        endedAt: at(3),
        updatedAt: at(3),
        input: { n: 1 },
        tags: ['x'],
      });
      await writer.write({ ...changed({ status: 'running', stopReason: null }), at: at(4) });
      await writer.write({ ...changed({ status: 'completed', output: null, inputSeq: 1 }), at: at(5) });
      const { stopReason: _, ...rest } = stopped ?? {};
      expect(await store.run(writer.run)).toEqual({
        ...rest,
        records: 5,
        head: expect.not.stringMatching(String(stopped?.head)),
        status: 'completed',
        output: null,
        inputSeq: 1,
        version: 5,
        endedAt: at(5),
        updatedAt: at(5),
      });
    });

    it('[L18] refuse what is there already: events from outside, transitions, artifacts', async () => {
      const store = open();
      const [writer, other] = [await startRun(store), await startRun(store)];
      const any = { run: writer.run, version: 'any' } as const;
      const event = signal('once');
      const transition: Transition = { frame: 0, index: 0, key: 'a', change: set(1), at: at() };
      const artifact = artifactOf(freshId<ArtifactId>());
      expect((await store.commit({ at: at(), events: [event] }, any)).ok).toBe(true);
      await writer.write({ at: at(), transitions: [transition], artifacts: [artifact] });
      expect((await writer.refused({ at: at(), events: [event] }, any)).code).toBe('run/writes-refused');
      expect((await writer.refused({ at: at(), events: [signal('x'), event] }, any)).code).toBe('run/writes-refused');
      const elsewhere = { run: other.run, version: 'any' } as const;
      expect((await writer.refused({ at: at(), events: [event] }, elsewhere)).code).toBe('run/writes-refused');
      for (const writes of [{ transitions: [transition] }, { artifacts: [artifact] }]) {
        expect((await writer.refused({ at: at(), ...writes })).code).toBe('run/writes-refused');
      }
      expect((await store.events(writer.run, 0, 10)).length).toBe(2);
      expect((await store.events(other.run, 0, 10)).length).toBe(1);
    });
  });
}

function usage(call: string): UsageRecord {
  const tokens = { inputTokens: 1, outputTokens: 2, cachedTokens: 0 };
  return { call, ...tokens, toolCalls: 0, costMicroUsd: 3, wallMs: 4, at: at() };
}
