import { type Clock, type Json, type RunPhase, type Timestamp, timestampOf } from '@signalbox/model';
import {
  type ArtifactRecord,
  type Change,
  changeBetween,
  type EventDraft,
  eventDraftOf,
  type Frame,
  hasRunEnded,
  type InternalEvent,
  type IntervalSpace,
  type IntervalWrite,
  keptEvents,
  mayRunFollow,
  type NodeKey,
  type OwnerId,
  type RunChange,
  type RunRecord,
  type RunWrite,
  type Task,
  type TaskId,
  type Transition,
  type WriteSet,
} from '@signalbox/runs';
import { PlanError } from '../plan-error.ts';
import type { AppliedAction } from '../state/flush.ts';
import type { CommitsAhead } from './commits-ahead.ts';
import type { EngineBase, PlanCode } from './engine.ts';
import type { RunEnd } from './engine-options.ts';
import { laterVersionOf, newSourceOf } from './plan-version.ts';

/** What a commit must make durable first, and what is notified after it. */
type CommittedCode = Pick<PlanCode, 'signals' | 'queries' | 'files' | 'artifacts'>;

/** The commits of a run: each takes everything in the ledger, and the changes of the run itself. */
export interface RunCommit {
  /**
   * Returns an end only if a commit failed. With `mayGetAhead`, the commit may still be on its way; otherwise it is durable, and so is every
   * one before it.
   */
  commit(frame: Frame | undefined, end: RunEnd | undefined, mayGetAhead?: boolean): Promise<RunEnd | undefined>;
  /** Commits the rest together with the end. */
  finish(end: RunEnd): Promise<RunEnd>;
  /** Whether the next commit can write this end: a run cannot be created in its end, nor go from one end to another. */
  canEnd(end: RunEnd): boolean;
  /** The version of its plan that the run continues with, if not the first. */
  readonly planVersion: { readonly planVersion?: number };
  /** Sets the run's phase for the next commit. */
  setPhase(phase: 'EXECUTE' | 'VERIFY'): void;
}

export function createRunCommit(
  { options, memory, commands, request }: EngineBase,
  code: CommittedCode,
  ahead: CommitsAhead,
): RunCommit {
  const { signals, queries, files, artifacts } = code;
  const { run, create, startedBy, owner } = options;
  let isClaimDue = options.claim === true && memory.record !== undefined && !isUntouched(memory.record, owner);
  let newSource = newSourceOf(memory.record, options.source);
  const planVersion = laterVersionOf(memory.record, options.source);
  const { ledger } = memory;
  let version = memory.record?.version ?? 0;
  let epoch = memory.record?.epoch ?? 0;
  let status = memory.record?.status ?? 'running';
  let shownPhase: RunPhase = memory.record?.phase ?? 'EXECUTE';
  let phase: RunPhase = 'EXECUTE';

  function runWriteOf(end: RunEnd | undefined): RunWrite | undefined {
    if (version === 0) {
      if (create === undefined)
        throw new PlanError('plan/not-a-plan', `run ${run} does not exist and is not to be created`);
      ledger.created({
        driver: 'plan',
        name: create.name,
        ...(create.origin === undefined ? {} : { origin: create.origin }),
        ...(startedBy === undefined ? {} : { by: startedBy }),
      });
      return { kind: 'create', run: { ...create, driver: 'plan', status: 'running', phase, owner } };
    }
    const to = end === undefined || end.status === 'lost' ? 'running' : end.status;
    const nextPhase = end?.status === 'completed' ? 'DONE' : phase;
    const claim = claimOf();
    const inputSeq = signals.toKeep(end !== undefined);
    const source = newSource === undefined ? {} : { source: newSource };
    const limits = memory.areLimitsChanged ? { limits: memory.limits } : {};
    const isNothing =
      claim === undefined && inputSeq === undefined && newSource === undefined && !memory.areLimitsChanged;
    if (to === status && nextPhase === shownPhase && isNothing) return undefined;
    newSource = undefined;
    memory.areLimitsChanged = false;
    const why = {
      ...(end?.status === 'stopped' ? { stopReason: end.reason } : {}),
      ...(end?.status === 'failed' ? { error: end.error } : {}),
    };
    // A reason for an earlier end no longer applies when the run continues.
    const over: Pick<RunChange, 'stopReason' | 'error'> = {
      ...(status === 'stopped' && to !== 'stopped' ? { stopReason: null } : {}),
      ...(status === 'failed' && to !== 'failed' ? { error: null } : {}),
    };
    if (to !== status) ledger.event('run.status', { from: status, to, ...why });
    if (nextPhase !== shownPhase) ledger.contractEvent({ type: 'run.phase', phase: nextPhase });
    if (end?.status === 'stalled') {
      ledger.contractEvent({ type: 'run.stalled', evidence: end.evidence });
    }
    status = to;
    shownPhase = nextPhase;
    const output = end?.status === 'completed' ? { output: end.output } : {};
    const kept = inputSeq === undefined ? {} : { inputSeq };
    return {
      kind: 'change',
      change: { status: to, phase: nextPhase, ...over, ...why, ...output, ...claim, ...kept, ...source, ...limits },
    };
  }

  /** Claiming a run is part of the first commit, so that a process owns only runs that it changed. */
  function claimOf(): Pick<RunChange, 'epoch' | 'owner'> | undefined {
    if (!isClaimDue) return undefined;
    isClaimDue = false;
    const claimed = { epoch: epoch + 1, owner };
    ledger.event('run.claimed', claimed);
    return claimed;
  }

  function canEnd(end: RunEnd): boolean {
    return version > 0 && end.status !== 'lost' && !hasRunEnded(status) && mayRunFollow(status, end.status);
  }

  async function commit(
    frame: Frame | undefined,
    end: RunEnd | undefined,
    mayGetAhead = false,
    isEndDue = false,
  ): Promise<RunEnd | undefined> {
    const before = mayGetAhead ? ahead.lost : await ahead.durable();
    if (before !== undefined) return before;
    const write = runWriteOf(end);
    if (frame !== undefined) {
      const { index, trigger, mounted, unmounted, digest } = frame;
      ledger.event('frame.committed', {
        frame: index,
        trigger,
        mounted: mounted.length,
        unmounted: unmounted.length,
        digest,
        ...(frame.planVersion === undefined ? {} : { planVersion: frame.planVersion }),
      });
    }
    const writes = ledger.writes(frame, memory.nextFrame, write);
    const contents = [...files.takeBlobs(), ...artifacts.takeBlobs()];
    const kept = contents.length === 0 ? undefined : await options.blobs?.put(contents);
    if (kept?.ok === false) return { status: 'lost', error: kept.error };
    const own = writes.events?.length ?? 0;
    if (mayGetAhead && contents.length === 0 && ahead.allows(writes)) {
      const sent = ahead.send(writes, { run, epoch, version }, nextSeq => {
        signals.committed(nextSeq, own);
        if (signals.isDue) request('signal');
      });
      version += 1;
      settle(frame, writes);
      return sent;
    }
    const earlier = await ahead.durable();
    if (earlier !== undefined) return earlier;
    const committed = await options.commit.commit(writes, { run, epoch, version });
    if (!committed.ok) return { status: 'lost', error: committed.error };
    version = committed.value.version;
    epoch = committed.value.epoch;
    signals.committed(committed.value.nextSeq, own);
    settle(frame, writes);
    // If an end is due, callers are answered once the outcome of the run is known.
    if (!isEndDue) commands.committed();
    return undefined;
  }

  /** The next commit contains only what comes after this one. */
  function settle(frame: Frame | undefined, writes: WriteSet): void {
    ledger.settle();
    if (frame !== undefined) memory.nextFrame += 1;
    queries.committed(writes);
  }

  return {
    commit: (frame, end, mayGetAhead) => commit(frame, end, mayGetAhead),
    canEnd,
    planVersion,
    setPhase(next) {
      phase = next;
    },
    async finish(end) {
      const lost = canEnd(end) ? undefined : await commit(undefined, undefined, false, true);
      return lost ?? (await commit(undefined, end)) ?? end;
    },
  };
}

/** Whether this owner created the run and nothing has driven it: it is started, not resumed. */
export function isUntouched({ frames, version, status, owner }: RunRecord, by: OwnerId): boolean {
  return frames === 0 && version === 1 && status === 'running' && owner === by;
}

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
