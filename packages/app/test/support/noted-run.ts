// Shared by the processes of the crash tests: a run of the plan of forty steps, and a side file that records which work was done and
// when it became durable.
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type RunId } from '@signalbox/model';
import type { RunEnd } from '@signalbox/plan';
import type { Commit } from '@signalbox/runs';
import { openRunHost } from '../../src/host/open-run-host.ts';
import { openOwnedStore } from '../../src/host/owned-store.ts';
import { thisMachine } from '../../src/machine.ts';
import { noAgents } from './open-host.ts';

export const crashPlan = path.join(import.meta.dirname, '..', 'plans', 'crash.tsx');

/**
 * Owns the data directory in a folder. What becomes durable is noted in the folder's side file, so that work done after its
 * commit can be told from work before it. `around` sees every commit.
 */
export async function openNotedHost(folder: string, around: (commit: Commit['commit']) => Commit['commit']) {
  const side = path.join(folder, 'side');
  const dataDirectory = path.join(folder, 'data');
  const machine = thisMachine();
  const opened = openOwnedStore(dataDirectory, machine);
  if (!opened.ok) throw new Bug(opened.error.message);
  const { store } = opened.value;
  const note = (...words: readonly (string | number | undefined)[]) => appendFileSync(side, `${words.join(' ')}\n`);
  store.subscribe('all', ({ events }) => {
    for (const { event } of events) {
      if (event.type === 'task.ended') note('committed', event.node, event.iteration, event.attempt, event.task);
      if (event.type === 'task.retry') note('retried', event.node, event.iteration, event.attempt);
      if (event.type === 'handler.ran') note('counted', event.node, event.task, event.handler);
      if (event.type === 'handler.failed') note('unhandled', event.node, event.task, event.handler);
    }
  });
  const owned = { ...opened.value, store: { ...store, commit: around(store.commit) } };
  const host = await openRunHost({ owned, dataDirectory, machine, agents: noAgents, threads: { threads: 1 } });
  return {
    host,
    store,
    /** The run that an earlier process began, if one did. */
    async known() {
      const [known] = (await store.runs()).items.filter(({ origin }) => origin === undefined);
      return known;
    },
    async start(file: string): Promise<RunId> {
      const started = await host.start({ file, anyFile: true, input: { side } });
      if (!started.ok) throw new Bug(started.error.message);
      return started.value;
    },
    async resume(run: RunId, how: Parameters<typeof host.resume>[1] = {}): Promise<RunId> {
      const resumed = await host.resume(run, { anyFile: true, ...how });
      if (!resumed.ok) throw new Bug(resumed.error.message);
      return resumed.value;
    },
    /** Goes on until the run is completed: approves what it asks, and has `mend` correct what it failed with. */
    async finish(run: RunId, mend?: (message: string) => Promise<unknown>): Promise<void> {
      for (;;) {
        const end: RunEnd | undefined = await host.finished(run);
        if (end?.status === 'completed' || end === undefined) break;
        if (end.status === 'failed' && mend !== undefined) {
          await mend(end.error.message);
          continue;
        }
        if (end.status !== 'waiting') throw new Bug(`the run ended as ${JSON.stringify(end)}`);
        for (const { decision } of await store.decisions({ run, status: ['open'] })) {
          const resolution = { resolutionType: 'approve', rationale: '', actionKind: 'review' } as const;
          await host.answer(decision.id, { resolution }, 'tester');
        }
        await host.resume(run);
      }
      await host.close();
      opened.value.close();
    },
  };
}
