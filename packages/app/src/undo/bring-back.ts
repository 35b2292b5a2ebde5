import { type ErrorEnvelope, err, failure, ok, type Result, timestampOf } from '@signalbox/model';
import { type RunRecord, taskId } from '@signalbox/runs';
import { bringBackKept, type KeptBroughtBack, nothingKept } from '@signalbox/state';
import { draftEvent } from '../host/run-events.ts';
import { unknownCall } from '../host/run-failures.ts';
import type { UndoRequest } from '../host/run-host.ts';
import { readCheckpoints, readKept, readPlace } from './checkpoint-files.ts';
import type { CallUndo, UndoPorts } from './undo-desk.ts';

/**
 * Brings back what rollbacks of a call overwrote or removed, if that is still as the rollback left it. Recorded in the run's events like an
 * undo.
 *
 * 1. A call that was rolled back several times has kept files each time: the newest version of every path comes back, or that of the
 *    requested attempt.
 * 2. Nothing is overwritten that is not kept itself. With `copies`, files that changed since get a copy beside them.
 */
export async function bringBackRecorded(
  { store, machine, tools }: UndoPorts,
  run: RunRecord,
  call: string,
  { dryRun = false, attempt, copies = false }: UndoRequest,
  by: string,
): Promise<Result<CallUndo, ErrorEnvelope>> {
  const folder = tools.checkpoints(run.id);
  const all = readKept(folder).filter(one => one.call === call);
  const isKnown = all.length > 0 || readCheckpoints(folder).some(one => one.call === call);
  if (!isKnown) return err(unknownCall(run.id, call));
  const [last] = all.slice(-1);
  const id = taskId.safeParse(last?.task);
  const task = id.success ? await store.task(run.id, id.data) : undefined;
  if (last === undefined || task === undefined) return err(nothingKept(call));
  const asked = attempt === undefined ? all : all.slice(attempt - 1, attempt);
  if (asked.length === 0) return err(unknownAttempt(call, attempt ?? 0, all.length));

  const newer = new Set<string>();
  const done: { paths: string[]; conflicts: string[]; lost: string[]; copies: string[] } = {
    ...{ paths: [], conflicts: [], lost: [], copies: [] },
  };
  for (const { root, before, kept, task: of } of asked.toReversed()) {
    const files = tools.files(root, readPlace(folder, of)?.place);
    if (!files.ok) return files;
    const brought: Result<KeptBroughtBack, ErrorEnvelope> = await bringBackKept({
      ...{ files: files.value, call: { id: call, before, kept }, locks: tools.locks },
      ...{ except: new Set(newer), copies, dryRun },
    });
    if (!brought.ok) return brought;
    for (const path of kept.paths) newer.add(path);
    done.paths.push(...brought.value.paths);
    done.conflicts.push(...brought.value.conflicts);
    done.lost.push(...brought.value.lost);
    done.copies.push(...(brought.value.copies ?? []));
  }
  const { copies: copied, ...rest } = done;
  const told = { ...rest, ...(copies && { copies: copied }), directory: last.root };
  const paths = [...rest.paths, ...copied];
  if (dryRun || paths.length === 0) return ok(told);
  const fields = { call, tool: last.tool, node: task.node, task: task.id, paths, by, kept: true };
  const written = await store.commit(
    { at: timestampOf(machine.clock), events: [draftEvent(machine, 'call.undone', fields)] },
    { run: run.id, version: 'any' },
  );
  return written.ok ? ok(told) : err(written.error);
}

function unknownAttempt(call: string, attempt: number, kept: number): ErrorEnvelope {
  return failure('state/checkpoint-unknown', {
    message: `Call ${call} kept files in ${kept} ${kept === 1 ? 'attempt' : 'attempts'}; attempt ${attempt} does not exist.`,
    suggestion: 'Omit --attempt to restore the newest version of every path.',
    details: { call, attempt },
  });
}
