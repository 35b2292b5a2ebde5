import path from 'node:path';
import { defined, type ErrorEnvelope, err, failure, ok, type Result, type RunId, timestampOf } from '@signalbox/model';
import type { NewRun, RunRecord } from '@signalbox/runs';
import type { Machine } from '../machine.ts';
import { planEnvironment } from '../threads/plan-environment.ts';
import type { PlanSource } from '../threads/thread-api.ts';
import { noWorkspaces } from '../workspaces/work-with-files.ts';
import type { DrivenRuns } from './driven-runs.ts';
import type { HostBase } from './open-run-host.ts';
import { keepPlan } from './plan-files.ts';
import { planLost } from './plan-lost.ts';
import { draftEvent } from './run-events.ts';
import type { RunHost } from './run-host.ts';

/** Starts plan runs: the plan is loaded and stored, the run is recorded, and then it is driven. */
export function createStart(base: HostBase, runs: DrivenRuns): RunHost['start'] {
  const { options, env, store, storage, machine, owner, secrets, threads, places } = base;
  const { filter } = secrets;

  /** Two keys that differ in a secret are two. */
  function keyOf(given: string | undefined): string | undefined {
    if (given === undefined || !filter.has(given)) return given;
    return `redacted-${secrets.mac(given)}`;
  }

  async function runWithKey(idempotencyKey: string | undefined): Promise<RunId | undefined> {
    if (idempotencyKey === undefined) return undefined;
    return (await store.runs({ idempotencyKey, limit: 1 })).items[0]?.id;
  }

  /** The working directory of a run: its directory, or its own workspace. */
  async function placeOf(run: RunId, directory: string, isOwn: boolean): Promise<Result<RunPlace, ErrorEnvelope>> {
    if (!isOwn) return ok({ workingDirectory: directory });
    return options.workspaces === undefined ? err(noWorkspaces()) : options.workspaces.make(run, directory);
  }

  return async request => {
    const { file, directory } = request;
    const { input, name, tags = [], correlationId, by } = filter.data(request);
    const standard = base.limits.read();
    const limits = { ...(standard.ok && standard.value.run), ...request.limits };
    const idempotencyKey = keyOf(request.idempotencyKey);
    const first = await runWithKey(idempotencyKey);
    if (first !== undefined) return ok(first);
    const found = request.anyFile === true ? ok(path.resolve(file)) : places.find(file);
    if (!found.ok) return found;
    const worksIn = base.allowedDirectory(request)(directory ?? path.dirname(path.resolve(file)));
    if (!worksIn.ok) return worksIn;
    const source: PlanSource = { kind: 'file', file: found.value, isPlace: request.anyFile !== true };
    const environment = planEnvironment(source, env);
    if (!environment.ok) return err(environmentUnknown(file, environment.error));
    const loaded = await threads.load(source, input);
    if ('status' in loaded) return err(planLost(file, loaded.reason));
    if (!loaded.ok) return loaded;
    const kept = await keepPlan(store, loaded.value.closure);
    if (!kept.ok) return kept;
    const run = machine.ids.mint<RunId>();
    const place = await placeOf(run, worksIn.value, loaded.value.workspace);
    if (!place.ok) return place;
    const create: NewRun = {
      driver: 'plan',
      status: 'running',
      phase: 'EXECUTE',
      owner: owner.id,
      name: name ?? loaded.value.name,
      tags,
      ...defined({ correlationId, idempotencyKey }),
      ...place.value,
      source: kept.value,
      mode: 'AUTO',
      globalMode: 'IMPLEMENTATION',
      input,
      limits,
      seed: seedFrom(machine),
    };
    const created = draftEvent(machine, 'run.created', {
      driver: 'plan',
      name: create.name,
      ...defined({ by }),
    });
    const written = await storage.commit(
      { at: timestampOf(machine.clock), run: { kind: 'create', run: create }, events: [created] },
      { run, epoch: 0, version: 0 },
    );
    if (!written.ok) {
      const { workspace } = place.value;
      if (workspace !== undefined) await options.workspaces?.discard(run, workspace);
      const twin = await runWithKey(idempotencyKey);
      return twin === undefined ? err(written.error) : ok(twin);
    }
    // The run exists: its caller need not wait for the first frame, which may never come.
    await runs.begin(run, { source, record: { ...place.value, source: kept.value }, isNew: true });
    return ok(run);
  };
}

type RunPlace = Pick<RunRecord, 'workspace'> & { readonly workingDirectory: string };

function environmentUnknown(plan: string, why: string): ErrorEnvelope<'plan/load-failed'> {
  return failure('plan/load-failed', {
    message: `${plan} was not started: ${why}.`,
    suggestion: 'Correct that file: {"env": ["NAME"]} names the variables that plans of the project see.',
  });
}

function seedFrom({ rng }: Machine): number {
  return rng.bytes(4).reduce((seed, byte) => seed * 256 + byte, 0);
}
