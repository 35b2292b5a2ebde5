import type { Json, Timestamp } from '@signalbox/model';
import { isSame } from '../events/kept-event.ts';
import type { Change } from '../frames/change.ts';
import type { Frame } from '../frames/frame.ts';
import type { IntervalWrite } from '../frames/interval.ts';
import type { Transition } from '../frames/transition.ts';
import type { Task } from '../tasks/task.ts';
import type { RecordBody } from './record.ts';

/**
 * The stored form of a body: without what other parts already say, and without the usual defaults. Plans commit thousands of steps; packing
 * saves about a third.
 *
 * - A frame, a transition or a task has no time if that is the time of the record.
 * - An interval is a list: space, key, change, and the frame from which it holds, if that is not the record's frame.
 * - A transition has no change if the state of its key has the same one. Values in blobs are exempt: null replaces each of them, so two
 *   that look the same may differ.
 */
export function packBody(body: RecordBody, at: Timestamp): object {
  const { frame, intervals, transitions, tasks, large } = body;
  const shared = large === undefined ? intervals : [];
  if (frame === undefined && intervals === undefined && transitions === undefined && tasks === undefined) return body;
  return {
    ...body,
    ...(frame && { frame: packFrame(frame, at) }),
    ...(intervals && { intervals: intervals.map(interval => packInterval(interval, frame)) }),
    ...(transitions && { transitions: transitions.map((one, place) => packTransition(one, place, at, shared)) }),
    ...(tasks && { tasks: tasks.map(task => packTask(task, at)) }),
  };
}

/** Unpacks a body. Throws if it is not a packed body. */
export function unpackBody(packed: Packed, at: Timestamp): RecordBody {
  const frame = packed.frame && unpackFrame(packed.frame, at);
  const intervals = packed.intervals?.map(interval => unpackInterval(interval, frame));
  return {
    ...packed,
    ...(frame && { frame }),
    ...(intervals && { intervals }),
    ...(packed.transitions && {
      transitions: packed.transitions.map((one, place) => unpackTransition(one, place, at, intervals)),
    }),
    ...(packed.tasks && { tasks: packed.tasks.map(task => unpackTask(task, at)) }),
  } as RecordBody;
}

/** The result of `packBody`. */
export type Packed = Omit<RecordBody, 'frame' | 'intervals' | 'transitions' | 'tasks'> & {
  readonly frame?: Partial<Frame>;
  readonly intervals?: readonly PackedInterval[];
  readonly transitions?: readonly Partial<Transition>[];
  readonly tasks?: readonly PackedTask[];
};

const FRAME = { mounted: [], unmounted: [], written: [], verifiable: true } as const;

function packFrame(frame: Frame, at: Timestamp): Partial<Frame> {
  return without(frame, part =>
    part === 'at' ? frame.at === at : part === 'verifiable' ? frame.verifiable : part in FRAME && isEmpty(frame[part]),
  );
}

function unpackFrame(packed: Partial<Frame>, at: Timestamp): Frame {
  return { at, ...FRAME, ...packed } as Frame;
}

type PackedInterval = readonly [
  space: IntervalWrite['space'],
  key: string,
  change: PackedChange,
  fromFrame?: number | undefined,
];
type PackedChange = { readonly set: Json } | { readonly patch: unknown } | 'gone';

function packInterval({ space, key, fromFrame, change }: IntervalWrite, frame: Frame | undefined): PackedInterval {
  const packed = packChange(change);
  return fromFrame === frame?.index ? [space, key, packed] : [space, key, packed, fromFrame];
}

function unpackInterval([space, key, change, fromFrame]: PackedInterval, frame: Frame | undefined): IntervalWrite {
  const from = fromFrame ?? frame?.index;
  if (from === undefined) throw new Error('an interval has no frame');
  return { space, key, fromFrame: from, change: unpackChange(change) };
}

function packChange(change: Change): PackedChange {
  switch (change.kind) {
    case 'set':
      return { set: change.value };
    case 'patch':
      return { patch: change.steps };
    case 'gone':
      return 'gone';
  }
}

function unpackChange(packed: PackedChange): Change {
  if (packed === 'gone') return { kind: packed };
  return 'set' in packed ? { kind: 'set', value: packed.set } : ({ kind: 'patch', steps: packed.patch } as Change);
}

function packTransition(
  transition: Transition,
  place: number,
  at: Timestamp,
  intervals: readonly IntervalWrite[] | undefined,
): Partial<Transition> {
  const { at: when, index, change } = transition;
  const said = {
    at: when === at,
    index: index === place,
    change: isSame(stateOf(transition.key, intervals)?.change, change),
  };
  return without(transition, part => said[part as keyof typeof said] === true);
}

function unpackTransition(
  packed: Partial<Transition>,
  place: number,
  at: Timestamp,
  intervals: readonly IntervalWrite[] | undefined,
): Transition {
  const change = packed.change ?? stateOf(packed.key, intervals)?.change;
  if (change === undefined) throw new Error('a transition has no change');
  return { at, index: place, ...packed, change } as Transition;
}

function stateOf(key: string | undefined, intervals: readonly IntervalWrite[] = []): IntervalWrite | undefined {
  return intervals.find(interval => interval.space === 'state' && interval.key === key);
}

const TASK = { iteration: 0, effects: 'none', retryCount: 0, maxRetries: 3, backoffMs: 1000 } as const;
const TIMES = ['createdAt', 'startedAt', 'endedAt'] as const;
type PackedTask = Partial<Task> & { readonly now?: readonly (typeof TIMES)[number][] };

function packTask(task: Task, at: Timestamp): PackedTask {
  const now = TIMES.filter(time => task[time] === at);
  const usual: Readonly<Partial<Record<string, unknown>>> = TASK;
  const packed: Record<string, unknown> = {};
  for (const part in task) {
    const value = task[part as keyof Task];
    if (value !== usual[part] && !(value === at && now.includes(part as never))) packed[part] = value;
  }
  if (now.length > 0) packed.now = now;
  return packed;
}

function unpackTask({ now = [], ...packed }: PackedTask, at: Timestamp): Task {
  return { ...TASK, ...packed, ...Object.fromEntries(now.map(time => [time, at])) } as Task;
}

function without<Part extends object>(part: Part, isLeftOut: (name: keyof Part) => boolean): Partial<Part> {
  const kept: Partial<Part> = {};
  for (const name in part) if (!isLeftOut(name)) kept[name] = part[name];
  return kept;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
