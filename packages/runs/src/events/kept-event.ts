import { type NodeStatus, nodeStatus, text } from '@signalbox/model';
import * as z from 'zod';
import type { Change } from '../frames/change.ts';
import type { Frame } from '../frames/frame.ts';
import type { IntervalWrite } from '../frames/interval.ts';
import type { Transition } from '../frames/transition.ts';
import type { Task } from '../tasks/task.ts';
import { type EventDraft, eventDraft } from './stored-event.ts';

const place = z.int().nonnegative();

/**
 * An event that follows from another part of its record (T3): its type and the index of that part, followed by anything the part does not
 * say.
 */
export const shortEvent = z.union([
  z.tuple([z.literal('task.started'), place]),
  /** Plus whether its end is stale. */
  z.tuple([z.literal('task.ended'), place, z.boolean()]),
  z.tuple([z.literal('state.changed'), place]),
  /** Of an interval, plus the previous status. */
  z.tuple([z.literal('node.status'), place, nodeStatus]),
  /** Of a task, plus its handler and frame. */
  z.tuple([z.literal('handler.ran'), place, text, z.int().nonnegative()]),
  z.tuple([z.literal('frame.committed')]),
]);
type ShortEvent = z.infer<typeof shortEvent>;

/** An event as stored in a record. */
export type KeptEvent = ShortEvent | EventDraft;
/** Not a union, which would not locate the fault within an event. */
export const keptEvent = z.custom<KeptEvent>().superRefine((value, context) => {
  const parsed = (Array.isArray(value) ? shortEvent : eventDraft).safeParse(value);
  for (const issue of parsed.error?.issues ?? []) context.addIssue({ ...issue });
});

/** The parts of a record from which events follow. */
interface Parts {
  readonly tasks?: readonly Task[] | undefined;
  readonly transitions?: readonly Transition[] | undefined;
  readonly intervals?: readonly IntervalWrite[] | undefined;
  readonly frame?: Frame | undefined;
}

/** Events as their record stores them: short if they follow from its other parts, otherwise whole. */
export function keptEvents(parts: Parts, events: readonly EventDraft[]): readonly KeptEvent[] {
  const places = placesIn(parts);
  return events.map(event => {
    const short = shortOf(event, places);
    if (short === undefined) return event;
    const meant = fullEvent(parts, short);
    return meant !== undefined && isSame(meant, event) ? short : event;
  });
}

/** Whether a stored event can be expanded: its record has the part from which it follows. */
export function isTold(parts: Parts, kept: KeptEvent): boolean {
  if (!isShort(kept)) return true;
  switch (kept[0]) {
    case 'task.started':
    case 'handler.ran':
      return parts.tasks?.[kept[1]] !== undefined;
    case 'task.ended':
      return ENDED.has(parts.tasks?.[kept[1]]?.status);
    case 'state.changed':
      return parts.transitions?.[kept[1]] !== undefined;
    case 'node.status': {
      const interval = parts.intervals?.[kept[1]];
      return interval !== undefined && statusIn(interval) !== undefined;
    }
    case 'frame.committed':
      return parts.frame !== undefined;
  }
}

const ENDED = new Set<unknown>(['done', 'error', 'canceled'] satisfies Task['status'][]);

/** A stored event in full; undefined if its record lacks the part from which it follows. */
export function fullEvent(parts: Parts, kept: KeptEvent): EventDraft | undefined {
  if (!isShort(kept)) return kept;
  if (!isTold(parts, kept)) return undefined;
  return told(parts, kept);
}

/** Requires `isTold`. */
function told(parts: Parts, kept: ShortEvent): EventDraft {
  const { tasks = [], transitions = [], intervals = [], frame } = parts;
  switch (kept[0]) {
    case 'task.started':
      return { type: kept[0], ...attemptOf(tasks[kept[1]] as Task) };
    case 'task.ended': {
      const task = tasks[kept[1]] as Task;
      const { status, lastError } = task;
      const event = { type: kept[0], ...attemptOf(task), outcome: status as Ended, stale: kept[2] };
      return status === 'error' && lastError !== undefined ? { ...event, error: lastError } : event;
    }
    case 'handler.ran': {
      const { id, node } = tasks[kept[1]] as Task;
      return { type: kept[0], node, handler: kept[2], frame: kept[3], task: id };
    }
    case 'state.changed': {
      const { change: _, at: __, ...fields } = transitions[kept[1]] as Transition;
      return { type: kept[0], ...fields };
    }
    case 'node.status': {
      const interval = intervals[kept[1]] as IntervalWrite;
      const to = statusIn(interval) as NodeStatus;
      return { type: kept[0], node: interval.key as Task['node'], frame: interval.fromFrame, from: kept[2], to };
    }
    case 'frame.committed': {
      const { index, trigger, mounted, unmounted, digest, planVersion } = frame as Frame;
      return {
        type: kept[0],
        frame: index,
        trigger,
        mounted: mounted.length,
        unmounted: unmounted.length,
        digest,
        ...(planVersion === undefined ? {} : { planVersion }),
      };
    }
  }
}

type Ended = Extract<Task['status'], 'done' | 'error' | 'canceled'>;

export function isShort(kept: KeptEvent): kept is ShortEvent {
  return Array.isArray(kept);
}

export function eventType(kept: KeptEvent): EventDraft['type'] {
  return isShort(kept) ? kept[0] : kept.type;
}

function attemptOf({ id, node, iteration, retryCount }: Task) {
  return { task: id, node, iteration, attempt: retryCount + 1 };
}

/** The status that an interval sets, if it sets one. */
function statusIn({ space, change }: IntervalWrite): NodeStatus | undefined {
  const status = space === 'status' ? changedStatus(change) : undefined;
  return STATUSES.has(status) ? (status as NodeStatus) : undefined;
}

const STATUSES = new Set<unknown>(nodeStatus.options);

function changedStatus(change: Change): unknown {
  if (change.kind === 'set') return (change.value as { readonly status?: unknown } | null)?.status;
  if (change.kind === 'gone') return undefined;
  const step = change.steps.find(({ path }) => path.length === 1 && path[0] === 'status');
  return step?.op === 'set' ? step.value : undefined;
}

/** The short form of an event, if a part exists from which it may follow. */
function shortOf(event: EventDraft, places: Places): ShortEvent | undefined {
  switch (event.type) {
    case 'task.started':
      return at(places.tasks().get(event.task), place => [event.type, place]);
    case 'task.ended':
      return at(places.tasks().get(event.task), place => [event.type, place, event.stale]);
    case 'handler.ran':
      return at(places.tasks().get(event.task), place => [event.type, place, event.handler, event.frame]);
    case 'state.changed':
      return at(places.transitions().get(`${event.frame} ${event.index}`), place => [event.type, place]);
    case 'node.status':
      return at(places.statuses().get(event.node), place => [event.type, place, event.from]);
    case 'frame.committed':
      return [event.type];
    default:
      return undefined;
  }
}

function at(place: number | undefined, short: (place: number) => ShortEvent): ShortEvent | undefined {
  return place === undefined ? undefined : short(place);
}

type PlacesByKey = () => ReadonlyMap<string | undefined, number>;

interface Places {
  readonly tasks: PlacesByKey;
  readonly transitions: PlacesByKey;
  readonly statuses: PlacesByKey;
}

function placesIn({ tasks, transitions, intervals }: Parts): Places {
  return {
    tasks: placesBy(tasks, ({ id }) => id),
    transitions: placesBy(transitions, ({ frame, index }) => `${frame} ${index}`),
    statuses: placesBy(intervals, ({ space, key }) => (space === 'status' ? key : undefined)),
  };
}

/** Indexes of items by key, built on first use. */
function placesBy<Item>(items: readonly Item[] = [], keyOf: (item: Item) => string | undefined): PlacesByKey {
  let places: ReadonlyMap<string | undefined, number> | undefined;
  return () => (places ??= new Map(items.map((item, place) => [keyOf(item), place])));
}

/** Whether two values are the same plain data. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [members, others] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>];
  for (const key in members) if (!isSame(members[key], others[key])) return false;
  for (const key in others) if (!(key in members)) return false;
  return true;
}
