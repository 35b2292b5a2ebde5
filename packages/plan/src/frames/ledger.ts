import { type Clock, type Json, type Timestamp, timestampOf } from '@signalbox/model';
import {
  type ArtifactRecord,
  type Change,
  changeBetween,
  type EventDraft,
  eventDraftOf,
  type Frame,
  type InternalEvent,
  type IntervalSpace,
  type IntervalWrite,
  keptEvents,
  type NodeKey,
  type RunWrite,
  type Task,
  type TaskId,
  type Transition,
  type WriteSet,
} from '@signalbox/runs';
import type { AppliedAction } from '../state/flush.ts';

type Fields<Type extends InternalEvent['type']> = Parameters<typeof eventDraftOf<Type>>[1];

/** Changes since the last commit, as plain data. Values that end up as committed are not written again. */
export interface Ledger {
  /** The value of a key from the next frame on; undefined removes it. */
  put(space: IntervalSpace, key: string, value: Json | undefined): void;
  committed(space: IntervalSpace, key: string): Json | undefined;
  /** The value that the next commit will have. */
  current(space: IntervalSpace, key: string): Json | undefined;
  /** The time as recorded. */
  stamp(ms?: number): Timestamp;
  task(task: Task): void;
  event<Type extends InternalEvent['type']>(type: Type, fields: Fields<Type>): void;
  contractEvent(draft: EventDraft): void;
  /** The first event of the run's log, before all others so far. */
  created(fields: Fields<'run.created'>): void;
  artifact(artifact: ArtifactRecord): void;
  /** Returns its index among the transitions of its frame. */
  transition(action: AppliedAction, key: string): number;
  /** Everything for one commit. It counts as committed only when `settle` is called. */
  writes(frame: Frame | undefined, nextFrame: number, run: RunWrite | undefined): WriteSet;
  settle(): void;
  readonly isEmpty: boolean;
  /** Keys of state that the next commit writes. */
  writtenState(): readonly string[];
}

interface Pending {
  readonly value: Json | undefined;
  /** The change from the committed value; built on first use. */
  change: { readonly made: Change | undefined } | undefined;
}

/** `first` is the number of transitions that the first frame already has. */
export function createLedger(
  clock: Clock,
  known: ReadonlyMap<IntervalSpace, ReadonlyMap<string, Json>>,
  first: { readonly frame: number; readonly count: number } = { frame: 0, count: 0 },
): Ledger {
  const committed = new Map<IntervalSpace, Map<string, Json>>(
    (['node', 'status', 'state', 'read'] as const).map(space => [space, new Map(known.get(space))]),
  );
  const pending = new Map<IntervalSpace, Map<string, Pending>>();
  let tasks = new Map<TaskId, Task>();
  let events: EventDraft[] = [];
  let transitions: Transition[] = [];
  let artifacts: ArtifactRecord[] = [];
  let counted = first;

  let stamped = { ms: Number.NaN, text: '' as Timestamp };
  const stamp = (ms = clock.now()): Timestamp => {
    if (ms !== stamped.ms) stamped = { ms, text: timestampOf({ now: () => ms }) };
    return stamped.text;
  };
  const committedValue = (space: IntervalSpace, key: string) => committed.get(space)?.get(key);
  const changeOf = (space: IntervalSpace, key: string, entry: Pending): Change | undefined => {
    entry.change ??= { made: changeBetween(committedValue(space, key), entry.value) };
    return entry.change.made;
  };

  return {
    put(space, key, value) {
      let changes = pending.get(space);
      if (changes === undefined) {
        changes = new Map();
        pending.set(space, changes);
      }
      changes.set(key, { value, change: undefined });
    },
    committed: committedValue,
    current(space, key) {
      const entry = pending.get(space)?.get(key);
      return entry === undefined ? committedValue(space, key) : entry.value;
    },
    stamp,
    task(task) {
      tasks.set(task.id, task);
    },
    event(type, fields) {
      events.push(eventDraftOf(type, fields));
    },
    contractEvent(draft) {
      events.push(draft);
    },
    created(fields) {
      events.unshift(eventDraftOf('run.created', fields));
    },
    artifact(artifact) {
      artifacts.push(artifact);
    },
    transition(action, key) {
      const index = counted.frame === action.frame ? counted.count : 0;
      counted = { frame: action.frame, count: index + 1 };
      transitions.push({
        frame: action.frame,
        index,
        key,
        change: action.change,
        trigger: action.trigger,
        ...(action.node === '' ? {} : { node: action.node as NodeKey }),
        ...(action.handler === undefined ? {} : { handler: action.handler }),
        at: stamp(),
      });
      return index;
    },
    writes(frame, nextFrame, run) {
      const intervals: IntervalWrite[] = [];
      for (const [space, changes] of pending) {
        for (const [key, entry] of changes) {
          const change = changeOf(space, key, entry);
          if (change !== undefined) intervals.push({ space, key, fromFrame: nextFrame, change });
        }
      }
      const started = [...tasks.values()];
      return {
        at: stamp(),
        ...(run === undefined ? {} : { run }),
        ...(frame === undefined ? {} : { frame }),
        ...(intervals.length === 0 ? {} : { intervals }),
        ...(transitions.length === 0 ? {} : { transitions }),
        ...(started.length === 0 ? {} : { tasks: started }),
        ...(artifacts.length === 0 ? {} : { artifacts }),
        ...(events.length === 0
          ? {}
          : { events: keptEvents({ frame, intervals, transitions, tasks: started }, events) }),
      };
    },
    settle() {
      for (const [space, changes] of pending) {
        const values = committed.get(space);
        for (const [key, { value }] of changes) {
          if (value === undefined) values?.delete(key);
          else values?.set(key, value);
        }
      }
      pending.clear();
      tasks = new Map();
      events = [];
      transitions = [];
      artifacts = [];
    },
    get isEmpty() {
      return pending.size === 0 && tasks.size === 0 && events.length === 0 && transitions.length === 0;
    },
    writtenState: () =>
      [...(pending.get('state') ?? [])]
        .filter(([key, entry]) => changeOf('state', key, entry) !== undefined)
        .map(([key]) => key),
  };
}
