import type { RunId } from '@signalbox/model';
import { endUndriven } from '@signalbox/plan';
import type { Commit, RunReader } from '@signalbox/runs';
import type { Machine } from '../machine.ts';

/** Releases work that was running in a run and its children when it was exported: nobody works on it here. */
export async function restImported(store: Commit & RunReader, machine: Machine, run: RunId): Promise<void> {
  const record = await store.run(run);
  if (record === undefined) return;
  for (const child of await store.children(run)) {
    if (child.origin?.kind === 'sub-plan') await restImported(store, machine, child.id);
  }
  const tasks = await store.tasks(run, { status: ['running', 'canceling'] });
  if (record.status !== 'paused' || tasks.length === 0) return;
  // If this fails, the next driver finds the work interrupted, as after a crash.
  await endUndriven({ commit: store, reader: store, ...machine }, record, { status: 'paused' });
}
