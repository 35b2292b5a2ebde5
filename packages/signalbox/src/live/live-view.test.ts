import { stripVTControlCharacters } from 'node:util';
import type { RunId, RunReader, StoredEvent } from '@signalbox/app/host';
import { expect, it } from 'vitest';
import { memoryScreen } from '../../test/memory-screen.ts';
import { memoryTerminal } from '../../test/memory-terminal.ts';
import { paintOf } from '../terminal.ts';
import { liveViewOf } from './live-view.ts';

const TS = '1970-01-01T00:00:00.000Z';

/** A run of two tasks as it is committed; the test moves it on. */
function committedRun() {
  const run = { frames: 1, nextSeq: 1, reads: 0, statuses: new Map([['a', 'running']]) };
  const nodes = new Map([
    ['p', { kind: 'plan', index: 0, data: { name: 'two' } }],
    ['a', { kind: 'task', parent: 'p', index: 0, data: { retries: 3 } }],
    ['b', { kind: 'task', parent: 'p', index: 1, data: { retries: 3 } }],
  ]);
  const reader = {
    run: async () => ({ frames: run.frames, nextSeq: run.nextSeq }),
    async at(_run: RunId, space: string) {
      if (space === 'node') return nodes;
      run.reads += 1;
      return new Map([...run.statuses].map(([id, status]) => [id, { status }]));
    },
  } as unknown as RunReader;
  return { run, reader };
}

const told = (event: object) => [{ event: { ts: TS, ...event } } as unknown as StoredEvent];
const settled = () => new Promise(resolve => setImmediate(resolve));

it('draws what events say, and reads the tree again only when it has other nodes', async () => {
  const { run, reader } = committedRun();
  const { screen, state, taken } = memoryScreen();
  const view = liveViewOf(screen, reader, 'RUN' as RunId, paintOf(memoryTerminal()));
  const drawn = () => stripVTControlCharacters(taken()).replace('\r', '').split('\n');
  await settled();
  taken();
  state.tick();
  expect(drawn()).toEqual(['· plan two', '  ⠋ task a', '  · task b', '0 done']);

  await view.events(told({ type: 'node.status', node: 'a', to: 'succeeded', seq: 2 }));
  state.tick();
  await settled();
  expect(drawn()).toEqual(['· plan two', '  ✓ task a', '  · task b', '0.0 s · 0 done']);
  expect(run.reads).toBe(1);

  run.nextSeq = 4;
  run.statuses = new Map([
    ['a', 'idle'],
    ['b', 'failed'],
  ]);
  await view.events(told({ type: 'frame.committed', mounted: 1, unmounted: 1, seq: 3 }));
  state.now = 1;
  state.tick();
  await settled();
  taken();
  state.now = 2;
  state.tick();
  expect(drawn()).toEqual(['· plan two', '  · task a', '  ✗ task b', '0.0 s · 0 done']);
  await view.close();
  expect(run.reads).toBe(3);
});

it('a tree that cannot be read ends the drawing, and is not kept quiet', async () => {
  const { screen, taken } = memoryScreen();
  const reader = { run: () => Promise.reject(new Error('the disk is gone')) } as unknown as RunReader;
  const view = liveViewOf(screen, reader, 'RUN' as RunId, paintOf(memoryTerminal()));
  await settled();
  await expect(view.close()).rejects.toThrow('the disk is gone');
  expect(taken()).toMatch(/\[\?25h$/);
});
