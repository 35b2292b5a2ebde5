import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, err, failure, type Json, ok, type Result, type RunId } from '@signalbox/model';
import {
  type LoadedPlan,
  loadPlan,
  type PlanRun,
  type PlanRunOptions,
  runPlan,
  type TaskExecutor,
} from '@signalbox/plan';
import type { RunRecord } from '@signalbox/runs';
import type { Machine } from '../machine.ts';
import { inputRefused } from './input-refused.ts';
import type { OwnedStore } from './owned-store.ts';

/** A run that goes on in this process. */
export interface LiveRun extends PlanRun {
  readonly id: RunId;
}

export interface StartRunOptions {
  readonly file: string;
  readonly input: Json;
  readonly name?: string | undefined;
  readonly tags?: readonly string[];
  readonly correlationId?: string | undefined;
}

/** Told of the run before its first commit, so that nothing of it is missed. */
export type OnStart = (run: RunId) => void;

/** Starts a run of the plan in a file. The plan's own files are kept before the run refers to them. */
export async function startRun(
  owned: OwnedStore,
  machine: Machine,
  { file, input, name, tags = [], correlationId }: StartRunOptions,
  onStart: OnStart,
): Promise<Result<LiveRun, ErrorEnvelope>> {
  const loaded = await loadPlan(file);
  if (!loaded.ok) return loaded;
  const { plan, closure } = loaded.value;
  const accepted = plan.input.safeParse(input);
  if (!accepted.success) return err(inputRefused(plan.name, accepted.error.issues[0]));
  const kept = await owned.store.put(
    closure.files.map(({ path: name }) => readFileSync(path.join(closure.root, name))),
  );
  if (!kept.ok) return kept;
  const { files, packages } = closure;
  return ok(
    drive(owned, machine, loaded.value, machine.ids.mint<RunId>(), onStart, {
      name: name ?? plan.name,
      tags,
      ...(correlationId !== undefined && { correlationId }),
      source: { root: closure.root, entry: path.join(closure.root, closure.entry), files, packages, engine: ENGINE },
      mode: 'AUTO',
      globalMode: 'IMPLEMENTATION',
      input,
      limits: {},
      seed: seedFrom(machine),
    }),
  );
}

/** Goes on with a run where its last commit left it. What was committed is not done again. */
export async function resumeRun(
  owned: OwnedStore,
  machine: Machine,
  record: RunRecord,
  { useCurrent }: { readonly useCurrent: boolean },
  onStart: OnStart,
): Promise<Result<LiveRun, ErrorEnvelope>> {
  if (record.status === 'completed') return err(alreadyCompleted(record.id));
  const loaded = await loadPlan(record.source?.entry ?? '');
  if (!loaded.ok) return loaded;
  const changed = changedFiles(record, loaded.value);
  if (changed.length > 0 && !useCurrent) return err(planChanged(record.id, changed));
  return ok(drive(owned, machine, loaded.value, record.id, onStart));
}

const ENGINE = 'signalbox-plan-1';

function drive(
  { store, owner }: OwnedStore,
  { clock, timers, ids, rng }: Machine,
  { plan }: LoadedPlan,
  id: RunId,
  onStart: OnStart,
  create?: NonNullable<PlanRunOptions['create']>,
): LiveRun {
  onStart(id);
  const run = runPlan({
    plan,
    run: id,
    ...(create && { create }),
    owner: owner.id,
    commit: store,
    reader: store,
    executor: withoutAgents,
    clock,
    timers,
    ids,
    rng,
  });
  return { ...run, id };
}

/** Tasks are functions of the plan. Nothing is connected that could do the work of the other nodes. */
const withoutAgents: TaskExecutor = {
  async execute({ node }) {
    const message = `nothing is connected that does the work of a <${node.kind}>: this version runs <Task> nodes`;
    return { kind: 'failed', error: { class: 'terminal', code: 'task/no-executor', message } };
  },
};

function seedFrom({ rng }: Machine): number {
  return rng.bytes(4).reduce((seed, byte) => seed * 256 + byte, 0);
}

function changedFiles({ source }: RunRecord, { closure }: LoadedPlan): readonly string[] {
  const before = new Map(source?.files.map(file => [file.path, file.digest]));
  const now = new Map(closure.files.map(file => [file.path, file.digest]));
  return [...new Set([...before.keys(), ...now.keys()])].filter(name => before.get(name) !== now.get(name)).sort();
}

function alreadyCompleted(run: RunId): ErrorEnvelope {
  return failure('run/ended', {
    message: `Run ${run} is completed: there is nothing to go on with.`,
    suggestion: `Look at it with "signalbox show ${run}", or start the plan again.`,
    details: { run },
  });
}

function planChanged(run: RunId, changed: readonly string[]): ErrorEnvelope {
  return failure('run/plan-changed', {
    message: `The plan of run ${run} changed since it was started: ${changed.join(', ')}.`,
    suggestion: 'Put the files back as they were, or go on with them as they are now: --use-current.',
    details: { run, changed: [...changed] },
  });
}
