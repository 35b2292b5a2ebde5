import { type ErrorEnvelope, err, failure, ok, type Result, type RunId, timestampOf } from '@signalbox/model';
import { type RunRecord, taskId } from '@signalbox/runs';
import {
  bringBackKept,
  type HostFilesystem,
  type LaterCall,
  nothingKept,
  type CallUndo as UndoneCall,
  undoCall,
} from '@signalbox/state';
import type { Store } from '@signalbox/store';
import type { AgentTools } from '../agents/agent-tools.ts';
import type { Machine } from '../machine.ts';
import { draftEvent } from '../runs/run-events.ts';
import { unknownCall } from '../runs/run-failures.ts';
import { type CheckpointFacts, readCheckpoint, readCheckpoints, readRecovered } from './checkpoint-files.ts';

/** A tool call of a run, and whether it can be or was undone. */
export interface CallCheckpoint
  extends Omit<CheckpointFacts, 'file' | 'root' | 'before' | 'after' | 'kept' | 'outcome'> {
  /** `held`: its changes met somebody else's, and a person decides about them. */
  readonly outcome: CheckpointFacts['outcome'] | 'held';
  readonly node: string | undefined;
  readonly directory: string | undefined;
  readonly undone: boolean;
  /** Paths that its rollback overwrote or removed, and that can be brought back. */
  readonly kept?: readonly string[] | undefined;
}

/** What undoing a call changes, or would change. Paths are relative to the directory. */
export interface CallUndo extends UndoneCall {
  readonly directory?: string | undefined;
}

export interface UndoPorts {
  readonly store: Store;
  readonly machine: Machine;
  readonly tools: AgentTools;
}

/** The tool calls of a run that are recorded, in the order in which they ended. */
export async function callCheckpoints(
  { store, tools }: Pick<UndoPorts, 'store' | 'tools'>,
  run: RunRecord,
): Promise<readonly CallCheckpoint[]> {
  const nodes = new Map((await store.tasks(run.id)).map(({ id, node }) => [String(id), node]));
  const undone = await undoneCalls(store, run);
  const folder = tools.checkpoints(run.id);
  const recorded = readCheckpoints(folder);
  const recovered = readRecovered(folder);
  const asked = (await store.decisions({ run: run.id, status: ['open'] })).map(({ decision }) => decision.call);
  const isHeld = (call: string) => asked.some(one => one.startsWith(`${call}:changes:`));
  const known = recorded.map(({ file: _, before: __, after: ___, root, kept, ...rest }): CallCheckpoint => {
    const facts = isHeld(rest.call) ? { ...rest, outcome: 'held' as const } : rest;
    const paths = kept?.paths ?? recovered.find(({ call }) => call === facts.call)?.kept.paths;
    const more = paths === undefined ? {} : { kept: paths };
    return { ...facts, node: nodes.get(facts.task), directory: root, undone: undone.has(facts.call), ...more };
  });
  const cutOff = recovered
    .filter(({ call }) => !recorded.some(one => one.call === call))
    .map(
      ({ call, tool, task, at, root, kept }): CallCheckpoint => ({
        call,
        tool,
        task,
        at,
        outcome: 'failed',
        elapsedMs: null,
        summary: 'cut off by the end of its process, and undone by the next start',
        changesFiles: false,
        beyond: false,
        node: nodes.get(task),
        directory: root,
        undone: false,
        kept: kept.paths,
      }),
    );
  return [...known, ...cutOff].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/**
 * Brings back what the rollback of a call overwrote or removed, where that is still as the rollback left it. The same in
 * the run's events as an undo.
 */
async function bringBackRecorded(
  { store, machine, tools }: UndoPorts,
  run: RunRecord,
  call: string,
  dryRun: boolean,
  by: string,
): Promise<Result<CallUndo, ErrorEnvelope>> {
  const folder = tools.checkpoints(run.id);
  const all = [...readRecovered(folder), ...readCheckpoints(folder)].filter(one => one.call === call);
  if (all.length === 0) return err(unknownCall(run.id, call));
  const found = all.findLast(one => one.kept !== undefined);
  const id = taskId.safeParse(found?.task);
  const task = id.success ? await store.task(run.id, id.data) : undefined;
  if (found?.root === undefined || found.kept === undefined || found.before === undefined || task === undefined) {
    return err(nothingKept(call));
  }
  const files = tools.files(found.root);
  if (!files.ok) return files;
  const kept = { id: call, before: found.before, kept: found.kept };
  const brought = await bringBackKept({ files: files.value, call: kept, locks: tools.locks, dryRun });
  if (!brought.ok) return brought;
  const told = { ...brought.value, directory: found.root };
  if (dryRun || brought.value.paths.length === 0) return ok(told);
  const { node } = task;
  const { paths } = brought.value;
  const fields = { call, tool: found.tool, node, task: task.id, paths, by, kept: true };
  const written = await store.commit(
    { at: timestampOf(machine.clock), events: [draftEvent(machine, 'call.undone', fields)] },
    { run: run.id, version: 'any' },
  );
  return written.ok ? ok(told) : err(written.error);
}

/**
 * Undoes what one call did to files, whether its run goes on or has ended. That it was done is in the run's events; where a
 * process dies between the two, asking again finds the files as they should be and records it.
 */
export async function undoRecorded(
  { store, machine, tools }: UndoPorts,
  run: RunRecord,
  call: string,
  { dryRun = false, kept = false }: { readonly dryRun?: boolean | undefined; readonly kept?: boolean | undefined },
  by: string,
): Promise<Result<CallUndo, ErrorEnvelope>> {
  if (kept) return bringBackRecorded({ store, machine, tools }, run, call, dryRun, by);
  const facts = readCheckpoints(tools.checkpoints(run.id)).find(one => one.call === call);
  const id = taskId.safeParse(facts?.task);
  const task = id.success ? await store.task(run.id, id.data) : undefined;
  if (facts?.root === undefined || task === undefined) return err(unknownCall(run.id, call));
  const files = tools.files(facts.root);
  if (!files.ok) return files;
  const checkpoint = await readCheckpoint(facts, files.value);
  if (!checkpoint.ok) return checkpoint;
  const later = () => laterCalls(readCheckpoints(tools.checkpoints(run.id)), facts, files.value);
  const restored = await undoCall({
    files: files.value,
    checkpoint: checkpoint.value,
    locks: tools.locks,
    dryRun,
    later,
  });
  if (!restored.ok) return restored;
  const inPlace = { ...restored.value, directory: facts.root };
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

/** The calls of a run that ended after one in the same directory, as far as what they changed is known. */
async function laterCalls(
  all: readonly CheckpointFacts[],
  than: CheckpointFacts,
  files: HostFilesystem,
): Promise<readonly LaterCall[]> {
  const from = all.findIndex(one => one.call === than.call && one.task === than.task);
  const found: LaterCall[] = [];
  for (const { call, tool, root, before, after, changesFiles } of all.slice(from + 1)) {
    if (!changesFiles || root !== than.root || before === undefined || after === undefined) continue;
    const [pre, post] = [await files.decode({ root: before }), await files.decode({ root: after })];
    if (pre.ok && post.ok) found.push({ toolCallId: call, toolName: tool, before: pre.value, after: post.value });
  }
  return found;
}

/** A command that was not confined may have done more than to change files. */
function withElsewhere(undo: CallUndo): CallUndo {
  return { ...undo, lost: [...undo.lost, 'what it did elsewhere'] };
}

/** Somebody who should have said yes did not. */
export function unconfirmedUndo(run: RunId, call: string, { paths }: CallUndo): ErrorEnvelope {
  return failure('run/unconfirmed', {
    message: `Nothing was undone: it would change ${paths.length} ${paths.length === 1 ? 'path' : 'paths'}.`,
    suggestion: 'Look at them with --dry-run, and say that it is meant (--yes).',
    details: { run, call, paths: [...paths] },
  });
}

const PAGE = 500;

/** The calls of a run that were undone. */
export async function undoneCalls(store: Store, run: Pick<RunRecord, 'id'>): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let from = 0; ; from += PAGE) {
    const page = await store.events(run.id, from, PAGE);
    for (const { event } of page) if (event.type === 'call.undone' && event.kept !== true) found.add(event.call);
    if (page.length < PAGE) return found;
  }
}
