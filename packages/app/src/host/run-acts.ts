import { type ErrorEnvelope, err, type NodeStatus, ok, type Result, type RunId, timestampOf } from '@signalbox/model';
import { stopUndriven } from '@signalbox/plan';
import type { Blobs, Commit, RunReader, RunRecord } from '@signalbox/runs';
import type { createInterventions } from '../forks/interventions.ts';
import type { Machine } from '../machine.ts';
import type { PlanThreads } from '../threads/plan-threads.ts';
import type { ChangeUndriven } from './change-undriven.ts';
import type { Trust } from './foreign-plan.ts';
import { keptPlan } from './plan-files.ts';
import { planLost } from './plan-lost.ts';
import { draftEvent } from './run-events.ts';
import {
  alreadyCompleted,
  editRefused,
  noEffect,
  planFails,
  signalRefused,
  unknownNode,
  unknownRun,
} from './run-failures.ts';
import type { RunAction, RunHost } from './run-host.ts';
import { within } from './within.ts';

export interface RunActPorts extends Pick<RunHost, 'resume' | 'finished'> {
  readonly store: Commit & RunReader & Pick<Blobs, 'get'>;
  readonly machine: Machine;
  readonly threads: Pick<PlanThreads, 'command' | 'signalFault'>;
  readonly trust: Trust;
  readonly interventions: Pick<ReturnType<typeof createInterventions>, 'edit' | 'reset'>;
  readonly change: ChangeUndriven;
}

/** How long to wait for a thread to notice what is already durable. */
export const TOLD_MS = 5000;

type DrivenAction = Exclude<RunAction, { readonly kind: 'signal' }>;

/** A person's action on a run: through its thread, or on its stored state if nothing drives it. */
export function createRunActs(ports: RunActPorts): RunHost['act'] {
  const { store, machine, threads, trust, interventions, change, resume, finished } = ports;
  return act;

  async function act(run: RunId, action: RunAction, by: string): Promise<Result<void, ErrorEnvelope>> {
    const record = await store.run(run);
    if (record === undefined) return err(unknownRun(run));
    if (record.status === 'completed') return err(alreadyCompleted(run));
    if (action.kind === 'signal') {
      const { name, payload } = action;
      const taken = await takesSignal(record, action);
      if (!taken.ok) return taken;
      const event = draftEvent(machine, 'signal.received', { name, payload, by });
      const at = timestampOf(machine.clock);
      const written = await store.commit({ at, events: [event] }, { run, version: 'any' });
      if (!written.ok) return err(written.error);
      const told = threads.command(run, { kind: 'input' });
      // The signal is durable: its sender does not wait for a stuck thread.
      await within(machine.timers, TOLD_MS, told);
      return ok(undefined);
    }
    const node = 'node' in action ? action.node : undefined;
    if (node !== undefined && !(await hasNode(record, node))) return err(unknownNode(run, node));
    const told = await threads.command(run, { ...action, by });
    if (told === 'done') return ok(undefined);
    if (typeof told === 'object') return err(editRefused(run, 'key' in action ? action.key : '', told.refused));
    if (told === 'unknown_node') return err(unknownNode(run, node ?? ''));
    if (told === 'no_effect') {
      return node === undefined ? ok(undefined) : err(noEffect(run, action.kind, node, await statusOf(record, node)));
    }
    // It just ended: now nothing drives the run.
    if (told === 'over') await finished(run);
    return actUndriven(run, action, by);
  }

  /** Whether the plan has a handler for the signal that accepts its payload. */
  async function takesSignal(
    record: RunRecord,
    signal: Extract<RunAction, { readonly kind: 'signal' }>,
  ): Promise<Result<void, ErrorEnvelope>> {
    // The plan of an undriven sub-plan is in the code of its parent: its run judges when it continues.
    const isBelow = record.origin?.kind === 'sub-plan';
    const fault = await threads.signalFault(record.id, signal, async () => {
      if (isBelow) return ok(undefined);
      const trusted = await trust(record, undefined, undefined);
      return trusted.ok ? keptPlan(store, record) : trusted;
    });
    if ('status' in fault) return err(planLost(record.source?.entry ?? record.name, fault.reason));
    if (!fault.ok) return fault;
    return fault.value === undefined ? ok(undefined) : err(signalRefused(record.id, signal.name, fault.value));
  }

  async function actUndriven(run: RunId, action: DrivenAction, by: string): Promise<Result<void, ErrorEnvelope>> {
    const record = await store.run(run);
    if (record === undefined) return err(unknownRun(run));
    if (record.status === 'completed') return err(alreadyCompleted(run));
    switch (action.kind) {
      case 'pause':
        // One that waits for a person does not resume once it is answered.
        return record.status === 'running' || record.status === 'waiting'
          ? change(run, { status: 'paused' }, { action: 'pause', by })
          : ok(undefined);
      case 'stop':
      case 'terminate':
        await stopUndriven({ commit: store, reader: store, ...machine }, run, action.reason, by);
        return ok(undefined);
      case 'edit': {
        const edited = await interventions.edit(record, action, by);
        // It was resumed meanwhile: its current driver gets the action.
        return !edited.ok && edited.error.code === 'run/stale-epoch' ? act(run, action, by) : edited;
      }
      case 'reset':
        return interventions.reset(run, action.node, by);
      case 'retry':
      case 'cancel': {
        const status = await statusOf(record, action.node);
        const isOpen = action.kind === 'retry' ? isRetryable(action, status) : await hasWork(run, action.node);
        if (!isOpen) return err(noEffect(run, action.kind, action.node, status));
        const resumed = await resume(run);
        if (!resumed.ok) return resumed;
        const told = await threads.command(run, { ...action, by });
        if (told === 'unknown_node') return err(unknownNode(run, action.node));
        if (told === 'no_effect') return err(noEffect(run, action.kind, action.node, status));
        const failed = await failedAtOnce(record);
        if (failed !== undefined) return err(planFails(run, action.kind, action.node, failed));
        return told === 'done' ? ok(undefined) : err(noEffect(run, action.kind, action.node, status));
      }
    }
  }

  /** The plan's error, if the run was resumed and made no frame. */
  async function failedAtOnce({ id, frames }: RunRecord): Promise<RunRecord['error']> {
    const now = await store.run(id);
    const isPlan = now?.error?.code.startsWith('plan/') === true && now.error.code !== 'plan/task-failed';
    return now?.status === 'failed' && now.frames === frames && isPlan ? now.error : undefined;
  }

  /** Whether the node has running or waiting work. */
  async function hasWork(run: RunId, node: string): Promise<boolean> {
    const tasks = await store.tasks(run, { status: ['pending', 'running', 'canceling'] });
    return tasks.some(task => task.node === node);
  }

  async function statusOf({ id, frames }: RunRecord, node: string): Promise<NodeStatus> {
    const row = (await store.valueAt(id, 'status', node, frames)) as { readonly status?: NodeStatus } | undefined;
    return row?.status ?? 'idle';
  }

  async function hasNode({ id, frames }: RunRecord, node: string): Promise<boolean> {
    return frames > 0 && (await store.valueAt(id, 'node', node, frames)) !== undefined;
  }
}

/** Whether there may be something to retry at a node: its run, which is resumed for it, decides. */
function isRetryable({ policy }: Extract<RunAction, { readonly kind: 'retry' }>, status: NodeStatus): boolean {
  return status !== 'skipped' && (status !== 'idle' || policy !== undefined);
}
