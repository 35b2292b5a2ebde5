import { defined } from '@signalbox/model';
import { thrownPlace } from '../errors/thrown-place.ts';
import { isFinal } from '../failures/attempt-error.ts';
import { DENIED } from '../failures/denial.ts';
import { type PlanError, planFailure } from '../plan-error.ts';
import type { CleanData } from '../state/clean-data.ts';
import type { NodeRecord } from '../structure/node-record.ts';
import type { Activity, Structure } from '../structure/structure.ts';
import type { EngineParts } from './engine.ts';
import { DEFAULT_IDLE_MS, type RunEnd } from './engine-options.ts';
import type { Settled } from './plan-view.ts';
import { putRestRows } from './rest.ts';
import type { RunMemory } from './run-memory.ts';

/** How a run ends, or comes to rest. */
export interface Ending {
  /** The run's end if nothing is running or about to; `ready` is how much could still start. */
  outcome(activity: Activity, ready: number): Ended | undefined;
  /** The run's end, if the frame itself shows it and no effect can still change it. */
  early(settled: Settled): Ended | undefined;
  /** A plan with effects may still get news: it ends after it has been quiet for a while. */
  waitForQuiet(activity: Activity): void;
  /** There may be news: that wait is over. */
  cancelWait(): void;
  /** Ends the run with what is left to commit, and rests its work and its children. */
  finish(end: Ended): Promise<RunEnd>;
  /** Ends the run without waiting for its work. */
  terminate(): Promise<RunEnd>;
  /** Releases all work until a person gives the run more time. Work that would start now asks for it, too. */
  hold(): Promise<void>;
}

type Ended = Exclude<RunEnd, { readonly status: 'lost' }>;

export function createEnding({ base, phases, view, code, work, book }: Omit<EngineParts, 'ending'>): Ending {
  const { options, memory, structure, queue, later } = base;
  const { effects, signals } = code;
  const { desk, subPlans, operator } = work;
  let cancelIdle: (() => void) | undefined;

  function outcome(activity: Activity, ready: number): Ended | undefined {
    if (desk.hasNews || signals.isDue) return undefined;
    const { stopping, isPausing } = operator;
    // The time of a next attempt is stored with its task, so a pause does not wait for it.
    if ((isPausing ? desk.working : desk.busy) > 0) return undefined;
    if (stopping !== undefined) return { status: 'stopped', reason: stopping.reason };
    if (activity.done || activity.ending?.kind === 'end') {
      return { status: 'completed', output: Object.fromEntries(memory.state.entries()) };
    }
    if (isPausing) return { status: 'paused' };
    if (ready > 0) return undefined;
    if (activity.blocked > 0) return { status: 'waiting' };
    return activity.failed > 0 ? failureEnd(memory, structure) : undefined;
  }

  return {
    outcome,
    early({ activity, calls, goesOn }) {
      if (goesOn || queue.size > 0 || effects.any || effects.isDue(calls)) return undefined;
      // A query sees this frame's commit only in the next one.
      if (view.reads.waitsForTables) return undefined;
      // A frame shows what it was rendered with: statuses of a run at rest come after it.
      if (memory.running.size > 0) return undefined;
      const end = outcome(activity, activity.ready.length);
      return end !== undefined && book.canEnd(end) ? end : undefined;
    },
    waitForQuiet(activity) {
      if (outcome(activity, 0) === undefined) return;
      const wait = effects.any && operator.stopping === undefined ? (options.idleMs ?? DEFAULT_IDLE_MS) : 0;
      cancelIdle = options.timers.after(wait, () => later({ kind: 'idle' }, 'stop_requested'));
    },
    cancelWait: () => cancelIdle?.(),
    async finish(end) {
      await subPlans.end('suspend', 'the run above it ended');
      desk.release();
      putRestRows(memory, structure, end.status);
      phases.end();
      return book.finish(end);
    },
    async terminate() {
      const reason = operator.stopping?.reason ?? 'the run was ended';
      await subPlans.end('terminate', reason);
      desk.terminate();
      // Children that waited have no engine; they are stopped here.
      await subPlans.end('terminate', reason);
      putRestRows(memory, structure, 'stopped');
      return book.finish({ status: 'stopped', reason });
    },
    async hold() {
      await options.executor.timeOver?.(options.run);
      await subPlans.suspend();
      desk.hold();
    },
  };
}

export function failedWith(error: PlanError, clean: CleanData): Extract<RunEnd, { readonly status: 'failed' }> {
  const { code, message } = planFailure(error);
  const thrown = thrownPlace(error, {}, clean);
  const final = isFinal(error) ? { final: true as const } : {};
  return { status: 'failed', error: { class: 'terminal', code, message, ...final, ...defined({ thrown }) } };
}

/** A failed node fails the run; where a person said no, the run is stopped. */
function failureEnd({ records, thrown, finals }: RunMemory, structure: Structure): Ended {
  const failed = [...records].filter(([id]) => structure.holdsUp(id));
  const [id, record] = failed.find(entry => !isDeniedConfirmation(entry, structure)) ?? failed[0] ?? [];
  if (id !== undefined && isDeniedConfirmation([id, record], structure)) {
    const why = record?.reason?.replace(/^denied: A person denied it(: )?/, '') ?? '';
    return { status: 'stopped', reason: `A person denied ${id}${why === '' ? '' : `: ${why}`}` };
  }
  // The thrown text says what it is.
  const reason = record?.reason?.replace(/^threw: (Error: )?/, '') ?? `it was ${record?.status ?? 'lost'}`;
  const place = thrown.get(id ?? '');
  const message = `Node ${id ?? '?'} failed: ${reason}`;
  const final = finals.has(id ?? '') ? { final: true as const } : {};
  const error = {
    class: 'terminal',
    code: 'plan/task-failed',
    message,
    ...final,
    ...defined({ thrown: place }),
  } as const;
  return { status: 'failed', error };
}

/** A denial where options or a value were asked for is a failure: the answer is missing. */
function isDeniedConfirmation([id, record]: readonly [string, NodeRecord | undefined], structure: Structure): boolean {
  const node = structure.nodeOf(id);
  if (node?.kind !== 'human' || record?.reason?.startsWith(`${DENIED}:`) !== true) return false;
  return node.data.options === undefined && node.data.schema === undefined;
}
