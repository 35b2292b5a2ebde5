import { availableParallelism } from 'node:os';
import path from 'node:path';
import {
  type ErrorEnvelope,
  err,
  ok,
  type ProviderReference,
  type Result,
  type RunId,
  timestampOf,
} from '@signalbox/model';
import type { RunEnd, TraceEntry } from '@signalbox/plan';
import type { AgentRunner, RunRecord } from '@signalbox/runs';
import manifest from '../../package.json' with { type: 'json' };
import type { AgentTools } from '../agents/agent-tools.ts';
import { createActivity } from '../agents/host-activity.ts';
import { createProviders } from '../agents/providers.ts';
import { createRateLimitDesk } from '../agents/rate-limit-desk.ts';
import { runBundles } from '../bundles/run-bundles.ts';
import { createDecisionDesk } from '../decisions/decision-desk.ts';
import { withdrawUnneeded } from '../decisions/withdraw-unneeded.ts';
import { createInterventions } from '../forks/interventions.ts';
import { createRollback } from '../forks/rollback.ts';
import { createRunInspection } from '../inspection/run-inspection.ts';
import type { Machine } from '../machine.ts';
import { createRetentionDesk, type RetentionDeskPorts } from '../retention/retention-desk.ts';
import { createJournalKeeper } from '../run-journal/journal-keeper.ts';
import { openPlanThreads, type PlanThreadsOptions, type ThreadLost } from '../threads/plan-threads.ts';
import type { DriveEnd, DriveJob, PlanSource } from '../threads/thread-api.ts';
import { threadHost } from '../threads/thread-host.ts';
import { noWorkspaces } from '../workspaces/work-with-files.ts';
import type { WorkspaceDesk } from '../workspaces/workspace-desk.ts';
import { changeUndriven } from './change-undriven.ts';
import { createHostExecutor } from './host-executor.ts';
import type { OwnedStore } from './owned-store.ts';
import { changesSince, keepPlan, keptPlan } from './plan-files.ts';
import { planLost } from './plan-lost.ts';
import { createRunActs } from './run-acts.ts';
import { stopVerdict } from './run-budget.ts';
import { draftEvent } from './run-events.ts';
import { alreadyCompleted, alreadyDriven, notStarted, unknownRun } from './run-failures.ts';
import type { RunHost, StartRequest } from './run-host.ts';

export interface RunHostOptions extends Pick<RetentionDeskPorts, 'collectSessions' | 'removeWorkspace'> {
  readonly owned: OwnedStore;
  readonly dataDirectory: string;
  readonly machine: Machine;
  readonly agents: AgentRunner;
  /** Files of their own for runs whose plan asks for them; without it such a plan is refused. */
  readonly workspaces?: WorkspaceDesk | undefined;
  /** What the tool calls of agents left behind, for undoing them. */
  readonly tools?: AgentTools;
  readonly threads?: Partial<Omit<PlanThreadsOptions, 'timers'>>;
  /** Providers that agents can call here, and what takes secrets out of what they say. */
  readonly providers?: readonly ProviderReference[];
  readonly clean?: (text: string) => string;
  /** Whose secrets are in nothing that leaves. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A run that waits goes on as soon as it is answered. */
  readonly resumeOnAnswer?: boolean;
  readonly trace?: (run: RunId, entry: TraceEntry) => void;
}

export async function openRunHost(options: RunHostOptions): Promise<RunHost> {
  const { owned, machine, agents } = options;
  const { store, owner } = owned;
  /** What becomes of each run that is driven now. */
  const driven = new Map<RunId, Promise<RunEnd>>();
  const change = changeUndriven(store, machine);
  const journals = createJournalKeeper(options.dataDirectory, store);
  const decisions = createDecisionDesk({ commit: store, reader: store, machine });
  const activity = createActivity();
  const rateLimits = createRateLimitDesk(machine, { tell: activity.tell });
  const executor = createHostExecutor({
    commit: store,
    reader: store,
    machine,
    decisions,
    agents,
    rateLimits,
    activity,
    onVerdict: (run, verdict) => threads.limit(run, verdict),
  });
  const threads = openPlanThreads(
    () =>
      threadHost({
        store,
        executor,
        workspaces: options.workspaces,
        onProgress: (run, execution, progress) => threads.progress(run, execution, progress),
        onSubRun: (run, parent, isDriven) => threads.adopt(run, parent, isDriven),
        onTrace: (run, entry) => options.trace?.(run, entry),
        onFramed: ms => activity.tell({ kind: 'framed', ms }),
      }),
    {
      timers: machine.timers,
      threads: Math.max(1, availableParallelism() - 1),
      cacheDirectory: path.join(options.dataDirectory, 'cache', 'plans'),
      ...options.threads,
    },
  );
  const stopWithdrawing = await withdrawUnneeded(store, store, decisions);
  const inspection = createRunInspection({ ...options, reader: store });

  const job = (
    run: RunId,
    source: PlanSource,
    changed: readonly string[],
    { workingDirectory, workspace }: Pick<RunRecord, 'workingDirectory' | 'workspace'>,
  ): Omit<DriveJob, 'limit'> => ({
    run,
    source,
    owner: owner.id,
    changed,
    directory: workingDirectory ?? (source.kind === 'file' ? path.dirname(source.file) : source.root),
    refused: [options.dataDirectory],
    ...(workspace === undefined ? {} : { workspace }),
    trace: options.trace !== undefined,
    database: path.join(options.dataDirectory, 'db.sqlite'),
  });

  /** Drives a run until it ends. A run that lost its thread goes on from what it kept. */
  function drive(first: DriveJob): Promise<RunEnd> {
    const { run } = first;
    const again = async (): Promise<DriveJob> => {
      const record = await store.run(run);
      if (record === undefined) return first;
      const kept = await keptPlan(store, record);
      const limit = await stopVerdict(store, run, machine.clock);
      return { ...job(run, kept.ok ? kept.value : first.source, [], record), limit };
    };
    const finished = threads.drive(first, again).then(end => settle(run, end));
    driven.set(run, finished);
    const rest = () => {
      driven.delete(run);
      journals.rested(run);
    };
    finished.then(rest, rest);
    return finished;
  }

  async function settle(run: RunId, end: DriveEnd | ThreadLost): Promise<RunEnd> {
    if (end.status !== 'thread-lost' && end.status !== 'not-loaded') return end;
    const error =
      end.status === 'not-loaded'
        ? ({ class: 'terminal', code: end.error.code, message: end.error.message } as const)
        : ({ class: 'terminal', code: 'thread-lost', message: `Its thread was lost: ${end.reason}` } as const);
    const failed = { status: 'failed', error } as const;
    const record = await store.run(run);
    if (record !== undefined) await change(record, failed, { action: 'terminate', by: 'signalbox' });
    return failed;
  }

  /** Pauses what is driven, and waits until all of it rests. */
  async function rest(by: string): Promise<void> {
    rateLimits.endWaits();
    for (const run of driven.keys()) void threads.command(run, { kind: 'pause', by });
    await Promise.allSettled(driven.values());
  }

  async function start(request: StartRequest): Promise<Result<RunId, ErrorEnvelope>> {
    const { file, input, name, tags = [], correlationId, limits = {}, directory, idempotencyKey, by } = request;
    const first = idempotencyKey === undefined ? undefined : await runWithKey(idempotencyKey);
    if (first !== undefined) return ok(first);
    const source: PlanSource = { kind: 'file', file: path.resolve(file) };
    const loaded = await threads.load(source, input);
    if ('status' in loaded) return err(planLost(file, loaded.reason));
    if (!loaded.ok) return loaded;
    const kept = await keepPlan(store, loaded.value.closure);
    if (!kept.ok) return kept;
    const run = machine.ids.mint<RunId>();
    const place = await placeOf(run, path.resolve(directory ?? path.dirname(file)), loaded.value.workspace);
    if (!place.ok) return place;
    const limit = await stopVerdict(store, run, machine.clock);
    const { created, cancel } = firstCommit(run);
    const finished = drive({
      ...job(run, source, [], place.value),
      limit,
      ...(by === undefined ? {} : { startedBy: by }),
      create: {
        name: name ?? loaded.value.name,
        tags,
        ...(correlationId === undefined ? {} : { correlationId }),
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
        ...place.value,
        source: kept.value,
        mode: 'AUTO',
        globalMode: 'IMPLEMENTATION',
        input,
        limits,
        seed: seedFrom(machine),
      },
    });
    const end = await Promise.race([created, finished]);
    cancel();
    if (end === undefined || (await store.run(run)) !== undefined) return ok(run);
    const { workspace } = place.value;
    if (workspace !== undefined) await options.workspaces?.discard(run, workspace);
    const twin = idempotencyKey === undefined ? undefined : await runWithKey(idempotencyKey);
    return twin === undefined ? err(notStarted(file, end)) : ok(twin);
  }

  /** Where a run works: in its directory, or in files of its own. */
  async function placeOf(run: RunId, directory: string, isOwn: boolean): Promise<Result<RunPlace, ErrorEnvelope>> {
    if (!isOwn) return ok({ workingDirectory: directory });
    return options.workspaces === undefined ? err(noWorkspaces()) : options.workspaces.make(run, directory);
  }

  async function runWithKey(idempotencyKey: string): Promise<RunId | undefined> {
    return (await store.runs({ idempotencyKey, limit: 1 })).items[0]?.id;
  }

  /** Resolves when the run is there. */
  function firstCommit(run: RunId): { readonly created: Promise<undefined>; cancel(): void } {
    let cancel = () => {};
    const created = new Promise<undefined>(resolve => {
      cancel = store.subscribe(run, () => resolve(undefined));
    });
    return { created, cancel };
  }

  const resume: RunHost['resume'] = async (run, { useCurrent = false, by } = {}) => {
    if (driven.has(run)) return err(alreadyDriven(run));
    const record = await store.run(run);
    if (record === undefined) return err(unknownRun(run));
    if (record.status === 'completed') return err(alreadyCompleted(run));
    if (record.origin?.kind === 'sub-plan') return resume(record.origin.run, { useCurrent, by });
    const source = useCurrent
      ? ok<PlanSource>({ kind: 'file', file: record.source?.entry ?? '' })
      : await keptPlan(store, record);
    if (!source.ok) return source;
    const changed = await changesSince(record);
    if (by !== undefined && !driven.has(run)) {
      const event = draftEvent(machine, 'operator.acted', { action: 'resume', by });
      const told = await store.commit({ at: timestampOf(machine.clock), events: [event] }, { run, version: 'any' });
      if (!told.ok) return err(told.error);
    }
    // Somebody else may have taken it up while the files were read.
    if (driven.has(run)) return err(alreadyDriven(run));
    const limit = await stopVerdict(store, run, machine.clock);
    void drive({ ...job(run, source.value, changed, record), limit });
    return ok(run);
  };

  const interventions = createInterventions({
    store,
    machine,
    tools: options.tools,
    workspaces: options.workspaces,
    threads,
    resume,
    resumeWaiting: options.resumeOnAnswer === true,
  });

  const finished: RunHost['finished'] = run => driven.get(run);
  const act = createRunActs({ store, machine, threads, interventions, change, resume, finished });
  const { tools, workspaces } = options;
  const rollback = createRollback({ store, machine, tools, workspaces, act, resume, finished });

  const answer: RunHost['answer'] = async (id, given, by) => {
    const answered = await decisions.answer(id, given, by);
    if (!answered.ok) return answered;
    const { run, decision } = answered.value;
    const isTold = await wake(run, decision.node);
    if (!isTold && options.resumeOnAnswer === true) await resume(run);
    return ok(decision);
  };

  /** Tells the run that waits, or the nearest one above it that is driven. */
  async function wake(run: RunId, node: string): Promise<boolean> {
    const told = await threads.command(run, { kind: 'wake', node });
    if (told === 'done') return true;
    // It goes to rest just now: it is taken up again when it rests.
    if (told === 'over') await finished(run);
    const { origin } = (await store.run(run)) ?? {};
    return origin?.kind === 'sub-plan' ? wake(origin.run, origin.node) : false;
  }

  return {
    reader: store,
    feed: store,
    blobs: store,
    bundles: runBundles({
      ...options,
      ...machine,
      store,
      env: options.env ?? process.env,
      appVersion: manifest.version,
    }),
    providers: createProviders({
      clock: machine.clock,
      rateLimits,
      activity,
      references: options.providers ?? [],
      clean: options.clean,
    }),
    activity,
    inspection,
    retention: createRetentionDesk({ ...options, store, driven: () => [...driven.keys()] }),
    start,
    resume,
    act,
    fork: interventions.fork,
    checkpoints: interventions.checkpoints,
    undo: interventions.undo,
    rollback,
    answer,
    finished,
    driven: () => [...driven.keys()],
    rest,
    async close() {
      inspection.close();
      await rest('signalbox');
      threads.close();
      stopWithdrawing();
      await journals.close();
    },
  };
}

type RunPlace = Pick<RunRecord, 'workspace'> & { readonly workingDirectory: string };

function seedFrom({ rng }: Machine): number {
  return rng.bytes(4).reduce((seed, byte) => seed * 256 + byte, 0);
}
