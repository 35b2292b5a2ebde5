import type { RunReader, RunRecord } from '@signalbox/app/runs';
import { taskId } from '@signalbox/app/runs';
import {
  type ChunkList,
  type ErrorEnvelope,
  type EventList,
  err,
  type FrameList,
  type FrameState,
  type FrameTree,
  failure,
  type Json,
  json,
  ok,
  pageQuery,
  type Result,
  type RunId,
  stateQuery,
  type TaskList,
  type TransitionList,
  transitionsQuery,
} from '@signalbox/model';
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { answer, readQuery, refuse } from '../http/answer.ts';
import { taskView } from '../views/task-view.ts';
import { readTree } from '../views/tree-view.ts';
import { knownRun, unknownFrame } from './known-run.ts';

const DEFAULT_LIMIT = 200;

/** What a run was and is, in pages. Each route reads; nothing here changes anything. */
export function historyRoutes(reader: RunReader): Hono {
  const routes = new Hono();

  routes.get('/:run/events', context =>
    read(context, pageQuery, async ({ id }, { from = 0, limit = DEFAULT_LIMIT }): Promise<EventList> => {
      const events = await reader.events(id, from, limit);
      return { events, next: from + events.length };
    }),
  );

  routes.get('/:run/frames', context =>
    read(context, pageQuery, async ({ id }, { from = 0, limit = DEFAULT_LIMIT }): Promise<FrameList> => {
      const frames = await reader.frames(id, from, limit);
      // Frames that were collected leave gaps.
      return { frames, next: (frames.at(-1)?.index ?? from - 1) + 1 };
    }),
  );

  routes.get('/:run/frames/:frame/tree', context =>
    read(context, z.strictObject({}), async ({ id, frames }): Promise<Result<FrameTree, ErrorEnvelope>> => {
      const frame = Number(context.req.param('frame'));
      if (!Number.isInteger(frame) || frame < 0 || frame >= frames) return err(unknownFrame(id, frames));
      return ok({ frame, tree: (await readTree(reader, id, frame)).map(({ node }) => node) });
    }),
  );

  /** Without a frame, what holds now: also what was written after the last one. */
  routes.get('/:run/state', context =>
    read(
      context,
      stateQuery,
      async ({ id, frames }, { frame = frames }): Promise<Result<FrameState, ErrorEnvelope>> => {
        if (frame > frames) return err(unknownFrame(id, frames));
        const [state, reads] = await Promise.all([reader.at(id, 'state', frame), reader.at(id, 'read', frame)]);
        return ok({ frame, state: Object.fromEntries(state), volatile: volatileReads(reads) });
      },
    ),
  );

  routes.get('/:run/transitions', context =>
    read(context, transitionsQuery, async ({ id }, { key, from, limit = DEFAULT_LIMIT }): Promise<TransitionList> => {
      const [frame = 0, index = 0] = (from ?? '0.0').split('.').map(Number);
      const page = await reader.transitions(id, { ...(key !== undefined && { key }), from: { frame, index }, limit });
      return {
        transitions: page.items.map(({ old, new: now, ...transition }) => ({
          ...transition,
          ...(old !== undefined && { old }),
          ...(now !== undefined && { new: now }),
        })),
        ...(page.next !== undefined && { next: `${page.next.frame}.${page.next.index}` }),
      };
    }),
  );

  routes.get('/:run/tasks', context =>
    read(context, z.strictObject({}), async ({ id }): Promise<TaskList> => {
      return { tasks: (await reader.tasks(id)).map(taskView) };
    }),
  );

  routes.get('/:run/stream/:task', context =>
    read(context, pageQuery, async ({ id }, { from = 0, limit = DEFAULT_LIMIT }) => {
      const task = taskId.safeParse(context.req.param('task'));
      if (!task.success || (await reader.task(id, task.data)) === undefined) return err(unknownTask(id));
      const chunks = await reader.stream(id, task.data, from, limit);
      const list: ChunkList = {
        task: task.data,
        chunks: chunks.map(({ task: _, ...chunk }) => chunk),
        next: (chunks.at(-1)?.index ?? from - 1) + 1,
      };
      return ok(list);
    }),
  );

  async function read<Schema extends z.ZodType, Found extends object>(
    context: Context,
    schema: Schema,
    find: (run: RunRecord, query: z.infer<Schema>) => Promise<Found | Result<Found, ErrorEnvelope>>,
  ): Promise<Response> {
    const run = await knownRun(reader, context.req.param('run') ?? '');
    if (!run.ok) return refuse(context, run.error);
    const query = readQuery(context, schema);
    if (!query.ok) return refuse(context, query.error);
    const found = await find(run.value, query.value);
    return answer(context, isResult(found) ? found : ok(found));
  }
  return routes;
}

function isResult<T extends object>(found: T | Result<T, ErrorEnvelope>): found is Result<T, ErrorEnvelope> {
  return 'ok' in found && typeof found.ok === 'boolean';
}

const VOLATILE = 'vol:';
const keptRead = z.object({ value: json.optional() });

/** Of a run that keeps what it reads there is the value; of another only that it was read. */
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
    suggestion: 'List the tasks of the run and give the whole id of one.',
    details: { run },
  });
}
