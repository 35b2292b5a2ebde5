import { portableHasher } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { at, frame, newRun, set, signal, startRun } from '../test/builders.ts';
import { memoryRuns } from './memory/memory-runs.ts';
import { eventsBefore, eventsOf, everyRun, transitionsIn } from './whole-lists.ts';

describe('a whole list', () => {
  it('[L80] has every run that matches, over as many pages as there are', async () => {
    const store = memoryRuns(portableHasher);
    const waiting: string[] = [];
    for (let n = 0; n < 250; n++) {
      const { run } = await startRun(store, newRun({ status: n % 2 === 0 ? 'queued' : 'running' }));
      if (n % 2 === 0) waiting.unshift(run);
    }
    const found: string[] = [];
    for await (const { id } of everyRun(store, { status: ['queued'] })) found.push(id);
    expect(found).toEqual(waiting);
  });

  it('[L80] has every state change of its frame, and none of the next', async () => {
    const store = memoryRuns(portableHasher);
    const writer = await startRun(store);
    await writer.write({ at: at(), frame: frame(0) });
    const changes = (of: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({
        frame: of,
        index,
        key: `k${index}`,
        change: set(index),
        at: at(),
      }));
    await writer.write({ at: at(), transitions: changes(0, 250) });
    await writer.write({ at: at(), frame: frame(1), transitions: changes(1, 3) });
    const found: string[] = [];
    for await (const { key } of transitionsIn(store, writer.run, 0)) found.push(key);
    expect(found).toEqual(changes(0, 250).map(({ key }) => key));
  });

  it('[L80] has every event of a run, forwards and backwards', async () => {
    const store = memoryRuns(portableHasher);
    const writer = await startRun(store);
    for (let n = 0; n < 3; n++) {
      const signals = Array.from({ length: 400 }, (_, at) => signal(`${n}-${at}`));
      await writer.write({ at: at(), events: signals });
    }
    const told = (await store.events(writer.run, 0, 10_000)).map(({ event }) => event.seq);
    expect(told.length).toBeGreaterThan(1_200);
    const [all, later, back]: [number[], number[], number[]] = [[], [], []];
    for await (const { seq } of eventsOf(store, writer.run)) all.push(seq);
    for await (const { seq } of eventsOf(store, writer.run, 700)) later.push(seq);
    for await (const { seq } of eventsBefore(store, writer.run, 1_100)) back.push(seq);
    expect([all, later, back]).toEqual([told, told.slice(700), told.slice(0, 1_100).reverse()]);
  });
});
