import path from 'node:path';
import { deriveId, type ErrorEnvelope, err, failure, ok, type Result, type RunId, timestampOf } from '@signalbox/model';
import { eventsOf, hasRunEnded, type RunRecord, taskId } from '@signalbox/runs';
import {
  type CallInRoot,
  callChanges,
  checkpointUnknown,
  type HostFilesystem,
  innerCheckpoints,
  type ToolCheckpoint,
  undoCalls,
} from '@signalbox/state';
import type { Store } from '@signalbox/store';
import type { AgentTools } from '../agents/agent-tools.ts';
import type { Trust } from '../host/foreign-plan.ts';
import { draftEvent } from '../host/run-events.ts';
import { unknownCall, unknownRun } from '../host/run-failures.ts';
import type { RunHost } from '../host/run-host.ts';
import {
  type CheckpointFacts,
  readCallChanges,
  readCheckpoint,
  readCheckpoints,
  readOuterCheckpoints,
} from '../undo/checkpoint-files.ts';
import { undoneCalls } from '../undo/undo-desk.ts';
import { effectsNotAccepted } from './effects-outside.ts';
import { isInside } from './fork-files.ts';
import { type ForkPorts, forkRun, lookAtFork } from './fork-run.ts';
import { keyedMutex } from './keyed-mutex.ts';

/**
 * Rolls files, state and transcript of a run back to a tool call, without destroying anything (R18): the file changes of the calls from
 * there on are undone, a fork continues from there, and the run itself is stopped and keeps its history.
 *
 * 1. Nothing is changed before everything was checked: the moment, the effects outside, and the files of every root.
 * 2. The fork's id derives from the run, its epoch and the call. A repeated request finds the fork, or creates the same one.
 * 3. A fork exists only after its files do. Once it exists, files are not touched again: they may be the fork's work.
 * 4. The fork starts only after the run was stopped and its log records the rollback.
 */

export interface RollbackRequest {
  readonly call: string;
  /** To after the call, which then counts as done. */
  readonly after?: boolean | undefined;
  /** Change nothing. */
  readonly dryRun?: boolean | undefined;
  /** The caller knows that outside effects since then remain. */
  readonly acceptEffects?: boolean | undefined;
  /** Do not start the fork at once. */
  readonly paused?: boolean | undefined;
}

/** What a rollback changes, or would change. */
export interface Rollback {
  /** The frame of the run that the fork begins with. */
  readonly frame: number;
  /** The calls whose file changes are undone, oldest first. */
  readonly calls: readonly { readonly call: string; readonly tool: string }[];
  /** The run's directory, if known. */
  readonly directory?: string | undefined;
  /** Restored paths, relative to the run's directory. */
  readonly paths: readonly string[];
  /** The paths that did not exist before, and are removed. */
  readonly removed?: readonly string[] | undefined;
  /** Paths that cannot be restored. */
  readonly lost: readonly string[];
  /** Outside effects since then, which remain. */
  readonly effects: readonly string[];
  /** The run that continues from there, once it exists. */
  readonly run?: RunId | undefined;
}

export interface RollbackPorts extends ForkPorts, Pick<RunHost, 'act' | 'resume' | 'finished'> {
  readonly trust: Trust;
}

export function createRollback(ports: RollbackPorts): RunHost['rollback'] {
  const { store, machine, act, resume, finished } = ports;
  const inTurn = keyedMutex<RunId>();
  return (run, request, by) => inTurn(run, () => rollback(run, request, by));

  async function rollback(run: RunId, request: RollbackRequest, by: string): Promise<Result<Rollback, ErrorEnvelope>> {
    const first = await look(ports, run, request);
    if (!first.ok || request.dryRun === true) return first.ok ? ok(first.value.report) : first;
    const refused = notAccepted(first.value, request);
    if (refused !== undefined) return err(refused);
    const trusted = request.paused === true ? ok(undefined) : await ports.trust(first.value.record, undefined, by);
    if (!trusted.ok) return trusted;
    let looked = first.value;
    if (finished(run) !== undefined) {
      const stopped = await stop(looked, by);
      if (!stopped.ok) return stopped;
      const again = await look(ports, run, request);
      if (!again.ok) return again;
      looked = again.value;
    }
    const made = looked.isMade ? ok(looked.report) : await make(looked, request, by);
    if (!made.ok) return made;
    const settled = await settle(looked, request, by);
    return settled.ok ? ok({ ...made.value, run: looked.fork }) : settled;
  }

  /** Undoes the files, then creates the fork. */
  async function make(looked: Looked, request: RollbackRequest, by: string): Promise<Result<Rollback, ErrorEnvelope>> {
    const refused = notAccepted(looked, request);
    if (refused !== undefined) return err(refused);
    const undone = await undoFiles(ports.tools, looked, false);
    if (!undone.ok) return undone;
    const told = await tellUndone(looked.calls, by);
    if (!told.ok) return told;
    const { call, after, acceptEffects } = request;
    const at = { kind: 'call', call, after } as const;
    const forked = await forkRun(ports, looked.record, { at, acceptEffects, paused: true }, by, looked.fork);
    return forked.ok ? ok({ ...looked.report, ...undone.value }) : forked;
  }

  /** Stops the run, records the rollback in its log, and resumes the fork. */
  async function settle(looked: Looked, { paused }: RollbackRequest, by: string): Promise<Result<void, ErrorEnvelope>> {
    const { record, fork, facts, after } = looked;
    const stopped = await stop(looked, by);
    if (!stopped.ok) return stopped;
    const task = await store.task(record.id, taskId.parse(facts.task));
    if (task !== undefined && !(await isTold(store, record.id, fork))) {
      const { node, id } = task;
      const fields = { call: facts.call, tool: facts.tool, node, task: id, ...(after && { after }), fork, by };
      const written = await tell(record.id, [draftEvent(machine, 'run.rolled_back', fields)]);
      if (!written.ok) return written;
    }
    if (paused === true || (await store.run(fork))?.status !== 'paused' || finished(fork) !== undefined) {
      return ok(undefined);
    }
    // It works where the run worked.
    const resumed = await resume(fork, { anyFile: true });
    return resumed.ok || resumed.error.code === 'run/driven' ? ok(undefined) : resumed;
  }

  /** Ends running work, and waits for it. */
  async function stop({ record: { id }, facts, fork }: Looked, by: string): Promise<Result<void, ErrorEnvelope>> {
    const record = await store.run(id);
    if (record === undefined || hasRunEnded(record.status)) return ok(undefined);
    const reason = `rolled back to ${facts.call}; goes on as ${fork}`;
    const stopped = await act(id, { kind: 'stop', reason }, by);
    await finished(id);
    return !stopped.ok && stopped.error.code === 'run/ended' ? ok(undefined) : stopped;
  }

  async function tellUndone(calls: readonly UndoneCall[], by: string): Promise<Result<void, ErrorEnvelope>> {
    for (const run of new Set(calls.map(one => one.run))) {
      const events = [];
      for (const { facts, changes } of calls.filter(one => one.run === run && one.isWhole)) {
        const task = await store.task(run, taskId.parse(facts.task));
        if (task === undefined) continue;
        const { call, tool } = facts;
        const fields = { call, tool, node: task.node, task: task.id, paths: [...changes.keys()], by };
        events.push(draftEvent(machine, 'call.undone', fields));
      }
      const written = await tell(run, events);
      if (!written.ok) return written;
    }
    return ok(undefined);
  }

  async function tell(run: RunId, events: ReturnType<typeof draftEvent>[]): Promise<Result<void, ErrorEnvelope>> {
    if (events.length === 0) return ok(undefined);
    const written = await store.commit({ at: timestampOf(machine.clock), events }, { run, version: 'any' });
    return written.ok ? ok(undefined) : err(written.error);
  }
}

interface UndoneCall extends CallInRoot {
  readonly run: RunId;
  readonly facts: CheckpointFacts;
  /** Not so for a part of a turn that belongs to none of its calls. */
  readonly isWhole: boolean;
}

/** The prepared rollback. */
interface Looked {
  readonly record: RunRecord;
  readonly facts: CheckpointFacts;
  readonly after: boolean;
  readonly fork: RunId;
  /** The fork exists: files were already undone. */
  readonly isMade: boolean;
  readonly calls: readonly UndoneCall[];
  readonly report: Rollback;
}

async function look(
  ports: ForkPorts,
  run: RunId,
  { call, after = false }: RollbackRequest,
): Promise<Result<Looked, ErrorEnvelope>> {
  const { store, tools } = ports;
  const record = await store.run(run);
  if (record === undefined) return err(unknownRun(run));
  if (record.origin?.kind === 'sub-plan') return err(partOfAnother(record, record.origin.run));
  const facts =
    tools === undefined ? undefined : readCheckpoints(tools.checkpoints(run)).find(one => one.call === call);
  if (tools === undefined || facts === undefined) return err(unknownCall(run, call));
  const fork = deriveId<RunId>('rollback', run, record.epoch, call, after);
  const known = await store.run(fork);
  const base = { record, facts, after, fork };
  if (known !== undefined) {
    const frame = known.origin?.kind === 'fork' ? known.origin.frame : 0;
    const report = { frame, calls: [], paths: [], removed: [], lost: [], effects: [], run: fork };
    return ok({ ...base, isMade: true, calls: [], report });
  }
  const moment = await lookAtFork(ports, record, { kind: 'call', call, after }, fork);
  if (!moment.ok) return moment;
  const calls = await callsSince({ store, tools }, record, facts, after);
  if (!calls.ok) return calls;
  const { place, effects } = moment.value;
  const report: Rollback = {
    frame: place.frame,
    calls: calls.value.filter(one => one.isWhole).map(one => ({ call: one.facts.call, tool: one.facts.tool })),
    ...(record.workingDirectory !== undefined && { directory: record.workingDirectory }),
    paths: [],
    removed: [],
    lost: [],
    effects,
  };
  const looked = { ...base, isMade: false, calls: calls.value, report };
  const files = await undoFiles(tools, looked, true);
  return files.ok ? ok({ ...looked, report: { ...report, ...files.value } }) : files;
}

/**
 * The calls of a run and its sub-plans that changed files from one call on and are not undone yet, oldest first. Files in a workspace are
 * left out: the fork gets its own workspace.
 */
async function callsSince(
  { store, tools }: { readonly store: Store; readonly tools: AgentTools },
  record: RunRecord,
  facts: CheckpointFacts,
  after: boolean,
): Promise<Result<readonly UndoneCall[], ErrorEnvelope>> {
  const runs = await withSubPlans(store, record);
  const all = runs
    .flatMap(run => readOuterCheckpoints(tools.checkpoints(run.id)).map(one => ({ run: run.id, facts: one })))
    .toSorted((a, b) => (a.facts.at < b.facts.at ? -1 : a.facts.at > b.facts.at ? 1 : 0));
  const outer = facts.within ?? facts.call;
  const from = all.findIndex(one => one.run === record.id && one.facts.call === outer);
  const undone = new Set<string>();
  for (const run of runs) for (const call of await undoneCalls(store, run)) undone.add(call);
  const isInWorkspace = (root: string) => runs.some(({ workspace }) => workspace && isInside(workspace.path, root));
  const known = new Map<string, Awaited<ReturnType<typeof readCallChanges>>>();
  const found: UndoneCall[] = [];
  // Of a turn that is rolled back to one of its own calls, only the rest is undone.
  const isPart = (one: (typeof all)[number]) => facts.within !== undefined && one === all[from];
  const wanted = all
    .slice(after && facts.within === undefined ? from + 1 : from)
    .filter(one => one.facts.changesFiles && !undone.has(one.facts.call));
  for (const one of wanted) {
    const { root, file, call } = one.facts;
    if (root === undefined) return err(checkpointUnknown(call, 'pre'));
    if (isInWorkspace(root)) continue;
    const files = tools.files(root, one.facts.place);
    if (!files.ok) return files;
    if (isPart(one)) {
      const parts = await partsFrom(one.facts, facts.call, after, files.value);
      if (!parts.ok) return parts;
      for (const part of parts.value) {
        if (part.toolCallId !== outer && undone.has(part.toolCallId)) continue;
        const own = { ...one.facts, call: part.toolCallId, tool: part.toolName };
        found.push({ run: one.run, facts: own, root, changes: callChanges(part), isWhole: part.toolCallId !== outer });
      }
      continue;
    }
    const calls = wanted.filter(other => other.facts.file === file && !isPart(other)).map(other => other.facts.call);
    const changes = known.get(file) ?? (await readCallChanges({ file, calls, undone }, files.value));
    known.set(file, changes);
    if (!changes.ok) return changes;
    found.push({ ...one, root, changes: changes.value.get(call) ?? new Map(), isWhole: true });
  }
  return ok(found);
}

/** The parts of a turn from one of its own calls on, or after it. */
async function partsFrom(
  turn: CheckpointFacts,
  call: string,
  after: boolean,
  files: HostFilesystem,
): Promise<Result<readonly ToolCheckpoint[], ErrorEnvelope>> {
  const checkpoint = await readCheckpoint(turn, files);
  if (!checkpoint.ok) return checkpoint;
  const parts = innerCheckpoints(checkpoint.value);
  const at = parts.findIndex(one => one.toolCallId === call);
  return ok(parts.slice(after ? at + 1 : at));
}

async function withSubPlans(store: Store, run: RunRecord): Promise<readonly RunRecord[]> {
  const found = [run];
  for (const child of await store.children(run.id)) {
    if (child.origin?.kind === 'sub-plan') found.push(...(await withSubPlans(store, child)));
  }
  return found;
}

async function undoFiles(
  tools: AgentTools | undefined,
  { record, fork, calls }: Pick<Looked, 'record' | 'fork' | 'calls'>,
  dryRun: boolean,
): Promise<Result<Pick<Rollback, 'paths' | 'removed' | 'lost'>, ErrorEnvelope>> {
  if (tools === undefined || calls.length === 0) return ok({ paths: [], removed: [], lost: [] });
  const nameOf = (root: string, name: string) =>
    path.join(record.workingDirectory === undefined ? root : path.relative(record.workingDirectory, root), name);
  const { locks } = tools;
  // All calls in a directory must have worked in the one that exists now.
  const open = (root: string) => {
    for (const { facts } of calls.filter(one => one.root === root)) {
      const files = tools.files(root, facts.place);
      const replaced = files.ok ? files.value.replaced() : files.error;
      if (replaced !== undefined) return err(replaced);
    }
    return tools.files(root, calls.find(one => one.root === root)?.facts.place);
  };
  const undone = await undoCalls({ calls, id: `rollback:${fork}`, open, locks, dryRun, nameOf });
  if (!undone.ok) return undone;
  const named = (kind: 'paths' | 'removed' | 'lost') =>
    undone.value.flatMap(one => one[kind].map(name => nameOf(one.root, name)));
  return ok({ paths: named('paths'), removed: named('removed'), lost: named('lost') });
}

async function isTold(store: Store, run: RunId, fork: RunId): Promise<boolean> {
  for await (const event of eventsOf(store, run)) {
    if (event.type === 'run.rolled_back' && event.fork === fork) return true;
  }
  return false;
}

function notAccepted({ record, report }: Looked, { acceptEffects }: RollbackRequest): ErrorEnvelope | undefined {
  if (report.effects.length === 0 || acceptEffects === true) return undefined;
  return effectsNotAccepted(record, report.frame, report.effects);
}

function partOfAnother({ id }: RunRecord, parent: RunId): ErrorEnvelope {
  return failure('run/no-effect', {
    message: `Run ${id} is a sub-plan of run ${parent} and cannot be rolled back on its own.`,
    suggestion: `Roll back run ${parent} to one of its own calls; see "signalbox checkpoints ${parent}".`,
    details: { run: id, parent },
  });
}

/** The required confirmation is missing. */
export function unconfirmedRollback(run: RunId, call: string, { paths }: Rollback): ErrorEnvelope {
  return failure('run/unconfirmed', {
    message: `Run ${run} was not rolled back: that would change ${paths.length} ${paths.length === 1 ? 'path' : 'paths'} and stop the run.`,
    suggestion: 'Preview it with --dry-run, and confirm with --yes.',
    details: { run, call, paths: [...paths] },
  });
}
