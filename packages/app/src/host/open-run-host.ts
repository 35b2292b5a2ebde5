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
import type { TraceEntry } from '@signalbox/plan';
import type { AgentRunner, RunReader } from '@signalbox/runs';
import manifest from '../../package.json' with { type: 'json' };
import { createAgentInbox } from '../agents/agent-inbox.ts';
import type { AgentTools } from '../agents/agent-tools.ts';
import { createActivity } from '../agents/host-activity.ts';
import { createProviders } from '../agents/providers.ts';
import { createRateLimitDesk } from '../agents/rate-limit-desk.ts';
import { runBundles } from '../bundles/run-bundles.ts';
import { compareRuns } from '../compare/compare-runs.ts';
import { createDecisionDesk, type DecisionDesk } from '../decisions/decision-desk.ts';
import { withdrawUnneeded } from '../decisions/withdraw-unneeded.ts';
import type { ForkRequest } from '../forks/fork-request.ts';
import { createInterventions } from '../forks/interventions.ts';
import { createRollback } from '../forks/rollback.ts';
import { createRunInspection } from '../inspection/run-inspection.ts';
import { createCeilingDesk } from '../limits/ceiling-desk.ts';
import type { LimitSettingsFile } from '../limits/limit-settings.ts';
import { type Limits, openLimits } from '../limits/open-limits.ts';
import type { Machine } from '../machine.ts';
import { createReservations } from '../meter/reservations.ts';
import { openRecoveryBook } from '../recoveries/recovery-book.ts';
import { createRedactDesk } from '../redact/redact-desk.ts';
import { createRetentionDesk, oneByOne, type RetentionDeskPorts } from '../retention/retention-desk.ts';
import { createJournalKeeper } from '../run-journal/journal-keeper.ts';
import { createJournalThread, type DerivedThread } from '../run-journal/journal-thread.ts';
import { createJournalWriter } from '../run-journal/journal-writer.ts';
import { createSearchDesk } from '../search/search-desk.ts';
import { feedWithHeld, withHeld } from '../storage/held-runs.ts';
import { createStorageDesk, type StorageDesk } from '../storage/storage-desk.ts';
import { openPlanThreads, type PlanThreads, type PlanThreadsOptions } from '../threads/plan-threads.ts';
import { threadHost } from '../threads/thread-host.ts';
import type { WorkspaceDesk } from '../workspaces/workspace-desk.ts';
import { createAnswers } from './answers.ts';
import { type ChangeUndriven, changeUndriven } from './change-undriven.ts';
import { createCommandGate } from './command-gate.ts';
import { createDrivenRuns } from './driven-runs.ts';
import { createTrust, type Trust } from './foreign-plan.ts';
import { createHostExecutor } from './host-executor.ts';
import { inheritedPlace } from './inherited-place.ts';
import { withInterrupted } from './interrupted-runs.ts';
import type { OwnedStore } from './owned-store.ts';
import { type PersonsWord, type PlanPlaces, planPlaces } from './plan-places.ts';
import { createRaise } from './raise-limits.ts';
import { createResume } from './resume-run.ts';
import { createRunActs } from './run-acts.ts';
import { createRunBudget, type RunBudget } from './run-budget.ts';
import { draftEvent } from './run-events.ts';
import type { RunHost } from './run-host.ts';
import { createStart } from './start-run.ts';
import { workingDirectoryFault } from './working-directory.ts';

export interface RunHostOptions extends Pick<RetentionDeskPorts, 'collectSessions' | 'removeWorkspace'> {
  readonly owned: OwnedStore;
  readonly dataDirectory: string;
  readonly machine: Machine;
  readonly agents: AgentRunner;
  /** Limits over more than one run; without them those of the data directory are opened. */
  readonly limits?: Limits;
  /** Workspaces for runs whose plan asks for one; without it such a plan is refused. */
  readonly workspaces?: WorkspaceDesk | undefined;
  /** What the tool calls of agents left behind, for undoing them. */
  readonly tools?: AgentTools;
  /** The results of recoveries. */
  readonly recoveries?: RunHost['recoveries'];
  /** Directories that plans may be started from by callers other than the command line. */
  readonly planRoots?: readonly string[];
  readonly threads?: Partial<Omit<PlanThreadsOptions, 'timers'>>;
  /** Providers that agents can call here, and the filter that removes secrets from their output. */
  readonly providers?: readonly ProviderReference[];
  readonly clean?: (text: string) => string;
  /** Writes journals and logs; without it the host has a thread for journals. The caller closes it after the host. */
  readonly derived?: DerivedThread;
  /** The environment whose secrets must not leave. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Resumes a waiting run as soon as it is answered. */
  readonly resumeOnAnswer?: boolean;
  readonly trace?: (run: RunId, entry: TraceEntry) => void;
}

/** Shared by the parts of a host. */
export interface HostBase extends Pick<OwnedStore, 'store' | 'owner' | 'secrets'> {
  readonly options: RunHostOptions;
  readonly machine: Machine;
  /** Variables that plans may see. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Commits that cannot be repeated by the caller: they wait while the disk is full. */
  readonly storage: StorageDesk;
  readonly decisions: DecisionDesk;
  readonly threads: PlanThreads;
  readonly places: PlanPlaces;
  /** Where agents may work, by location and by content. */
  allowedDirectory(word: PersonsWord): (directory: string) => Result<string, ErrorEnvelope>;
  readonly trust: Trust;
  readonly change: ChangeUndriven;
  readonly budget: RunBudget;
  readonly limits: LimitSettingsFile;
}

/** Creates the parts of a host and connects them. */
export async function openRunHost(options: RunHostOptions): Promise<RunHost> {
  const { owned, machine, agents, dataDirectory } = options;
  const { store, owner, secrets } = owned;
  const { filter } = secrets;
  const env = { ...(options.env ?? process.env) };
  const storage = createStorageDesk({
    store,
    dataDirectory,
    ...machine,
    onOver(run, hold) {
      const events = [draftEvent(machine, 'run.held', hold)];
      void store.commit({ at: timestampOf(machine.clock), events }, { run, version: 'any' });
    },
  });
  const derived = options.derived ?? createJournalThread({ dataDirectory, secrets: secrets.shared });
  const journals = createJournalKeeper({
    feed: store,
    projects: store,
    timers: machine.timers,
    writer: derived,
    last: createJournalWriter(dataDirectory, store),
  });
  const search = createSearchDesk({ feed: store, timers: machine.timers, derived });
  const decisions = createDecisionDesk({ commit: storage, reader: store, machine, secrets });
  const activity = createActivity();
  const rateLimits = createRateLimitDesk(machine, { tell: activity.tell });
  const inbox = createAgentInbox({ commit: storage, reader: store, machine, secrets: filter });
  const limits = options.limits ?? openLimits({ dataDirectory, reader: store, clock: machine.clock });
  const { ceilings } = limits;
  const budget = createRunBudget({ reader: store, clock: machine.clock, ceilings });
  const reservations = createReservations();
  const executor = createHostExecutor({
    inbox,
    commit: storage,
    reader: store,
    machine,
    decisions,
    storage,
    agents,
    tools: options.tools,
    rateLimits,
    reservations,
    budget,
    activity,
    secrets: filter,
    onVerdict: (run, verdict) => threads.limit(run, verdict),
  });
  const threads = openPlanThreads(
    where =>
      threadHost({
        where,
        store,
        clock: machine.clock,
        storage,
        executor,
        workspaces: options.workspaces,
        tools: {
          callTool: (...call) => threads.callTool(...call),
          abortTool: (...call) => threads.abortTool(...call),
        },
        onProgress: (run, execution, progress) => threads.progress(run, execution, progress),
        onSubRun: (run, parent, isDriven) => threads.adopt(run, parent, isDriven),
        onTrace: (run, entry) => options.trace?.(run, entry),
        onFramed: ms => activity.tell({ kind: 'framed', ms }),
      }),
    {
      timers: machine.timers,
      threads: Math.max(1, availableParallelism() - 1),
      cacheDirectory: path.join(dataDirectory, 'cache', 'plans'),
      secrets: secrets.shared,
      env,
      ...options.threads,
    },
  );
  const stopBeating = beat(owner, machine);
  const stopWithdrawing = await withdrawUnneeded(store, store, decisions);
  const places = planPlaces({ dataDirectory, roots: options.planRoots ?? [] });
  const base: HostBase = {
    options,
    store,
    machine,
    owner,
    secrets,
    env,
    storage,
    decisions,
    threads,
    places,
    allowedDirectory: word => directory => {
      const found = places.directory(directory, word);
      const fault = found.ok ? workingDirectoryFault(found.value, dataDirectory) : undefined;
      return fault === undefined ? found : err(fault);
    },
    trust: createTrust(store, machine),
    change: changeUndriven(storage, store, machine),
    budget,
    limits: limits.settings,
  };

  const runs = createDrivenRuns(base, { executor, rateLimits });
  const { finished } = runs;
  const raise = createRaise({ ...base, finished });
  const resumeWaiting = options.resumeOnAnswer === true;
  const ceilingDesk = createCeilingDesk({
    ...{ limits, reader: store, machine, decisions, reservations, raiseRun: raise },
    resume: resumeWaiting ? run => resume(run) : undefined,
    finished,
  });
  const answers = createAnswers(base, {
    ...{ raise, ceilings: ceilingDesk, finished },
    stop: (...args) => act(...args),
    resume: run => resume(run),
  });
  const start = createStart(base, runs);
  const resume = createResume(base, runs, { raise, answers });
  const { tools, workspaces } = options;
  const interventions = createInterventions({ ...base, tools, workspaces, resume, resumeWaiting });
  const act = createRunActs({ ...base, interventions, resume, finished });
  const rollback = createRollback({ ...base, tools, workspaces, act, resume, finished });
  const taking = { store, driven: runs.ids, rewriteJournal: journals.rewrite, derived, alone: oneByOne() };
  const inspection = createRunInspection({ ...options, places, reader: store, secrets, drain: journals.drain });

  /** The directory that a fork is given, or else those that it would inherit. */
  async function forkPlace(run: RunId, request: ForkRequest): Promise<Result<unknown, ErrorEnvelope>> {
    const { directory, anyFile } = request;
    if (directory !== undefined) return base.allowedDirectory(request)(directory);
    const parent = await store.run(run);
    return parent === undefined ? ok(undefined) : inheritedPlace(store, parent, base.allowedDirectory({ anyFile }));
  }

  /** An error about a plan may quote it. */
  function told<T extends Result<unknown, ErrorEnvelope>>(answer: T): T {
    return answer.ok ? answer : filter.data(answer);
  }

  const gate = createCommandGate();
  ceilingDesk.open();
  const retention = createRetentionDesk({ ...options, ...taking });
  const redactions = createRedactDesk({ ...options, ...taking, secrets });
  const bundles = runBundles({
    ...options,
    places,
    ...machine,
    store,
    env,
    appVersion: manifest.version,
    drain: journals.drain,
  });

  /** A person's request cannot wait in memory for space: it is refused. */
  function held(): { readonly ok: false; readonly error: ErrorEnvelope } | undefined {
    const refusal = storage.refusal();
    return refusal && err(refusal);
  }

  return {
    reader: withHeld<RunReader>(
      withInterrupted<RunReader>(store, () => owner.id),
      storage.standing,
    ),
    feed: feedWithHeld(store, storage),
    storage,
    blobs: store,
    bundles: { ...bundles, import: (...args) => gate.through(() => bundles.import(...args)) },
    providers: createProviders({
      clock: machine.clock,
      rateLimits,
      activity,
      references: options.providers ?? [],
      clean: options.clean,
    }),
    activity,
    limits: {
      read: ceilingDesk.read,
      change: (...args) => gate.through(async () => held() ?? (await ceilingDesk.change(...args))),
    },
    recoveries: options.recoveries ?? openRecoveryBook(dataDirectory, machine.clock),
    compare: (a, b) => compareRuns({ reader: store, contents: store, dataDirectory, now: machine.clock.now }, a, b),
    search,
    inspection,
    retention: {
      ...retention,
      keep: (...args) => gate.through(() => retention.keep(...args)),
      async collect(...args) {
        const collected = await gate.through(() => retention.collect(...args));
        search.refresh();
        return collected;
      },
    },
    redactions: { ...redactions, redact: (...args) => gate.through(() => redactions.redact(...args)) },
    start: request => gate.through(async () => told(held() ?? (await start(request)))),
    resume: (run, request) => gate.through(async () => told(held() ?? (await resume(run, request)))),
    act: (run, action, by) => gate.through(async () => told(held() ?? (await act(run, filter.data(action), by)))),
    fork: (run, request, by) =>
      gate.through(async () => {
        const worksIn = await forkPlace(run, request);
        if (!worksIn.ok) return worksIn;
        return told(held() ?? (await interventions.fork(run, filter.data(request), by)));
      }),
    checkpoints: interventions.checkpoints,
    changes: interventions.changes,
    tell: inbox.tell,
    undo: (...args) => gate.through(() => interventions.undo(...args)),
    rollback: (run, request, by) => gate.through(async () => told(held() ?? (await rollback(run, request, by)))),
    answer: (id, given, by) =>
      gate.through(async () => told(held() ?? (await answers.answer(id, filter.data(given), by)))),
    finished,
    driven: runs.ids,
    async endOnceIdle(tell) {
      let isTold = false;
      for (let others = runs.ids(), under = gate.underWay(); others.length > 0 || under !== undefined; ) {
        if (others.length > 0 && !isTold) tell(others.length);
        isTold ||= others.length > 0;
        await Promise.allSettled([under, ...others.map(finished)]);
        [others, under] = [runs.ids(), gate.underWay()];
      }
      gate.shut();
    },
    rest(by) {
      gate.shut();
      ceilingDesk.close();
      return runs.rest(by);
    },
    async close() {
      gate.shut();
      ceilingDesk.close();
      inspection.close();
      search.close();
      await runs.close();
      stopWithdrawing();
      stopBeating();
      // A removal in progress needs the writer of journals.
      await taking.alone(async () => {});
      await journals.close();
    },
  };
}

const BEAT_MS = 1000;

/** Writes signs of life for the next owner, while this one lives. Returns a function that stops them. */
function beat(owner: OwnedStore['owner'], { timers }: Machine): () => void {
  let cancel = () => {};
  const next = () => {
    owner.beat();
    cancel = timers.after(BEAT_MS, next);
  };
  next();
  return () => cancel();
}
