/** The entry of a thread: it loads plans, drives their runs, and asks the host for everything durable. */
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import { type ErrorEnvelope, err, type Json, ok, type Result, type RunId, thrownMessage } from '@signalbox/model';
import {
  editFault,
  outlineOf,
  type PlanRun,
  planFailure,
  previewPlan,
  runPlan,
  signalFault,
  type TaskExecutor,
  type TaskRequest,
} from '@signalbox/plan';
import type { RunReader, StopVerdict } from '@signalbox/runs';
import { openQueries, type Queries, readRunValues } from '@signalbox/store';
import { inputRefused } from '../host/input-refused.ts';
import { thisMachine } from '../machine.ts';
import { filterOf } from '../secrets/open-secrets.ts';
import { createFileWatcher } from '../workspaces/file-watcher.ts';
import { hostPlanFiles } from '../workspaces/host-plan-files.ts';
import { threadWorkspace } from '../workspaces/thread-workspace.ts';
import { commitText } from './commit-message.ts';
import { compiledFiles } from './compiled-files.ts';
import { unwatched, watchIo } from './io-watch.ts';
import { reportEnd } from './last-words.ts';
import { type LoadedPlans, loadedPlans } from './loaded-plans.ts';
import { obey } from './obey.ts';
import { createOwnValues, TAKEN_SPACES } from './own-values.ts';
import { connectPort } from './port-calls.ts';
import { rowsOfText } from './rows-text.ts';

import type { DriveJob, HostCalls, ReadMethod, RemoteRequest, ThreadCalls } from './thread-api.ts';
import { data, guardThread, port } from './thread-guard.ts';
import { createThreadTools } from './thread-tools.ts';

const machine = thisMachine();
const { memoryMb, keepCode } = data;
/** A plan whose import has left its thread idle for this long waits for something that never comes. */
const IMPORT_MS = 20_000;
const MB = 1024 * 1024;
const { eventLoopUtilization } = performance;
const waitedMs = () => eventLoopUtilization().idle;
let filter = filterOf(undefined);
let plans: LoadedPlans;
/** Runs that are driven here, sub-plans included. */
const lives = new Map<RunId, PlanRun>();
/** Runs whose plan is being loaded. */
const loading = new Map<RunId, Promise<unknown>>();
const verdicts = new Map<RunId, StopVerdict>();
const queries = new Map<string, Queries>();
/** Frame durations that are not reported yet. */
const frames: number[] = [];
const progresses = new Map<string, TaskRequest['progress']>();
const tools = createThreadTools({
  clean: value => filter.data(value),
  operate: (...operation) => host.call('operate', ...operation),
});
const watcher = createFileWatcher(machine);

const calls: ThreadCalls = {
  begin({ cacheDirectory, secrets }) {
    filter = filterOf(secrets);
    const cache = cacheDirectory === undefined ? undefined : compiledFiles(cacheDirectory, nodeHasher, filter.has);
    plans = loadedPlans(cache, { timers: machine.timers, ms: IMPORT_MS, waitedMs });
  },
  async load(source, input) {
    const loaded = await plans.load(source);
    if (!loaded.ok) return loaded;
    const { plan, closure } = loaded.value;
    const facts = { name: plan.name, closure, workspace: plan.workspace === true };
    try {
      const accepted = plan.input.safeParse(input);
      return accepted.success ? ok(facts) : err(inputRefused(plan.name, accepted.error.issues));
    } catch (error) {
      return err(planFailure(error, 'plan/input-invalid'));
    }
  },
  async describe(source) {
    const loaded = await plans.load(source);
    return loaded.ok ? ok(outlineOf(loaded.value.plan)) : loaded;
  },
  async preview(source, input) {
    const loaded = await plans.load(source);
    if (!loaded.ok) return loaded;
    const root = source.kind === 'file' ? path.dirname(source.file) : source.root;
    const files = unwatched(hostPlanFiles({ root, refused: [], now: () => machine.clock.now() }));
    return previewPlan(loaded.value.plan, input, { ...machine, files });
  },
  async stateFault(source, key, value) {
    const loaded = await plans.load(source);
    return loaded.ok ? ok(editFault(loaded.value.plan, key, value)) : loaded;
  },
  async signalFault(run, source, name, payload) {
    await loading.get(run);
    const live = lives.get(run);
    if (live !== undefined) return ok(live.signalFault(name, payload));
    if (source === undefined) return ok('not-driven');
    const loaded = await plans.load(source);
    return loaded.ok ? ok(signalFault(loaded.value.plan, name, payload)) : loaded;
  },
  // Rarely used code is loaded on demand.
  replay: async job => (await import('../replay/replay-job.ts')).doReplay(plans, job, filter),
  verify: async ({ dataDirectory, run, expectHead }) =>
    (await import('../run-journal/verify-run.ts')).verifyRun(dataDirectory, run, expectHead),
  readValues: (run, database) => values.read(run, database),
  drive,
  async command(run, command) {
    await loading.get(run);
    const live = lives.get(run);
    if (live === undefined) return 'over';
    // The next verdict says whether the new limits are enough.
    if (command.kind === 'raise') for (const one of lives.keys()) verdicts.set(one, { kind: 'go' });
    return obey(live, command);
  },
  progress: (execution, progress) => progresses.get(execution)?.(progress),
  callTool: (execution, call) => tools.call(execution, call),
  abortTool: (execution, call) => tools.abort(execution, call),
  limit: (run, verdict) => void verdicts.set(run, verdict),
  environment(variables) {
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(variables, name)) delete process.env[name];
    Object.assign(process.env, variables);
  },
  ping() {},
};
const host = connectPort<HostCalls>(port, withoutSecrets(calls));
watchIo();
guardThread(memoryMb * MB);
reportEnd(
  value => filter.data(value),
  place => host.tell('dying', place),
);

const read =
  (method: ReadMethod) =>
  (...args: readonly unknown[]) =>
    host.call('read', method, args);
const ofOwner = {
  run: read('run'),
  at: async (...args: readonly unknown[]) => rowsOfText((await host.call('read', 'at', args)) as string),
  events: read('events'),
} as unknown as RunReader;
const values = createOwnValues(ofOwner, (run, database) => {
  const found = readRunValues(database, run, TAKEN_SPACES);
  return found.ok ? found.value : undefined;
});
/** The engine's reads of a run; everything else is the host's. */
const reader = {
  ...values,
  children: read('children'),
  transitions: read('transitions'),
  events: read('events'),
  tasks: read('tasks'),
  decisions: read('decisions'),
  artifact: read('artifact'),
  artifactList: read('artifactList'),
} as unknown as RunReader;

const executor: TaskExecutor = {
  timeOver: run => host.call('timeOver', run),
  allow: (request, doubts) => host.call('allow', remoteRequest(request), doubts),
  async execute(given) {
    const { signal, progress } = given;
    const execution = machine.ids.mint<RunId>();
    const request = remoteRequest(given);
    const abort = () => host.tell('abort', execution);
    signal.addEventListener('abort', abort, { once: true });
    progresses.set(execution, progress);
    if ('tools' in given.node.code) tools.open(execution, given.node.code.tools);
    try {
      return await host.call('execute', execution, request);
    } finally {
      progresses.delete(execution);
      tools.close(execution);
      signal.removeEventListener('abort', abort);
    }
  },
};

function remoteRequest({ run, task, node, iteration, totalIteration, attempt }: TaskRequest): RemoteRequest {
  const { kind, id, data, source } = node;
  return { run, task, iteration, totalIteration, attempt, node: { kind, id, data, ...(source && { source }) } };
}

async function drive(job: DriveJob): ReturnType<ThreadCalls['drive']> {
  const { run } = job;
  const taking = takeUp(job);
  loading.set(run, taking);
  const taken = await taking.finally(() => loading.delete(run));
  if (!taken.ok) {
    values.forget(run);
    return { status: 'not-loaded', error: taken.error };
  }
  try {
    return await taken.value.finished;
  } finally {
    values.forget(run);
    lives.delete(run);
    verdicts.delete(run);
    if (frames.length > 0) host.tell('framed', frames.splice(0));
    keepCode?.();
  }
}

async function takeUp(job: DriveJob): Promise<Result<PlanRun, ErrorEnvelope>> {
  const {
    run,
    source,
    kept,
    owner,
    formerOwner,
    create,
    isNew = false,
    startedBy,
    changed,
    limit,
    trace,
    database,
    directory,
    refused,
    workspace,
  } = job;
  if (!isNew) values.read(run, database);
  const loaded = await plans.load(source);
  if (!loaded.ok) return loaded;
  verdicts.set(run, limit);
  const live = runPlan({
    plan: loaded.value.plan,
    run,
    ...(create && { create }),
    isNew,
    ...(kept && { source: kept }),
    ...(startedBy !== undefined && { startedBy }),
    owner,
    formerOwner,
    changed,
    commit: { commit: (writes, guard) => host.call('commit', commitText({ writes, guard, frames: frames.splice(0) })) },
    commitsAhead: {},
    reader,
    executor,
    mayStart: asked => verdicts.get(asked) ?? verdicts.get(run) ?? limit,
    claim: true,
    onRun: (child, childLive) => adopt(child, run, childLive),
    keepVolatile: true,
    query: unwatched({ query: (sql: string, params: readonly Json[]) => queriesOf(database).query(sql, params) }).query,
    blobs: { put: contents => host.call('putBlobs', run, contents) },
    files: unwatched(hostPlanFiles({ root: directory, refused, watcher, now: () => machine.clock.now() })),
    ...(workspace && { workspace: threadWorkspace(workspace, request => host.call('workspace', run, request)) }),
    ...(trace && { trace: entry => host.tell('trace', run, filter.data(entry)) }),
    secrets: filter,
    onFrame() {
      const begun = performance.now();
      return () => void frames.push(performance.now() - begun);
    },
    ...machine,
  });
  lives.set(run, live);
  return ok(live);
}

/** Opened at a plan's first query. */
function queriesOf(database: string): Queries {
  const known = queries.get(database);
  if (known !== undefined) return known;
  const opened = openQueries({ path: database });
  if (!opened.ok) throw new Error(opened.error.message);
  queries.set(database, opened.value);
  return opened.value;
}

/** A sub-plan's run accepts commands like any other while it lives. */
function adopt(run: RunId, parent: RunId, live: PlanRun): void {
  lives.set(run, live);
  host.tell('subRun', run, parent, true);
  const forget = () => {
    lives.delete(run);
    verdicts.delete(run);
    host.tell('subRun', run, parent, false);
  };
  live.finished.then(forget, forget);
}

/** Removes secrets from answers and errors of a plan's code, which reach people and logs. The plan's own files are unchanged. */
function withoutSecrets(given: ThreadCalls): ThreadCalls {
  const wrapped = Object.entries(given).map(([name, call]) => {
    const cleaned = async (...args: readonly unknown[]) => {
      try {
        const answer = await (call as (...args: readonly unknown[]) => unknown)(...args);
        return name === 'load' && (answer as { readonly ok: boolean }).ok ? answer : filter.data(answer);
      } catch (thrown) {
        throw withText(thrown, filter.text(thrownMessage(thrown)));
      }
    };
    return [name, cleaned] as const;
  });
  return Object.fromEntries(wrapped) as unknown as ThreadCalls;
}

/** The error itself, or a replacement if it cannot be changed. */
function withText(thrown: unknown, message: string): Error {
  try {
    if (thrown instanceof Error) return Object.assign(thrown, { message });
  } catch {
    // Even inspecting it may throw.
  }
  return new Error(message);
}
