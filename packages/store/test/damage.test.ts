import type { DatabaseSync } from 'node:sqlite';
import { StoreDamage } from '@signalbox/store';
import { describe, expect, it } from 'vitest';
import { at, frame, interval, key, newRun, set, signal, startRun, task } from '../../runs/test/builders.ts';
import { readsBodies } from './support/forged-logs.ts';
import { temporaryStore } from './support/stores.ts';
import { watchedDatabase } from './support/watched-database.ts';

/** A store with one of everything, and its database to be damaged. */
async function filledStore() {
  const watched = watchedDatabase();
  const store = temporaryStore({ connect: watched.connect });
  const { run, write } = await startRun(store, newRun());
  await write({
    at: at(),
    frame: frame(0),
    intervals: [interval('state', 'a', 0, set(1))],
    transitions: [{ frame: 0, index: 0, key: 'a', change: set(1), at: at() }],
    tasks: [task(run, { node: key('build') })],
    stream: [{ task: task(run, { node: key('build') }).id, index: 0, kind: 'token', payload: 'hi', at: at() }],
    events: [signal('x')],
  });
  return { store, run, database: watched.database() };
}

type Filled = Awaited<ReturnType<typeof filledStore>>;

const damages: readonly (readonly [string, string, (filled: Filled) => Promise<unknown>])[] = [
  ['an event', `update records set body = replace(body_text(body), 'signal.received', 'signal.lost')`, readEvents],
  ['the JSON of a record', `update records set body = '{'`, readEvents],
  ['the header of a record', `update records set header = '{}'`, readEvents],
  ['a run', `update runs set status = 'dancing'`, ({ store, run }) => store.run(run)],
  ['the details of a run', `update run_details set details = '{}'`, ({ store, run }) => store.run(run)],
  ['a frame', `update frames set frame = '{"index":0}'`, ({ store, run }) => store.frame(run, 0)],
  ['a value', `update intervals set value = 'nothing'`, ({ store, run }) => store.at(run, 'state', 0)],
  ['a value without its start', 'update intervals set kind = 1, value = \'[{"op":"delete","path":["a"]}]\'', readState],
  ['a transition', 'update transitions set value = 1.5', ({ store, run }) => store.transitions(run)],
  ['a chunk', `update stream set kind = 'song'`, readStream],
  ['a task', `update tasks set status = 'dancing'`, ({ store, run }) => store.tasks(run)],
];

describe('damage in the database', () => {
  it.each(damages)('[D16] is said to be damage, never shown as data: %s', async (_name, sql, read) => {
    const filled = await filledStore();
    await read(filled);
    damage(filled.database, sql);
    await expect(read(filled)).rejects.toThrow(StoreDamage);
  });
});

function readEvents({ store, run }: Filled): Promise<unknown> {
  return store.events(run, 0, 10);
}

function readStream({ store, run }: Filled): Promise<unknown> {
  return store.stream(run, task(run, { node: key('build') }).id, 0, 10);
}

function readState({ store, run }: Filled): Promise<unknown> {
  return store.valueAt(run, 'state', 'a', 0);
}

function damage(database: DatabaseSync, sql: string): void {
  if (Number(readsBodies(database).prepare(sql).run().changes) === 0) throw new Error('nothing was damaged');
}
