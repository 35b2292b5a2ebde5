import { availableParallelism } from 'node:os';
import path from 'node:path';
import {
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type ProviderReference,
  type Result,
  type RunId,
  timestampOf,
} from '@signalbox/model';
import { type RunEnd, stopUndriven, type TraceEntry } from '@signalbox/plan';
import {
  type AgentRunner,
  type Decision,
  isSamePlan,
  type NewRun,
  type RunReader,
  type RunRecord,
} from '@signalbox/runs';
import manifest from '../../package.json' with { type: 'json' };
import type { AgentTools } from '../agents/agent-tools.ts';
import { createActivity } from '../agents/host-activity.ts';
import { createProviders } from '../agents/providers.ts';
import { createRateLimitDesk } from '../agents/rate-limit-desk.ts';
import { runBundles } from '../bundles/run-bundles.ts';
import { createDecisionDesk } from '../decisions/decision-desk.ts';
import { limitOf } from '../decisions/limit-decisions.ts';
import { withdrawUnneeded } from '../decisions/withdraw-unneeded.ts';
import type { ForkRequest } from '../forks/fork-request.ts';
import { createInterventions } from '../forks/interventions.ts';
import { createRollback } from '../forks/rollback.ts';
import { createRunInspection } from '../inspection/run-inspection.ts';
import type { Machine } from '../machine.ts';
import { openRecoveryBook } from '../recoveries/recovery-book.ts';
import { createRedactDesk } from '../redact/redact-desk.ts';
import { createRetentionDesk, oneByOne, type RetentionDeskPorts } from '../retention/retention-desk.ts';
import { createJournalKeeper } from '../run-journal/journal-keeper.ts';
import { createJournalThread, type DerivedThread } from '../run-journal/journal-thread.ts';
import { createJournalWriter } from '../run-journal/journal-writer.ts';
import { feedWithHeld, withHeld } from '../storage/held-runs.ts';
import { createStorageDesk } from '../storage/storage-desk.ts';
import { planEnvironment } from '../threads/plan-environment.ts';
import { type Halted, openPlanThreads, type PlanThreadsOptions, type ThreadLost } from '../threads/plan-threads.ts';
import { createReadAhead } from '../threads/read-ahead.ts';
import type { DriveEnd, DriveJob, PlanSource } from '../threads/thread-api.ts';
import { threadHost } from '../threads/thread-host.ts';
import { noWorkspaces } from '../workspaces/work-with-files.ts';
import type { WorkspaceDesk } from '../workspaces/workspace-desk.ts';
import { changeUndriven } from './change-undriven.ts';
import { createTrust } from './foreign-plan.ts';
import { createHostExecutor } from './host-executor.ts';
import { inheritedPlace } from './inherited-place.ts';
import { createLimitAnswers } from './limit-answers.ts';
import type { OwnedStore } from './owned-store.ts';
import { changesSince, keepPlan, keptPlan, noSource } from './plan-files.ts';
import { planLost } from './plan-lost.ts';
import { type PersonsWord, planPlaces } from './plan-places.ts';
import { createRaise } from './raise-limits.ts';
import { createRunActs, TOLD_MS } from './run-acts.ts';
import { stopVerdict } from './run-budget.ts';
import { draftEvent } from './run-events.ts';
import { alreadyCompleted, alreadyDriven, unknownRun } from './run-failures.ts';
import type { RunHost, StartRequest } from './run-host.ts';
import { within } from './within.ts';
import { workingDirectoryFault } from './working-directory.ts';

export interface RunHostOptions extends Pick<RetentionDeskPorts, 'collectSessions' | 'removeWorkspace'> {
  readonly owned: OwnedStore;
  readonly dataDirectory: string;
  readonly machine: Machine;
  readonly agents: AgentRunner;
  /** Files of their own for runs whose plan asks for them; without it such a plan is refused. */
  readonly workspaces?: WorkspaceDesk | undefined;
  /** What the tool calls of agents left behind, for undoing them. */
  readonly tools?: AgentTools;
  /** What recoveries did. */
  readonly recoveries?: RunHost['recoveries'];
  /** Directories that plans may be started from by callers who are not at the command line. */
  readonly planRoots?: readonly string[];
  readonly threads?: Partial<Omit<PlanThreadsOptions, 'timers'>>;
  /** Providers that agents can call here, and what takes secrets out of what they say. */
  readonly providers?: readonly ProviderReference[];
  readonly clean?: (text: string) => string;
  /** Writes journals and logs; without it the host has a thread for journals. Whoever gives it closes it after the host. */
  readonly derived?: DerivedThread;
  /** Whose secrets are in nothing that leaves. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A run that waits goes on as soon as it is answered. */
  readonly resumeOnAnswer?: boolean;
  readonly trace?: (run: RunId, entry: TraceEntry) => void;
}

/** How long the end of the process waits for runs to rest: longer than the grace that they give their work. */
const REST_GRACE_MS = 15_000;

export async function openRunHost(options: RunHostOptions): Promise<RunHost> {
  const { owned, machine, agents } = options;
  const { store, owner, secrets } = owned;
  const { filter } = secrets;
  /** What becomes of each run that is driven now. */
  const driven = new Map<RunId, Promise<RunEnd>>();
  let isClosed = false;
  const env = { ...(options.env ?? process.env) };
  const storage = createStorageDesk({
    store,
    dataDirectory: options.dataDirectory,
    ...machine,
    onOver(run, hold) {
      const events = [draftEvent(machine, 'run.held', hold)];
      void store.commit({ at: timestampOf(machine.clock), events }, { run, version: 'any' });
    },
  });
  const change = changeUndriven(storage, store, machine);
  const derived =
    options.derived ?? createJournalThread({ dataDirectory: options.dataDirectory, secrets: secrets.shared });
  const journals = createJournalKeeper({
    feed: store,
    timers: machine.timers,
    writer: derived,
    last: createJournalWriter(options.dataDirectory, store),
  });
  const decisions = createDecisionDesk({ commit: storage, reader: store, machine, secrets });
  const activity = createActivity();
  const rateLimits = createRateLimitDesk(machine, { tell: activity.tell });
  const executor = createHostExecutor({
    commit: storage,
    reader: store,
    machine,
    decisions,
    storage,
    agents,
    rateLimits,
    activity,
    secrets: filter,
    onVerdict: (run, verdict) => threads.limit(run, verdict),
  });
  const ahead = createReadAhead(store);
  const threads = openPlanThreads(
    where =>
      threadHost({
        where,
        store,
        ahead,
        clock: machine.clock,
        storage,
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
      secrets: secrets.shared,
      env,
      ...options.threads,
    },
  );
  const stopBeating = beat(owner, machine);
  const stopWithdrawing = await withdrawUnneeded(store, store, decisions);
  const places = planPlaces({ dataDirectory: options.dataDirectory, roots: options.planRoots ?? [] });
  const trustIn = createTrust(store, machine);
  const taking = {
    store,
    driven: () => [...driven.keys()],
    rewriteJournal: journals.rewrite,
    derived,
    alone: oneByOne(),
  };
  const inspection = createRunInspection({ ...options, places, reader: store, secrets, drain: journals.drain });

  const job = (
    run: RunId,
    source: PlanSource,
    changed: readonly string[],
    { workingDirectory, workspace, source: kept }: Pick<RunRecord, 'workingDirectory' | 'workspace' | 'source'>,
  ): Omit<DriveJob, 'limit'> => ({
    run,
    source,
    ...(kept === undefined ? {} : { kept }),
    owner: owner.id,
    formerOwner: owner.former,
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
      const kept = await keptPlan(store, { id: run, source: first.kept });
      const limit = await stopVerdict(store, run, machine.clock);
      const place = { ...record, ...(first.kept && { source: first.kept }) };
      return { ...job(run, kept.ok ? kept.value : first.source, [], place), limit };
    };
    if (first.isNew !== true) ahead.begin(run);
    const finished = threads.drive(first, again).then(async end => filter.data(await settle(run, end)));
    driven.set(run, finished);
    const rest = () => {
      driven.delete(run);
      ahead.end(run);
    };
    finished.then(rest, rest);
    return finished;
  }

  async function settle(run: RunId, end: DriveEnd | ThreadLost | Halted): Promise<RunEnd> {
    if (end.status === 'halted') return halt(run, end.command);
    if (end.status !== 'thread-lost' && end.status !== 'not-loaded') return end;
    const record = await store.run(run);
    if (end.status === 'thread-lost' && isClosed) {
      // It did not let go by itself; what was under way is an orphan of this process.
      if (record !== undefined) await change(run, { status: 'paused' }, { action: 'pause', by: 'signalbox' });
      return { status: 'paused' };
    }
    const error =
      end.status === 'not-loaded'
        ? ({ class: 'terminal', code: end.error.code, message: end.error.message } as const)
        : ({ class: 'terminal', code: 'thread-lost', message: `Its thread was lost: ${end.reason}` } as const);
    const failed = { status: 'failed', error } as const;
    if (record !== undefined) await change(run, failed, { action: 'terminate', by: 'signalbox' });
    return failed;
  }

  /** Does to a run whose thread did not answer what it was told. */
  async function halt(run: RunId, { by, ...command }: Halted['command']): Promise<RunEnd> {
    if (command.kind !== 'pause') {
      await stopUndriven({ commit: storage, reader: store, ...machine }, run, command.reason, by);
      return { status: 'stopped', reason: command.reason };
    }
    await change(run, { status: 'paused' }, { action: 'pause', by });
    return { status: 'paused' };
  }

  /** Pauses what is driven, and waits until all of it rests. */
  async function rest(by: (run: RunId) => string): Promise<void> {
    rateLimits.endWaits();
    storage.endWaits();
    for (const run of driven.keys()) void threads.command(run, { kind: 'pause', by: by(run), now: true });
    let cancel = () => {};
    const grace = new Promise<void>(resolve => {
      cancel = machine.timers.after(REST_GRACE_MS, resolve);
    });
    // Rollbacks go on here after a thread has let go of the call.
    await Promise.race([Promise.allSettled(driven.values()).then(executor.idle), grace]);
    cancel();
  }

  async function start(request: StartRequest): Promise<Result<RunId, ErrorEnvelope>> {
    const { file, directory } = request;
    const { input, name, tags = [], correlationId, limits = {}, by } = filter.data(request);
    const idempotencyKey = keyOf(request.idempotencyKey);
    const first = idempotencyKey === undefined ? undefined : await runWithKey(idempotencyKey);
    if (first !== undefined) return ok(first);
    const found = request.anyFile === true ? ok(path.resolve(file)) : places.find(file);
    if (!found.ok) return found;
    const worksIn = allowedDirectory(request)(directory ?? path.dirname(path.resolve(file)));
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
      ...(correlationId === undefined ? {} : { correlationId }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
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
      ...(by === undefined ? {} : { by }),
    });
    const written = await storage.commit(
      { at: timestampOf(machine.clock), run: { kind: 'create', run: create }, events: [created] },
      { run, epoch: 0, version: 0 },
    );
    if (!written.ok) {
      const { workspace } = place.value;
      if (workspace !== undefined) await options.workspaces?.discard(run, workspace);
      const twin = idempotencyKey === undefined ? undefined : await runWithKey(idempotencyKey);
      return twin === undefined ? err(written.error) : ok(twin);
    }
    // The run is there: who asked for it need not wait for its first frame, which may never come.
    const limit = await stopVerdict(store, run, machine.clock);
    void drive({ ...job(run, source, [], { ...place.value, source: kept.value }), limit, isNew: true });
    return ok(run);
  }

  /** Two keys that differ in a secret are two. */
  function keyOf(given: string | undefined): string | undefined {
    if (given === undefined || !filter.has(given)) return given;
    return `redacted-${secrets.mac(given)}`;
  }

  /** Where a run works: in its directory, or in files of its own. */
  async function placeOf(run: RunId, directory: string, isOwn: boolean): Promise<Result<RunPlace, ErrorEnvelope>> {
    if (!isOwn) return ok({ workingDirectory: directory });
    return options.workspaces === undefined ? err(noWorkspaces()) : options.workspaces.make(run, directory);
  }

  async function runWithKey(idempotencyKey: string): Promise<RunId | undefined> {
    return (await store.runs({ idempotencyKey, limit: 1 })).items[0]?.id;
  }

  const resume: RunHost['resume'] = async (
    run,
    { useCurrent = false, anyFile = false, trust, limits = {}, by } = {},
  ) => {
    const known = await store.run(run);
    if (known?.status === 'completed') return err(alreadyCompleted(run));
    const trusted = known === undefined ? ok(undefined) : await trustIn(known, trust, by);
    if (!trusted.ok) return trusted;
    if (known !== undefined && Object.keys(limits).length > 0) {
      const raised = await raise(run, limits, by ?? 'signalbox');
      if (!raised.ok) return raised;
      // It went on already, and does so with the new limits.
      if (raised.value === 'driven') return ok(run);
    }
    if (driven.has(run)) return err(alreadyDriven(run));
    const record = await store.run(run);
    if (record === undefined) return err(unknownRun(run));
    if (record.origin?.kind === 'sub-plan') return resume(record.origin.run, { useCurrent, anyFile, by });
    // A run that was driven here and goes on by itself was allowed before.
    const isAllowed = by === undefined && record.owner !== undefined;
    const worksIn = isAllowed ? ok(undefined) : await inheritedPlace(store, record, allowedDirectory({ anyFile }));
    if (!worksIn.ok) return worksIn;
    const late = await limitAnswers.deliverLate(run);
    if (!late.ok) return late;
    const version = useCurrent ? await currentPlan(record, anyFile) : ok(record.source);
    if (!version.ok) return version;
    const source = await keptPlan(store, { id: run, source: version.value });
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
    void drive({ ...job(run, source.value, changed, { ...record, source: version.value }), limit });
    return ok(run);
  };

  /** Where agents may work, by where it lies and by what it is. */
  function allowedDirectory(word: PersonsWord): (directory: string) => Result<string, ErrorEnvelope> {
    return directory => {
      const found = places.directory(directory, word);
      const fault = found.ok ? workingDirectoryFault(found.value, options.dataDirectory) : undefined;
      return fault === undefined ? found : err(fault);
    };
  }

  /** The directory that a fork is given, or else those that it would inherit. */
  async function forkPlace(run: RunId, request: ForkRequest): Promise<Result<unknown, ErrorEnvelope>> {
    const { directory, anyFile } = request;
    if (directory !== undefined) return allowedDirectory(request)(directory);
    const parent = await store.run(run);
    return parent === undefined ? ok(undefined) : inheritedPlace(store, parent, allowedDirectory({ anyFile }));
  }

  /** The plan as its files are now, kept: another version of it, unless they are as they were. */
  async function currentPlan(
    { id, source, input }: RunRecord,
    anyFile: boolean,
  ): Promise<Result<RunRecord['source'], ErrorEnvelope>> {
    if (source === undefined) return err(noSource(id));
    const found = anyFile ? ok(source.entry) : places.find(source.entry);
    if (!found.ok) return found;
    const loaded = await threads.load({ kind: 'file', file: found.value, isPlace: !anyFile }, input);
    if ('status' in loaded) return err(planLost(source.entry, loaded.reason));
    if (!loaded.ok) return loaded;
    const current = await keepPlan(store, loaded.value.closure);
    return current.ok && isSamePlan(source, current.value) ? ok(source) : current;
  }

  const interventions = createInterventions({
    store,
    machine,
    tools: options.tools,
    workspaces: options.workspaces,
    threads,
    trust: trustIn,
    resume,
    resumeWaiting: options.resumeOnAnswer === true,
  });

  const finished: RunHost['finished'] = run => driven.get(run);
  const raise = createRaise({ store, machine, threads, decisions, finished });
  const limitAnswers = createLimitAnswers({ reader: store, decisions, raise, stop: (...args) => act(...args) });
  const act = createRunActs({
    store,
    machine,
    threads,
    trust: trustIn,
    interventions,
    change,
    resume,
    finished,
  });
  const { tools, workspaces } = options;
  const rollback = createRollback({ store, machine, tools, workspaces, trust: trustIn, act, resume, finished });

  const answer: RunHost['answer'] = async (id, given, by) => {
    const answered = await decisions.answer(id, given, by);
    if (!answered.ok) return answered;
    const { run, decision } = answered.value;
    if (limitOf(decision) !== undefined) {
      const done = await answerLimit(run, decision);
      return done.ok ? ok(decision) : done;
    }
    const isTold = wake(run, decision.node);
    const goingOn = isTold.then(told => (told || options.resumeOnAnswer !== true ? undefined : resume(run)));
    // The answer is durable: whoever gave it does not wait for a thread that is stuck.
    await within(machine.timers, TOLD_MS, goingOn);
    return ok(decision);
  };

  /** What is said of a plan may quote it. */
  function told<T extends Result<unknown, ErrorEnvelope>>(answer: T): T {
    return answer.ok ? answer : filter.data(answer);
  }

  /** What a person asks for cannot wait in memory for room: it is refused. */
  function held(): { readonly ok: false; readonly error: ErrorEnvelope } | undefined {
    const refusal = storage.refusal();
    return refusal && err(refusal);
  }

  /** Raises the limit that was asked about and goes on, or stops the run. */
  async function answerLimit(run: RunId, decision: Decision): Promise<Result<unknown, ErrorEnvelope>> {
    const done = await limitAnswers.deliver(run, decision);
    if (!done.ok || done.value !== 'rests' || options.resumeOnAnswer !== true) return done;
    const resumed = await resume(run);
    return !resumed.ok && resumed.error.code === 'run/driven' ? ok(run) : resumed;
  }

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
    reader: withHeld<RunReader>(store, storage.standing),
    feed: feedWithHeld(store, storage),
    storage,
    blobs: store,
    bundles: runBundles({
      ...options,
      places,
      ...machine,
      store,
      env,
      appVersion: manifest.version,
      drain: journals.drain,
    }),
    providers: createProviders({
      clock: machine.clock,
      rateLimits,
      activity,
      references: options.providers ?? [],
      clean: options.clean,
    }),
    activity,
    recoveries: options.recoveries ?? openRecoveryBook(options.dataDirectory, machine.clock),
    inspection,
    retention: createRetentionDesk({ ...options, ...taking }),
    redactions: createRedactDesk({ ...options, ...taking, secrets }),
    start: async request => told(held() ?? (await start(request))),
    resume: async (run, request) => told(held() ?? (await resume(run, request))),
    act: async (run, action, by) => told(held() ?? (await act(run, filter.data(action), by))),
    fork: async (run, request, by) => {
      const worksIn = await forkPlace(run, request);
      if (!worksIn.ok) return worksIn;
      return told(held() ?? (await interventions.fork(run, filter.data(request), by)));
    },
    checkpoints: interventions.checkpoints,
    undo: interventions.undo,
    rollback: async (run, request, by) => told(held() ?? (await rollback(run, request, by))),
    answer: async (id, given, by) => told(held() ?? (await answer(id, filter.data(given), by))),
    finished,
    driven: () => [...driven.keys()],
    rest,
    async close() {
      inspection.close();
      await rest(() => 'signalbox');
      isClosed = true;
      threads.close();
      await Promise.allSettled(driven.values());
      stopWithdrawing();
      stopBeating();
      // What is being taken away needs whoever writes journals.
      await taking.alone(async () => {});
      await journals.close();
    },
  };
}

type RunPlace = Pick<RunRecord, 'workspace'> & { readonly workingDirectory: string };

const BEAT_MS = 1000;

/** Signs of life for the next owner, as long as this one lives. Returns how to end them. */
function beat(owner: OwnedStore['owner'], { timers }: Machine): () => void {
  let cancel = () => {};
  const next = () => {
    owner.beat();
    cancel = timers.after(BEAT_MS, next);
  };
  next();
  return () => cancel();
}

function environmentUnknown(plan: string, why: string): ErrorEnvelope<'plan/load-failed'> {
  return failure('plan/load-failed', {
    message: `${plan} was not started: ${why}.`,
    suggestion: 'Correct that file: {"env": ["NAME"]} names the variables that plans of the project see.',
  });
}

function seedFrom({ rng }: Machine): number {
  return rng.bytes(4).reduce((seed, byte) => seed * 256 + byte, 0);
}
