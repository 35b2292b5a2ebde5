import { type AllRuns, readTree, taskView } from '@signalbox/app/all-runs';
import { nodeKey, type RunHost, runCall, runDiff, runSpend, taskId } from '@signalbox/app/host';
import { type ErrorEnvelope, err, type FrameState, failure, type Json, json, ok, type RunId } from '@signalbox/model';
import * as z from 'zod';
import type { Serving } from '../http/handlers.ts';
import { unknownFrame, unknownRun } from './known-run.ts';
import { badCursor, cutPage, listed, MANY } from './paging.ts';

type Reads =
  | 'runSpend'
  | 'modelCall'
  | 'events'
  | 'frames'
  | 'tree'
  | 'state'
  | 'transitions'
  | 'tasks'
  | 'stream'
  | 'diff';

const DEFAULT_LIMIT = 200;

/** The history and state of a run, in pages. Read-only. */
export function historyHandlers(
  { reader, blobs }: Pick<RunHost, 'reader' | 'blobs'>,
  all: Pick<AllRuns, 'events'>,
): Serving<Reads> {
  return {
    runSpend: async ({ run }) => ok(await runSpend(reader, run)),
    modelCall: ({ run, call }) => runCall(reader, blobs, run.id, call),

    async events({ run: { id } }, { from = 0, limit = DEFAULT_LIMIT, view = 'contract' }) {
      const found = await all.events(id, { from, limit, view });
      if (!found.ok) return found;
      if (found.value === undefined) return err(unknownRun(id));
      return ok({ events: found.value, next: from + found.value.length });
    },

    async frames({ run: { id } }, { from = 0, limit = DEFAULT_LIMIT }) {
      const frames = await reader.frames(id, from, limit);
      // Collected frames leave gaps.
      return ok({
        frames: frames.map(frame => ({ ...frame, planVersion: frame.planVersion ?? 1 })),
        next: (frames.at(-1)?.index ?? from - 1) + 1,
      });
    },

    async tree({ run: { id, frames }, frame: given }) {
      const frame = Number(given);
      if (!Number.isInteger(frame) || frame < 0 || frame >= frames) return err(unknownFrame(id, frames));
      return ok({ frame, tree: (await readTree(reader, id, frame)).map(({ node }) => node) });
    },

    /** Without a frame, the current values, including those written after the last frame. */
    async state({ run: { id, frames } }, { frame = frames }) {
      if (frame > frames) return err(unknownFrame(id, frames));
      const [state, reads] = await Promise.all([reader.at(id, 'state', frame), reader.at(id, 'read', frame)]);
      return ok({ frame, state: Object.fromEntries(state), volatile: volatileReads(reads) });
    },

    async transitions({ run: { id } }, { key, from, limit = DEFAULT_LIMIT }) {
      const [frame = 0, index = 0] = (from ?? '0.0').split('.').map(Number);
      const page = await reader.transitions(id, { ...(key !== undefined && { key }), from: { frame, index }, limit });
      return ok({
        transitions: page.items.map(({ old, new: now, ...transition }) => ({
          ...transition,
          ...(old !== undefined && { old }),
          ...(now !== undefined && { new: now }),
        })),
        ...(page.next !== undefined && { next: `${page.next.frame}.${page.next.index}` }),
      });
    },

    async tasks({ run: { id } }, { after, limit = MANY, status, node }) {
      const from = after === undefined ? undefined : taskId.safeParse(after);
      const isThere = from === undefined || (from.success && (await reader.task(id, from.data)) !== undefined);
      if (!isThere) return err(badCursor());
      const asked = node === undefined ? undefined : nodeKey.parse(node);
      const found = await reader.tasks(id, {
        ...(status !== undefined && { status }),
        ...(asked !== undefined && { node: asked }),
        ...(from?.data !== undefined && { after: from.data }),
        limit: limit + 1,
      });
      return listed('tasks', ok(cutPage(found.map(taskView), limit, task => task.id)));
    },

    async stream({ run: { id }, task: given }, { from = 0, limit = DEFAULT_LIMIT }) {
      const task = taskId.safeParse(given);
      if (!task.success || (await reader.task(id, task.data)) === undefined) return err(unknownTask(id));
      const chunks = await reader.stream(id, task.data, from, limit);
      return ok({
        task: task.data,
        chunks: chunks.map(({ task: _, ...chunk }) => chunk),
        next: (chunks.at(-1)?.index ?? from - 1) + 1,
      });
    },

    diff: ({ run }, { frame }) => runDiff({ reader, blobs }, run, frame),
  };
}

const VOLATILE = 'vol:';
const keptRead = z.object({ value: json.optional() });

/** The value, for runs that record their reads; for others only that it was read. */
function volatileReads(reads: ReadonlyMap<string, Json>): NonNullable<FrameState['volatile']> {
  return Object.fromEntries(
    [...reads]
      .filter(([key]) => key.startsWith(VOLATILE))
      .map(([key, kept]) => [key.slice(VOLATILE.length), keptRead.safeParse(kept).data ?? {}]),
  );
}

function unknownTask(run: RunId): ErrorEnvelope {
  return failure('run/task-unknown', {
    message: `Run ${run} has no such task.`,
    suggestion: 'List the tasks of the run and pass the full id of one.',
    details: { run },
  });
}
