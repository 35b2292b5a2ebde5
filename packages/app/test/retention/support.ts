import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Clock, createIdSource, type RunId, timestampOf } from '@signalbox/model';
import type { NewRun } from '@signalbox/runs';
import { openStore, type Store } from '@signalbox/store';
import { fakeClock, seededRng } from '@signalbox/testkit';
import { at, frame, interval, newRun, set, startRun } from '../../../runs/test/builders.ts';
import type { Machine } from '../../src/machine.ts';
import {
  createRetentionDesk,
  type RetentionDesk,
  type RetentionDeskPorts,
} from '../../src/retention/retention-desk.ts';

/** Runs of these tests ended on the first of January. */
export const ENDED = Date.parse(at(1));
const DAY = 86_400_000;

export function machineAt(ms: number, seed: number): Machine {
  const clock: Clock = fakeClock(ms);
  const rng = seededRng(seed);
  return { clock, rng, ids: createIdSource(clock, rng), timers: { after: () => () => {} } };
}

export function storeIn(home: string, connect?: Parameters<typeof openStore>[0]['connect']): Store {
  const opened = openStore({ path: path.join(home, 'db.sqlite'), ...(connect && { connect }) });
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

export function deskOf(
  store: Store,
  home: string,
  days: number,
  ports: Partial<RetentionDeskPorts> = {},
  seed = days + 1,
): RetentionDesk {
  const machine = machineAt(ENDED + days * DAY, seed);
  return createRetentionDesk({ store, dataDirectory: home, machine, driven: () => [], ...ports });
}

/** A completed run with frames, a large value of its own, and folders beside the database. */
export async function endedRun(
  store: Store,
  home: string,
  name: string,
  { days = 0, ...fields }: Partial<NewRun> & { readonly days?: number } = {},
): Promise<RunId> {
  const writer = await startRun(store, newRun({ name, ...fields }));
  for (let index = 0; index < 6; index++) {
    await writer.write({
      at: at(),
      frame: frame(index),
      intervals: [
        interval('state', 'step', index, set(index)),
        ...(index === 2 ? [interval('state', 'large', 2, set(name.repeat(70_000)))] : []),
      ],
    });
  }
  const ended = timestampOf({ now: () => ENDED + days * DAY });
  await writer.write({ at: ended, run: { kind: 'change', change: { status: 'completed' } } });
  for (const place of ['runs', 'checkpoints']) {
    mkdirSync(path.join(home, place, writer.run), { recursive: true });
    writeFileSync(path.join(home, place, writer.run, 'some.jsonl'), '{}\n');
  }
  return writer.run;
}

/** As if everything had been written when the runs were. */
export function makeOld(home: string): void {
  for (const place of ['blobs', 'runs', 'checkpoints']) {
    for (const entry of readdirSync(path.join(home, place), { recursive: true, encoding: 'utf8' })) {
      utimesSync(path.join(home, place, entry), ENDED / 1000, ENDED / 1000);
    }
  }
}

/** Every file beside the database, by path. */
export function filesOf(home: string): readonly string[] {
  return ['blobs', 'runs', 'checkpoints']
    .flatMap(place =>
      readdirSync(path.join(home, place), { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile())
        .map(entry => path.join(entry.parentPath, entry.name)),
    )
    .map(file => path.relative(home, file))
    .sort();
}
