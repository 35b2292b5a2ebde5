import path from 'node:path';
import { defined, type RunId } from '@signalbox/model';
import { type RunEnd, stopUndriven } from '@signalbox/plan';
import type { RunRecord } from '@signalbox/runs';
import type { RateLimitDesk } from '../agents/rate-limit-desk.ts';
import type { Halted, ThreadLost } from '../threads/plan-threads.ts';
import type { DriveEnd, DriveJob, PlanSource } from '../threads/thread-api.ts';
import type { HostExecutor } from './host-executor.ts';
import type { HostBase } from './open-run-host.ts';
import { keptPlan } from './plan-files.ts';
import { within } from './within.ts';

/** The runs that this process drives, each in a plan thread. */
export interface DrivenRuns {
  /** Hands a run to a thread, which drives it until it ends. A run that loses its thread continues from its commits. */
  begin(run: RunId, how: HowToDrive): Promise<void>;
  /** The end of a driven run. */
  finished(run: RunId): Promise<RunEnd> | undefined;
  ids(): readonly RunId[];
  /** Pauses driven runs, and waits until all of them rest. */
  rest(by: (run: RunId) => string): Promise<void>;
  /** Rests, and releases the threads. */
  close(): Promise<void>;
}

interface HowToDrive {
  readonly source: PlanSource;
  /** Its working directory, and its plan as recorded. */
  readonly record: Pick<RunRecord, 'workingDirectory' | 'workspace' | 'source'>;
  /** What changed since the run was last driven. */
  readonly changed?: readonly string[];
  /** Only its record was written. */
  readonly isNew?: true;
}

export interface DrivenRunPorts {
  readonly executor: HostExecutor;
  readonly rateLimits: RateLimitDesk;
}

/** How long the end of the process waits for runs to rest: longer than the grace period for their work. */
const REST_GRACE_MS = 15_000;

export function createDrivenRuns(base: HostBase, { executor, rateLimits }: DrivenRunPorts): DrivenRuns {
  const { options, store, storage, machine, owner, secrets, threads, change, budget } = base;
  const driven = new Map<RunId, Promise<RunEnd>>();
  let isClosed = false;

  async function jobOf(run: RunId, { source, record, changed = [], isNew }: HowToDrive): Promise<DriveJob> {
    const { workingDirectory, workspace, source: kept } = record;
    return {
      run,
      source,
      ...defined({ kept }),
      owner: owner.id,
      formerOwner: owner.former,
      changed,
      directory: workingDirectory ?? (source.kind === 'file' ? path.dirname(source.file) : source.root),
      refused: [options.dataDirectory],
      ...defined({ workspace }),
      trace: options.trace !== undefined,
      database: path.join(options.dataDirectory, 'db.sqlite'),
      limit: await budget.verdict(run),
      ...(isNew && { isNew }),
    };
  }

  async function settle(run: RunId, end: DriveEnd | ThreadLost | Halted): Promise<RunEnd> {
    if (end.status === 'halted') return halt(run, end.command);
    if (end.status !== 'thread-lost' && end.status !== 'not-loaded') return end;
    const record = await store.run(run);
    if (end.status === 'thread-lost' && isClosed) {
      // It did not let go on its own; its running work is an orphan of this process.
      if (record !== undefined) await change(run, { status: 'paused' }, { action: 'pause', by: 'signalbox' });
      return { status: 'paused' };
    }
    const error =
      end.status === 'not-loaded'
        ? ({ class: 'terminal', code: end.error.code, message: end.error.message } as const)
        : ({
            class: 'terminal',
            code: 'thread-lost',
            message: `Its thread was lost: ${end.reason}`,
            ...defined({ thrown: end.thrown }),
          } as const);
    const failed = { status: 'failed', error } as const;
    if (record !== undefined) await change(run, failed, { action: 'terminate', by: 'signalbox' });
    return failed;
  }

  /** Applies a command to a run whose thread did not answer. */
  async function halt(run: RunId, { by, ...command }: Halted['command']): Promise<RunEnd> {
    if (command.kind !== 'pause') {
      await stopUndriven({ commit: storage, reader: store, ...machine }, run, command.reason, by);
      return { status: 'stopped', reason: command.reason };
    }
    await change(run, { status: 'paused' }, { action: 'pause', by });
    return { status: 'paused' };
  }

  async function rest(by: (run: RunId) => string): Promise<void> {
    rateLimits.endWaits();
    storage.endWaits();
    for (const run of driven.keys()) void threads.command(run, { kind: 'pause', by: by(run), now: true });
    // Rollbacks continue here after a thread has released the call.
    await within(machine.timers, REST_GRACE_MS, Promise.allSettled(driven.values()).then(executor.idle));
  }

  return {
    async begin(run, how) {
      const first = await jobOf(run, how);
      const again = async (): Promise<DriveJob> => {
        const record = await store.run(run);
        if (record === undefined) return first;
        const kept = await keptPlan(store, { id: run, source: first.kept });
        const source = kept.ok ? kept.value : first.source;
        return jobOf(run, { source, record: { ...record, ...(first.kept && { source: first.kept }) } });
      };
      const finished = threads.drive(first, again).then(async end => secrets.filter.data(await settle(run, end)));
      driven.set(run, finished);
      const rests = () => void driven.delete(run);
      finished.then(rests, rests);
    },
    finished: run => driven.get(run),
    ids: () => [...driven.keys()],
    rest,
    async close() {
      await rest(() => 'signalbox');
      isClosed = true;
      threads.close();
      await Promise.allSettled(driven.values());
    },
  };
}
