import { renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { expect, it } from 'vitest';
import {
  at,
  frame,
  freshId,
  hashOf,
  interval,
  newRun,
  runCreated,
  set,
  startRun,
  task,
} from '../../runs/test/builders.ts';
import { temporaryStore } from './support/stores.ts';

it('[D23] forks a run whose blobs are out of reach, and its values are the same when they are back', async () => {
  const store = temporaryStore();
  const writer = await startRun(store);
  const large = (n: number) => `${n} ${'x'.repeat(70_000)}`;
  const done = task(writer.run, { status: 'running' });
  await writer.write({
    at: at(1),
    frame: frame(0),
    intervals: [0, 1, 2].map(n => interval('state', `k${n}`, 0, set(large(n)))),
    tasks: [done],
  });
  await writer.write({
    at: at(2),
    frame: frame(1),
    tasks: [{ ...done, status: 'done', result: large(9), handledFrame: 0, endedAt: at(2) }],
  });
  const { restore } = hidden(path.join(store.home, 'blobs'));
  const fork = freshId<RunId>();
  const run = newRun({ origin: { kind: 'fork', run: writer.run, frame: 1, head: hashOf(1) } });
  const committed = await store.commit(
    {
      at: at(3),
      run: { kind: 'create', run },
      inherit: { run: writer.run, frame: 1 },
      frame: frame(0),
      events: [runCreated(run)],
    },
    { run: fork, epoch: 0, version: 0 },
  );
  expect(committed).toMatchObject({ ok: true });
  restore();
  expect(Object.fromEntries(await store.at(fork, 'state', 0))).toEqual({ k0: large(0), k1: large(1), k2: large(2) });
  expect((await store.tasks(fork)).map(({ result }) => result)).toEqual([large(9)]);
});

/** Takes a directory away until it is given back. */
function hidden(directory: string): { restore(): void } {
  renameSync(directory, `${directory}.away`);
  return {
    restore() {
      rmSync(directory, { recursive: true, force: true });
      renameSync(`${directory}.away`, directory);
    },
  };
}
