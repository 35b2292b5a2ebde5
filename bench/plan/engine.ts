import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { openSecrets, thisMachine } from '@signalbox/app/host';
import { nodeHasher } from '@signalbox/journal';
import type { RunId } from '@signalbox/model';
import { type AnyPlan, type PlanRun, runPlan } from '@signalbox/plan';
import { type Commit, type OwnerId, redactingCommit } from '@signalbox/runs';
import { openStore, type Store } from '@signalbox/store';

/** The engine and the store in this thread, without a host. */
export interface Engine {
  /** An empty directory. */
  directory(): string;
  /** Commits are filtered as the owner of a data directory filters them. */
  opened(home: string): Store;
  start(store: Store, plan: AnyPlan, commit: Commit): PlanRun;
}

export function createEngine(root: string): Engine {
  const machine = thisMachine();
  /** What a developer's shell holds. */
  const env = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`KEY_${n}_TOKEN`, randomUUID()]));
  const { filter: secrets } = openSecrets({ dataDirectory: root, env });
  return {
    directory: () => mkdtempSync(path.join(root, 'part-')),
    opened(home) {
      const store = openStore({ path: path.join(home, 'db.sqlite') });
      if (!store.ok) throw new Error(store.error.message);
      return { ...store.value, ...redactingCommit(store.value, secrets, nodeHasher) };
    },
    start: (store, plan, commit) =>
      runPlan({
        plan,
        run: machine.ids.mint<RunId>(),
        create: {
          name: plan.name,
          tags: [],
          mode: 'AUTO',
          globalMode: 'IMPLEMENTATION',
          input: null,
          limits: {},
          seed: 7,
        },
        owner: 'bench' as OwnerId,
        commit,
        reader: store,
        executor: { execute: async () => ({ kind: 'done', output: null }) },
        secrets,
        ...machine,
      }),
  };
}

export async function completed(driven: PlanRun): Promise<void> {
  const end = await driven.finished;
  if (end.status !== 'completed') throw new Error(`the run has not completed: ${JSON.stringify(end)}`);
}
