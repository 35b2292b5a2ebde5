/** A process for tests to kill. Its first argument says what it does, the second is the data directory. */
import { writeSync } from 'node:fs';
import { Bug, createIdSource, type EventId, type RunId } from '@signalbox/model';
import type { OwnerId } from '@signalbox/runs';
import { acquireOwner, openStore, type Store } from '@signalbox/store';
import { at, created, freshId, newRun } from '../../../runs/test/builders.ts';
import { databaseOf } from './database-file.ts';
import { draftOf, projectNamed } from './varied-projects.ts';
import { variedRun } from './varied-runs.ts';

const [role, home = '', first = '0'] = process.argv.slice(2);
const clock = { now: () => Date.now() };
const ids = createIdSource(clock, { bytes: length => crypto.getRandomValues(new Uint8Array(length)) });

const roles: Record<string, () => Promise<void>> = {
  /** Four writers commit numbered signals to a run each, at the same time; one line on stdout for each acknowledged. */
  async committing() {
    const opened = openStore({ path: databaseOf(home) });
    if (!opened.ok) throw new Bug(opened.error.message);
    const store = opened.value;
    await Promise.all([0, 1, 2, 3].map(writer => goOn(store, writer)));
  },

  /** Commits numbered facts to a project, four at a time, beside a run; one line on stdout for each acknowledged. */
  async projecting() {
    const opened = openStore({ path: databaseOf(home) });
    if (!opened.ok) throw new Bug(opened.error.message);
    const store = opened.value;
    const project = projectNamed(1);
    void goOn(store, 0);
    for (let records = store.project(project)?.records ?? 0; ; records += 4) {
      const waiting = [0, 1, 2, 3].map(async more => {
        const n = records + more;
        const things = [{ kind: 'event' as const, id: `e${n}`, value: n }];
        const done = await store.commitToProject(draftOf(n % 60, n, things), { project, records: n });
        if (!done.ok) throw new Bug(done.error.message);
        writeSync(1, `project ${n}\n`);
      });
      await Promise.all(waiting);
    }
  },

  /** Runs that use everything, two at a time; one line on stdout for each that is over. */
  async varied() {
    const opened = openStore({ path: databaseOf(home) });
    if (!opened.ok) throw new Bug(opened.error.message);
    // Ids are counted from where the tests begin: whoever is started again must not mint the same ones.
    for (let skipped = 0; skipped < Number(first) * 2000; skipped++) freshId();
    for (let seed = Number(first) * 100; ; seed += 2) {
      await Promise.all([seed, seed + 1].map(one => variedRun(opened.value, one)));
      writeSync(1, `${seed}\n`);
    }
  },

  /** Owns the data directory, says so, and keeps it. */
  async owning() {
    const owner = acquireOwner(home, { id: `child-${process.pid}` as OwnerId, clock });
    if (!owner.ok) throw new Bug(owner.error.message);
    owner.value.announce('http://127.0.0.1:4280');
    writeSync(1, 'owned\n');
    setInterval(() => {}, 1_000);
  },
};

async function goOn(store: Store, writer: number): Promise<never> {
  const run = `01890000-0000-7000-8000-00000000000${writer}` as RunId;
  const before = await store.run(run);
  let guard = { run, epoch: before?.epoch ?? 0, version: before?.version ?? 0 };
  for (;;) {
    const number = guard.version;
    const id = ids.mint<EventId>();
    const committed = await store.commit(
      guard.version === 0
        ? created(newRun())
        : {
            at: at(),
            events: [{ id, ts: at(), type: 'signal.received', name: `${number}`, payload: writer, by: 'child' }],
          },
      guard,
    );
    if (!committed.ok) throw new Bug(committed.error.message);
    if (number > 0) writeSync(1, `${writer} ${number}\n`);
    guard = { run, epoch: committed.value.epoch, version: committed.value.version };
  }
}

await roles[role ?? '']?.();
