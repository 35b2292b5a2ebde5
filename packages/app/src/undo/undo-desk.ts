import {
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  type RunId,
  type Timestamp,
  timestampOf,
} from '@signalbox/model';
import { eventsOf, type RunReader, type RunRecord, taskId } from '@signalbox/runs';
import {
  type HostFilesystem,
  type LaterCall,
  type CallUndo as UndoneCall,
  undoCall,
  withoutInner,
} from '@signalbox/state';
import type { Store } from '@signalbox/store';
import type { AgentTools } from '../agents/agent-tools.ts';
import { draftEvent } from '../host/run-events.ts';
import type { UndoRequest } from '../host/run-host.ts';
import type { Machine } from '../machine.ts';
import { type Contents, notShown, snapshotDiff } from '../workspaces/snapshot-diff.ts';
import { bringBackRecorded } from './bring-back.ts';
import { type CheckpointFacts, type KeptCall, readCheckpoint, readCheckpoints, readKept } from './checkpoint-files.ts';
import { noCheckpoint, stillHeld, undoneWithAll } from './no-checkpoint.ts';

/** A tool call of a run, and whether it can be or was undone. */
export interface CallCheckpoint
  extends Omit<CheckpointFacts, 'file' | 'root' | 'place' | 'before' | 'after' | 'kept' | 'outcome'> {
  /** `held`: its changes conflict with someone else's, and a person decides about them. */
  readonly outcome: CheckpointFacts['outcome'] | 'held';
  readonly node: string | undefined;
  readonly directory: string | undefined;
  readonly undone: boolean;
  /** Paths that its rollbacks overwrote or removed, and that can be brought back. */
  readonly kept?: readonly string[] | undefined;
  /** The same by attempt: 1 is the first that kept something. */
  readonly attempts?: readonly KeptAttempt[] | undefined;
}

interface KeptAttempt {
  readonly attempt: number;
  readonly at: Timestamp;
  readonly paths: readonly string[];
}

/** What undoing a call changes, or would change. Paths are relative to the directory. */
export interface CallUndo extends UndoneCall {
  readonly directory?: string | undefined;
  /** What the call changed, if requested. */
  readonly diff?: string | undefined;
}

export interface UndoPorts {
  readonly store: Store;
  readonly machine: Machine;
  readonly tools: AgentTools;
}

type CallReader = Pick<RunReader, 'tasks' | 'decisions' | 'events'>;

/** The tool calls in a run's folder of checkpoints, in the order in which they ended. */
export async function callCheckpoints(
  reader: CallReader,
  folder: string,
  run: Pick<RunRecord, 'id'>,
): Promise<readonly CallCheckpoint[]> {
  const recorded = readCheckpoints(folder);
  const rolledBack = readKept(folder);
  // Every command that drives a run asks at its end, and the rest reads the whole history.
  if (recorded.length === 0 && rolledBack.length === 0) return [];
  const nodes = new Map((await reader.tasks(run.id)).map(({ id, node }) => [String(id), node]));
  const undone = await undoneCalls(reader, run);
  const asked = await heldCalls(reader, run);
  const isHeld = (call: string) => asked.has(call);
  const known = recorded.map(
    ({ file: _, before: __, after: ___, root, place: ____, kept: _____, ...rest }): CallCheckpoint => {
      const facts = isHeld(rest.call) ? { ...rest, outcome: 'held' as const } : rest;
      const more = keptBy(rolledBack.filter(one => one.call === facts.call && one.task === facts.task));
      const isUndone = undone.has(facts.call) || (facts.within !== undefined && undone.has(facts.within));
      return { ...facts, node: nodes.get(facts.task), directory: root, undone: isUndone, ...more };
    },
  );
  const cutOff = rolledBack
    .filter(({ call }) => !recorded.some(one => one.call === call))
    .filter((one, index, all) => all.findLastIndex(({ call }) => call === one.call) === index)
    .map(
      ({ call, tool, task, at, root }): CallCheckpoint => ({
        call,
        tool,
        task,
        at,
        outcome: 'failed',
        elapsedMs: null,
        summary: 'interrupted when its process ended, and undone by the next start',
        changesFiles: false,
        beyond: false,
        node: nodes.get(task),
        directory: root,
        undone: false,
        ...keptBy(rolledBack.filter(one => one.call === call)),
      }),
    );
  return [...known, ...cutOff].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function keptBy(all: readonly Pick<KeptCall, 'at' | 'kept'>[]): Pick<CallCheckpoint, 'kept' | 'attempts'> {
  if (all.length === 0) return {};
  const attempts = all.map(({ at, kept }, index) => ({ attempt: index + 1, at, paths: kept.paths }));
  const paths = [...new Set(all.flatMap(({ kept }) => kept.paths))];
  return { kept: paths, attempts };
}

/**
 * Undoes the file changes of one call, whether its run is active or has ended. The run's events record it; if a process dies between the
 * two, a repeated call finds the files restored and records it.
 */
export async function undoRecorded(
  { store, machine, tools }: UndoPorts,
  run: RunRecord,
  call: string,
  request: UndoRequest,
  by: string,
): Promise<Result<CallUndo, ErrorEnvelope>> {
  if (request.kept === true) return bringBackRecorded({ store, machine, tools }, run, call, request, by);
  const { dryRun = false } = request;
  const facts = readCheckpoints(tools.checkpoints(run.id)).find(one => one.call === call);
  const id = taskId.safeParse(facts?.task);
  const task = id.success ? await store.task(run.id, id.data) : undefined;
  const held = await heldCalls(store, run);
  if (facts?.root === undefined || task === undefined)
    return err(await noCheckpoint({ store, tools }, run, call, held));
  if (held.has(call)) return err(stillHeld(call, run.id));
  const before = await undoneCalls(store, run);
  if (facts.within !== undefined && before.has(facts.within)) return err(undoneWithAll(call, facts.within));
  const files = tools.files(facts.root, facts.place);
  if (!files.ok) return files;
  const checkpoint = await readCheckpoint(facts, files.value);
  if (!checkpoint.ok) return checkpoint;
  const later = async () => {
    const others = readCheckpoints(tools.checkpoints(run.id)).filter(
      one => one.call === facts.call || !before.has(one.call),
    );
    return laterCalls(others, facts, files.value);
  };
  const restored = await undoCall({
    files: files.value,
    checkpoint: withoutInner(checkpoint.value, before),
    locks: tools.locks,
    dryRun,
    later,
  });
  if (!restored.ok) return restored;
  const diff = request.diff === true ? { diff: await diffOf(store, facts) } : {};
  const inPlace = { ...restored.value, directory: facts.root, ...diff };
  const undone = ok(facts.beyond ? withElsewhere(inPlace) : inPlace);
  if (dryRun) return undone;
  const { paths } = undone.value;
  if (paths.length === 0 && (await undoneCalls(store, run)).has(call)) return undone;
  const { node } = task;
  const event = draftEvent(machine, 'call.undone', { call, tool: facts.tool, node, task: task.id, paths, by });
  const written = await store.commit(
    { at: timestampOf(machine.clock), events: [event] },
    { run: run.id, version: 'any' },
  );
  return written.ok ? ok(undone.value) : err(written.error);
}

/** The calls whose changes wait for a person's decision. */
async function heldCalls(reader: CallReader, run: Pick<RunRecord, 'id'>): Promise<ReadonlySet<string>> {
  const open = await reader.decisions({ run: run.id, status: ['open'] });
  return new Set(open.flatMap(({ decision }) => /^(.*):(?:changes|review):\d+$/s.exec(decision.call)?.[1] ?? []));
}

/** The difference that a call made, or why it cannot be shown. */
async function diffOf(contents: Contents, { before, after }: CheckpointFacts): Promise<string> {
  if (before === undefined || after === undefined) return '';
  const diff = await snapshotDiff(contents, before, after);
  if (!diff.ok) return `# ${diff.error.message}\n`;
  return `${diff.value.patch}${await notShown(contents, before, after)}`;
}

/** Later calls of a run in the same directory, as far as their changes are known. */
async function laterCalls(
  all: readonly CheckpointFacts[],
  than: CheckpointFacts,
  files: HostFilesystem,
): Promise<readonly LaterCall[]> {
  const from = all.findIndex(one => one.call === than.call && one.task === than.task);
  const found: LaterCall[] = [];
  // The call around it contains its own changes too.
  const others = all.slice(from + 1).filter(({ call }) => call !== than.within);
  for (const { call, tool, root, before, after, changesFiles } of others) {
    if (!changesFiles || root !== than.root || before === undefined || after === undefined) continue;
    const [pre, post] = [await files.decode({ root: before }), await files.decode({ root: after })];
    if (pre.ok && post.ok) found.push({ toolCallId: call, toolName: tool, before: pre.value, after: post.value });
  }
  return found;
}

/** An unconfined command may have done more than change files. */
function withElsewhere(undo: CallUndo): CallUndo {
  return { ...undo, lost: [...undo.lost, 'what it did elsewhere'] };
}

/** The required confirmation is missing. */
export function unconfirmedUndo(run: RunId, call: string, { paths }: CallUndo): ErrorEnvelope {
  return failure('run/unconfirmed', {
    message: `Nothing was undone: it would change ${paths.length} ${paths.length === 1 ? 'path' : 'paths'}.`,
    suggestion: 'Preview them with --dry-run, and confirm with --yes.',
    details: { run, call, paths: [...paths] },
  });
}

/** The undone calls of each run, and the first event that was not read yet. A log only grows, so each event is read once. */
const undoneByRun = new WeakMap<object, Map<RunId, { readonly calls: Set<string>; next: number }>>();

/** The calls of a run that were undone. */
export async function undoneCalls(
  reader: Pick<RunReader, 'events'>,
  run: Pick<RunRecord, 'id'>,
): Promise<ReadonlySet<string>> {
  const byRun = undoneByRun.get(reader) ?? new Map<RunId, { readonly calls: Set<string>; next: number }>();
  const known = byRun.get(run.id) ?? { calls: new Set(), next: 0 };
  undoneByRun.set(reader, byRun.set(run.id, known));
  for await (const event of eventsOf(reader, run.id, known.next)) {
    if (event.type === 'call.undone' && event.kept !== true) known.calls.add(event.call);
    known.next = Math.max(known.next, event.seq + 1);
  }
  return known.calls;
}
