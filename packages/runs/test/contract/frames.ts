import { nodeStatus } from '@signalbox/model';
import { type Change, changeBetween, type Transition } from '@signalbox/runs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { at, frame, gone, hashOf, interval, key, newRun, set, startRun } from '../builders.ts';

import type { RunStore } from './run-store.ts';

export function describeFrames(name: string, open: () => RunStore): void {
  describe(`frames in ${name}`, () => {
    it('[L19] follow each other, and each shows what held then', async () => {
      const store = open();
      const writer = await startRun(store);
      const status = (value: string) => set(nodeStatus.parse(value));
      await writer.write({
        at: at(),
        frame: frame(0, { mounted: [key('a')] }),
        intervals: [
          interval('node', 'a', 0, set({ type: 'Task', index: 0 })),
          interval('status', 'a', 0, status('idle')),
          interval('state', 'count', 0, set(0)),
          interval('read', 'count', 0, set(true)),
        ],
      });
      await writer.write({ at: at(), intervals: [interval('status', 'a', 1, status('running'))] });
      await writer.write({ at: at(), frame: frame(1), intervals: [interval('state', 'count', 1, set(1))] });
      await writer.write({
        at: at(),
        frame: frame(2, { unmounted: [key('a')] }),
        intervals: [
          interval('node', 'a', 2, gone),
          interval('status', 'a', 2, gone),
          interval('state', 'b', 2, set(null)),
        ],
      });
      expect((await writer.refused({ at: at(), frame: frame(4) })).code).toBe('run/writes-refused');

      const whole = async (index: number) => ({
        node: Object.fromEntries(await store.at(writer.run, 'node', index)),
        status: Object.fromEntries(await store.at(writer.run, 'status', index)),
        state: Object.fromEntries(await store.at(writer.run, 'state', index)),
        read: Object.fromEntries(await store.at(writer.run, 'read', index)),
      });
      const node = { a: { type: 'Task', index: 0 } };
      const read = { count: true };
      expect(await whole(0)).toEqual({ node, status: { a: 'idle' }, state: { count: 0 }, read });
      expect(await whole(1)).toEqual({ node, status: { a: 'running' }, state: { count: 1 }, read });
      expect(await whole(2)).toEqual({ node: {}, status: {}, state: { b: null, count: 1 }, read });
      expect(await store.valueAt(writer.run, 'state', 'count', 0)).toBe(0);
      expect(await store.valueAt(writer.run, 'state', 'b', 1)).toBe(undefined);
      expect(await store.frames(writer.run, 1, 5)).toEqual([frame(1), frame(2, { unmounted: [key('a')] })]);
      expect(await store.frame(writer.run, 0)).toEqual(frame(0, { mounted: [key('a')] }));
      expect([await store.frame(writer.run, 3), (await store.run(writer.run))?.frames]).toEqual([undefined, 3]);
    });

    it('[L20] are written once: no value for an older frame, none ahead, none twice', async () => {
      const store = open();
      const writer = await startRun(store);
      for (const index of [0, 1, 2]) await writer.write({ at: at(), frame: frame(index) });
      const refusal = async (...intervals: ReturnType<typeof interval>[]) =>
        (await writer.refused({ at: at(), intervals })).code;
      expect(await refusal(interval('state', 'a', 1, set(1)))).toBe('run/writes-refused');
      expect(await refusal(interval('state', 'a', 4, set(1)))).toBe('run/writes-refused');
      expect(await refusal(interval('state', 'a', 3, set(1)), interval('state', 'a', 3, set(2)))).toBe(
        'run/writes-refused',
      );
      await writer.write({ at: at(), intervals: [interval('state', 'a', 3, set(1))] });
      expect(await refusal(interval('state', 'a', 2, set(1)))).toBe('run/writes-refused');
      await writer.write({ at: at(), intervals: [interval('state', 'a', 3, set(2))] });
      expect([
        await store.valueAt(writer.run, 'state', 'a', 2),
        await store.valueAt(writer.run, 'state', 'a', 3),
      ]).toEqual([undefined, 2]);
    });

    it('[L20] take a patch only where it fits what was there', async () => {
      const store = open();
      const writer = await startRun(store);
      const append = (at: number): Change => ({
        kind: 'patch',
        steps: [{ op: 'splice', path: ['log'], at, remove: 0, insert: ['line'] }],
      });
      expect((await writer.refused({ at: at(), intervals: [interval('state', 'a', 0, append(0))] })).code).toBe(
        'run/writes-refused',
      );
      await writer.write({ at: at(), frame: frame(0), intervals: [interval('state', 'a', 0, set({ log: [] }))] });
      await writer.write({ at: at(), frame: frame(1), intervals: [interval('state', 'a', 1, append(0))] });
      expect((await writer.refused({ at: at(), intervals: [interval('state', 'a', 2, append(2))] })).code).toBe(
        'run/writes-refused',
      );
      await writer.write({ at: at(), frame: frame(2), intervals: [interval('state', 'a', 2, gone)] });
      expect((await writer.refused({ at: at(), intervals: [interval('state', 'a', 3, append(0))] })).code).toBe(
        'run/writes-refused',
      );
      expect(await store.valueAt(writer.run, 'state', 'a', 1)).toEqual({ log: ['line'] });
      expect(await store.valueAt(writer.run, 'state', 'a', 2)).toBe(undefined);
    });

    it('[L71] are of the newest version of the plan, and every version stays known', async () => {
      const store = open();
      const files = (name: string) => ({
        ...{ root: '/plans', entry: '/plans/plan.tsx', engine: 'test', packages: [] },
        files: [{ path: 'plan.tsx', digest: hashOf(name) }],
      });
      const writer = await startRun(store, newRun({ source: files('first') }));
      await writer.write({ at: at(), frame: frame(0) });
      const change = { status: 'running', source: files('second') } as const;
      await writer.write({ at: at(), run: { kind: 'change', change }, frame: { ...frame(1), planVersion: 2 } });
      expect(await store.run(writer.run)).toMatchObject({ source: files('second'), earlierPlans: [files('first')] });
      expect((await store.frames(writer.run, 0, 9)).map(({ planVersion }) => planVersion)).toEqual([undefined, 2]);
      for (const planVersion of [{}, { planVersion: 3 }]) {
        expect(await writer.refused({ at: at(), frame: { ...frame(2), ...planVersion } })).toMatchObject({
          code: 'run/writes-refused',
          message: expect.stringContaining('plan version'),
        });
      }
      await writer.write({ at: at(), frame: { ...frame(2), planVersion: 2 } });
    });

    it('[L19] show the same after any history of values, whole or patched', async () => {
      const step = fc.record({
        name: fc.constantFrom('a', 'b'),
        grow: fc.option(fc.string({ minLength: 1, maxLength: 40 }), { freq: 5 }),
        again: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
          const store = open();
          const writer = await startRun(store);
          const now = new Map<string, string[]>();
          const shown: Record<string, readonly string[]>[] = [];
          for (const [index, { name: stateKey, grow, again }] of steps.entries()) {
            const old = now.get(stateKey);
            const next = grow === null ? undefined : [...(old ?? []), grow];
            const change = changeBetween(old, next);
            if (next === undefined) now.delete(stateKey);
            else now.set(stateKey, next);
            const intervals = change && [interval('state', stateKey, index, change)];
            await writer.write({ at: at(), frame: frame(index), ...(intervals && { intervals }) });
            const last = now.get(stateKey);
            if (again && last !== undefined) {
              const more = [...last, `again ${index}`];
              now.set(stateKey, more);
              const second = changeBetween(last, more);
              if (second !== undefined) {
                await writer.write({ at: at(), intervals: [interval('state', stateKey, index, second)] });
              }
            }
            shown.push(Object.fromEntries(now));
          }
          for (const [index, expected] of shown.entries()) {
            expect(Object.fromEntries(await store.at(writer.run, 'state', index))).toEqual(expected);
          }
        }),
        { numRuns: 30 },
      );
    });

    it('[L21] have transitions that show both values, in order, page by page', async () => {
      const store = open();
      const writer = await startRun(store);
      const transition = (index: number, name: string, change: Change): Transition => ({
        frame: 0,
        index,
        key: name,
        change,
        trigger: 'build.finished',
        node: key('build'),
        handler: 'onFinished',
        at: at(index),
      });
      const lines = (count: number) => Array.from({ length: count }, (_, line) => `line ${line} of a long log`);
      await writer.write({ at: at(), transitions: [transition(0, 'a', set(lines(50))), transition(1, 'b', set(1))] });
      const grown = changeBetween(lines(50), lines(51));
      if (grown?.kind !== 'patch') throw new Error('not a patch');
      await writer.write({ at: at(), transitions: [transition(2, 'a', grown), transition(3, 'b', gone)] });
      expect((await writer.refused({ at: at(), transitions: [transition(4, 'b', grown)] })).code).toBe(
        'run/writes-refused',
      );

      const { change: _, ...base } = transition(2, 'a', gone);
      const first = await store.transitions(writer.run, { limit: 2 });
      expect(first.items.map(({ key: name, old, new: value }) => [name, old, value])).toEqual([
        ['a', undefined, lines(50)],
        ['b', undefined, 1],
      ]);
      expect(first.next).toEqual({ frame: 0, index: 2 });
      const second = await store.transitions(writer.run, { limit: 2, ...(first.next && { from: first.next }) });
      expect(second.items[0]).toEqual({ ...base, old: lines(50), new: lines(51) });
      expect(second.items[1]).toMatchObject({ key: 'b', old: 1, new: undefined });
      expect(second.next).toBe(undefined);
      expect((await store.transitions(writer.run, { key: 'b' })).items.map(item => item.index)).toEqual([1, 3]);
    });
  });
}
