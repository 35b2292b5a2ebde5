import { type ErrorEnvelope, err, ok, type Result, type RunId, timestampOf } from '@signalbox/model';
import { stopUndriven } from '@signalbox/plan';
import type { Commit, RunReader, RunRecord } from '@signalbox/runs';
import type { createInterventions } from '../forks/interventions.ts';
import type { Machine } from '../machine.ts';
import type { PlanThreads } from '../threads/plan-threads.ts';
import type { ChangeUndriven } from './change-undriven.ts';
import { draftEvent } from './run-events.ts';
import { alreadyCompleted, editRefused, noEffect, unknownNode, unknownRun } from './run-failures.ts';
import type { RunAction, RunHost } from './run-host.ts';
import { within } from './within.ts';

export interface RunActPorts extends Pick<RunHost, 'resume' | 'finished'> {
  readonly store: Commit & RunReader;
  readonly machine: Machine;
  readonly threads: Pick<PlanThreads, 'command'>;
  readonly interventions: Pick<ReturnType<typeof createInterventions>, 'edit' | 'reset'>;
  readonly change: ChangeUndriven;
}

/** How long somebody waits for a thread to hear of what is durable already. */
export const TOLD_MS = 5000;

type DrivenAction = Exclude<RunAction, { readonly kind: 'signal' }>;

/** What a person does to a run: told to the thread that drives it, or done to what it left where none does. */
export function createRunActs(ports: RunActPorts): RunHost['act'] {
  const { store, machine, threads, interventions, change, resume, finished } = ports;
  return act;

  async function act(run: RunId, action: RunAction, by: string): Promise<Result<void, ErrorEnvelope>> {
    const record = await store.run(run);
    if (record === undefined) return err(unknownRun(run));
    if (action.kind === 'signal') {
      const { name, payload } = action;
      const event = draftEvent(machine, 'signal.received', { name, payload, by });
      const at = timestampOf(machine.clock);
      const written = await store.commit({ at, events: [event] }, { run, version: 'any' });
      if (!written.ok) return err(written.error);
      const told = threads.command(run, { kind: 'input' });
      // The signal is durable: whoever sent it does not wait for a thread that is stuck.
      await within(machine.timers, TOLD_MS, told);
      return ok(undefined);
    }
    if (record.status === 'completed') return err(alreadyCompleted(run));
    const node = 'node' in action ? action.node : undefined;
    if (node !== undefined && !(await hasNode(record, node))) return err(unknownNode(run, node));
    const told = await threads.command(run, { ...action, by });
    if (told === 'done') return ok(undefined);
    if (typeof told === 'object') return err(editRefused(run, 'key' in action ? action.key : '', told.refused));
    if (told === 'unknown_node') return err(unknownNode(run, node ?? ''));
    if (told === 'no_effect') return node === undefined ? ok(undefined) : err(noEffect(run, action.kind, node));
    // It ended just now: what is left is a run that nobody drives.
    if (told === 'over') await finished(run);
    return actUndriven(run, action, by);
  }

  async function actUndriven(run: RunId, action: DrivenAction, by: string): Promise<Result<void, ErrorEnvelope>> {
    const record = await store.run(run);
    if (record === undefined) return err(unknownRun(run));
    if (record.status === 'completed') return err(alreadyCompleted(run));
    switch (action.kind) {
      case 'pause':
        return record.status === 'running'
          ? change(record, { status: 'paused' }, { action: 'pause', by })
          : ok(undefined);
      case 'stop':
      case 'terminate':
        await stopUndriven({ commit: store, reader: store, ...machine }, run, action.reason, by);
        return ok(undefined);
      case 'edit': {
        const edited = await interventions.edit(record, action, by);
        // It was taken up meanwhile: whoever drives it now is told.
        return !edited.ok && edited.error.code === 'run/stale-epoch' ? act(run, action, by) : edited;
      }
      case 'reset':
        return interventions.reset(run, action.node, by);
      case 'retry':
      case 'cancel': {
        const resumed = await resume(run);
        if (!resumed.ok) return resumed;
        const told = await threads.command(run, { ...action, by });
        if (told === 'done') return ok(undefined);
        return err(told === 'unknown_node' ? unknownNode(run, action.node) : noEffect(run, action.kind, action.node));
      }
    }
  }

  async function hasNode({ id, frames }: RunRecord, node: string): Promise<boolean> {
    return frames > 0 && (await store.valueAt(id, 'node', node, frames)) !== undefined;
  }
}
