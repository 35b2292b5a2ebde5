import type { GuidedRuns } from '@signalbox/app/guided';
import type { RunReader, RunRecord } from '@signalbox/app/runs';
import { nodeKey, taskId } from '@signalbox/app/runs';
import {
  type ChunkList,
  type ErrorEnvelope,
  type EventList,
  type EventView,
  err,
  eventsQuery,
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
  tasksQuery,
  transitionsQuery,
} from '@signalbox/model';
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { answer, readQuery, refuse } from '../http/answer.ts';
import { guidedEvents, tellEvents } from '../views/event-page.ts';
import { taskView } from '../views/task-view.ts';
import { readTree } from '../views/tree-view.ts';
import { knownRun, unknownFrame } from './known-run.ts';
import { badCursor, cutPage, MANY } from './paging.ts';

const DEFAULT_LIMIT = 200;

/** What a run was and is, in pages. Each route reads; nothing here changes anything. */
export function historyRoutes(reader: RunReader, guided?: GuidedRuns): Hono {
  const routes = new Hono();

  routes.get('/:run/events', async context => {
    const run = await knownRun(reader, context.req.param('run'));
    const guidedRun = run.ok ? undefined : guided?.find(context.req.param('run') as RunId);
    if (guidedRun?.ok === false) return refuse(context, guidedRun.error);
    if (!run.ok && guidedRun?.value === undefined) return refuse(context, run.error);
    const query = readQuery(context, eventsQuery);
    if (!query.ok) return refuse(context, query.error);
    const { from = 0, limit = DEFAULT_LIMIT, view = 'contract' } = query.value;
    const found =
      run.ok || guided === undefined
        ? ok(await readEvents(context.req.param('run') as RunId, from, limit, view))
        : guidedEvents(guided, context.req.param('run') as RunId, { from, limit, view });
    if (!found.ok) return refuse(context, found.error);
    const list: EventList = { events: found.value, next: from + found.value.length };
    return context.json(list);
  });

  routes.get('/:run/frames', context =>
    read(context, pageQuery, async ({ id }, { from = 0, limit = DEFAULT_LIMIT }): Promise<FrameList> => {
      const frames = await reader.frames(id, from, limit);
      // Frames that were collected leave gaps.
      return {
        frames: frames.map(frame => ({ ...frame, planVersion: frame.planVersion ?? 1 })),
        next: (frames.at(-1)?.index ?? from - 1) + 1,
      };
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
    read(context, tasksQuery, async ({ id }, { after, limit = MANY, status, node }) => {
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
      const { items, next } = cutPage(found, limit, task => task.id);
      const list: TaskList = { tasks: items.map(taskView), ...(next !== undefined && { next }) };
      return ok(list);
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

  async function readEvents(run: RunId, from: number, limit: number, view: EventView) {
    const told = await tellEvents(reader, run, view)(await reader.events(run, from, limit));
    return told.map(({ stored }) => stored);
  }

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
