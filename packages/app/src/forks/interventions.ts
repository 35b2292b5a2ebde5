import { type ErrorEnvelope, err, type Json, ok, type Result, type RunId } from '@signalbox/model';
import { editUndriven, resetUndriven } from '@signalbox/plan';
import type { RunRecord } from '@signalbox/runs';
import { checkpointUnknown } from '@signalbox/state';
import type { Trust } from '../host/foreign-plan.ts';
import { keptPlan } from '../host/plan-files.ts';
import { planLost } from '../host/plan-lost.ts';
import { editRefused, noEffect, unknownRun } from '../host/run-failures.ts';
import type { RunAction, RunHost } from '../host/run-host.ts';
import type { PlanThreads } from '../threads/plan-threads.ts';
import { runChanges } from '../undo/run-changes.ts';
import { callCheckpoints, undoRecorded } from '../undo/undo-desk.ts';
import { type ForkPorts, forkRun } from './fork-run.ts';
import { keyedMutex } from './keyed-mutex.ts';

/** A host's operations on runs besides driving them. */
export interface Interventions extends Pick<RunHost, 'fork' | 'checkpoints' | 'changes' | 'undo'> {
  /** Edits the state of a run that nothing drives. */
  edit(
    record: RunRecord,
    edit: Extract<RunAction, { readonly kind: 'edit' }>,
    by: string,
  ): Promise<Result<void, ErrorEnvelope>>;
  /** Resets a loop of a run that nothing drives. */
  reset(run: RunId, node: string, by: string): Promise<Result<void, ErrorEnvelope>>;
}

export interface InterventionPorts extends ForkPorts {
  readonly threads: Pick<PlanThreads, 'stateFault'>;
  readonly trust: Trust;
  readonly resume: RunHost['resume'];
  /** Resumes a waiting run when its question may be obsolete. */
  readonly resumeWaiting: boolean;
}

export function createInterventions(ports: InterventionPorts): Interventions {
  const { store, machine, tools, threads, trust, resume, resumeWaiting } = ports;
  const runPorts = { commit: store, reader: store, ...machine };
  const inTurn = keyedMutex<RunId>();
  return {
    async edit(record, { kind: _, ...edit }, by) {
      const { id } = record;
      const trusted = await trust(record, undefined, by);
      if (!trusted.ok) return trusted;
      const source = await keptPlan(store, record);
      if (!source.ok) return source;
      const faultOf = async (value: Json | undefined) => {
        const fault = await threads.stateFault(source.value, edit.key, value);
        return 'status' in fault ? err(planLost(record.source?.entry ?? '', fault.reason)) : fault;
      };
      const edited = await inTurn(id, () => decided(() => editUndriven(runPorts, id, { ...edit, by }, faultOf)));
      if (!edited.ok) return edited;
      if (typeof edited.value === 'object') return err(editRefused(id, edit.key, edited.value.refused));
      if (resumeWaiting && record.status === 'waiting') await resume(id);
      return ok(undefined);
    },
    async reset(run, node, by) {
      const reset = await resetUndriven(runPorts, run, node, by);
      if (!reset.ok) return reset;
      return reset.value ? ok(undefined) : err(noEffect(run, 'reset', node));
    },
    async fork(run, request, by) {
      const parent = await store.run(run);
      if (parent === undefined) return err(unknownRun(run));
      // A fork that stays paused runs nothing.
      const isRun = request.paused !== true || request.trust === true;
      const trusted = isRun ? await trust(parent, request.trust, by) : ok(undefined);
      if (!trusted.ok) return trusted;
      const forked = await forkRun(ports, parent, request, by);
      if (!forked.ok) return forked;
      const { anyFile } = request;
      return request.paused === true ? ok(forked.value.id) : resume(forked.value.id, { anyFile });
    },
    async checkpoints(run) {
      const record = await store.run(run);
      if (record === undefined) return err(unknownRun(run));
      return ok(tools === undefined ? [] : await callCheckpoints(store, tools.checkpoints(run), record));
    },
    async changes(run, asked) {
      if (tools === undefined) return ok({ directories: [], unknown: [] });
      return ok(await runChanges({ reader: store, contents: store, folder: tools.checkpoints(run.id) }, run, asked));
    },
    async undo(run, call, request, by) {
      const record = await store.run(run);
      if (record === undefined) return err(unknownRun(run));
      if (tools === undefined) return err(checkpointUnknown(call, 'pre'));
      return undoRecorded({ store, machine, tools }, record, call, request, by);
    },
  };
}

/** Reads and writes again if another writer was faster. */
async function decided<T>(write: () => Promise<Result<T, ErrorEnvelope>>): Promise<Result<T, ErrorEnvelope>> {
  let written = await write();
  for (let tries = 1; tries < MOST_TRIES && !written.ok && written.error.code === 'run/stale-version'; tries++) {
    written = await write();
  }
  return written;
}

const MOST_TRIES = 3;
