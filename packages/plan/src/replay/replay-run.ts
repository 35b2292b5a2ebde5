import { createIdSource, type Digest, type Json, type Rng, type RunId } from '@signalbox/model';
import {
  type AnyEvent,
  type Blobs,
  type IntervalSpace,
  isSamePlan,
  planSources,
  type RunReader,
  type RunRecord,
  type Task,
} from '@signalbox/runs';
import { queryTables } from '../context.ts';
import { editUndriven } from '../forks/edit-undriven.ts';
import { type Command, type CommandBox, createCommandBox } from '../frames/command.ts';
import { endUndriven, stopUndriven } from '../frames/end-undriven.ts';
import { createEngine, type Engine } from '../frames/engine.ts';
import type { PlanRunOptions, RecordedCode, RunEnd } from '../frames/engine-options.ts';
import { createFrameDigest } from '../frames/frame-digest.ts';
import type { TriggerKind } from '../frames/frame-scheduler.ts';
import { digested, loadMemory, type RunMemory } from '../frames/run-memory.ts';
import type { AnyPlan } from '../plan-definition.ts';
import { editedRecord, nodeRecordOf } from '../structure/node-record.ts';
import { type RecordedFrame, recordedFrames } from './recorded-frames.ts';
import { editOf, inputsOf, lifeEndOf, type RecordedInputs } from './recorded-life.ts';
import { recordedReads, unrecordedReads } from './recorded-reads.ts';
import { createRecordedWork, subPlanPlace } from './recorded-work.ts';
import { type RecordedWrites, recordedWrites } from './recorded-writes.ts';
import { differenceOf, type ReplayDifference } from './replay-difference.ts';
import { createReplayStore } from './replay-store.ts';

/**
 * Verifies a run by making its frames again, with the real engine.
 *
 * 1. Only renders and handlers of the plan are called. Work, effects, people, signals, operators, time, queries and reads of volatile state
 *    come from the record.
 * 2. Every frame must have its recorded hash; the first one that does not ends the replay.
 * 3. A frame that read something unrecorded is not verified. If it matches anyway, the replay continues.
 */
export async function replayRun(options: ReplayOptions): Promise<ReplayReport> {
  const { run, reader } = options;
  const record = await reader.run(run);
  if (record === undefined) return { run, frames: 0, verified: 0, unverified: [], children: [] };
  const player = await createPlayer(options, record);
  const unverified: number[] = [];
  let verified = 0;
  let difference: ReplayDifference | undefined;
  let played: RecordedFrame | undefined;
  const play = async (next: RecordedFrame | undefined): Promise<boolean> => {
    if (played === undefined) return true;
    const { frame, told } = played;
    const isAsTold = frame.digest === told.digest && frame.planVersion === told.planVersion;
    const found = isAsTold ? await player.play(played, next) : notAsTold(frame, told.digest);
    if (!frame.verifiable) unverified.push(frame.index);
    else if (found === undefined) verified += 1;
    else difference = found;
    await options.onFrame?.(frame.index);
    return found === undefined;
  };
  try {
    let goesOn = true;
    for await (const next of recordedFrames(reader, record)) {
      goesOn = await play(next);
      if (!goesOn) break;
      played = next;
    }
    if (goesOn) await play(undefined);
  } finally {
    await player.close();
  }
  const isCollected = difference === undefined && verified + unverified.length < record.frames;
  const [gap] = isCollected ? (record.collected ?? []) : [];
  const [first] = unverified;
  const unrecorded = first === undefined ? [] : await unrecordedReads(reader, run, first);
  const named = unrecorded.length === 0 ? {} : { unrecorded };
  const counts = { run, frames: record.frames, verified, unverified, ...named };
  const ended = { ...counts, ...(gap && { collectedFrom: gap.from }), children: await player.children() };
  return difference === undefined ? ended : { ...ended, difference };
}

/** The plan of each version that a run used. */
export type PlanOfVersion = (version: number) => AnyPlan;

export interface ReplayOptions {
  readonly plan: AnyPlan | PlanOfVersion;
  readonly run: RunId;
  /** Reads the record. */
  readonly reader: RunReader;
  /** Holds the contents of files that renders read. */
  readonly blobs?: Pick<Blobs, 'get'>;
  /** Called after every frame; the next one waits for it. */
  readonly onFrame?: (frame: number) => void | Promise<void>;
  /** As when the run was recorded. */
  readonly secrets?: PlanRunOptions['secrets'];
}

export interface ReplayReport {
  readonly run: RunId;
  /** The number of frames that the run has. */
  readonly frames: number;
  readonly verified: number;
  /** Frames that read something unrecorded; if fewer frames than all were reached, the replay ended at the last of these. */
  readonly unverified: readonly number[];
  /** What the first of these read, as far as it has a name. */
  readonly unrecorded?: readonly string[];
  /** The first collected frame: it and later ones cannot be replayed. */
  readonly collectedFrom?: number;
  readonly difference?: ReplayDifference;
  /** Runs of started sub-plans, with the plans to replay them by. */
  readonly children: readonly { readonly run: RunId; readonly plan: PlanOfVersion }[];
}

function notAsTold({ index, digest }: RecordedFrame['frame'], told: Digest): ReplayDifference {
  const what = 'the row of the frame has another hash or plan version than the event log says: the record was changed';
  return { frame: index, kind: 'record', what, recorded: told, replayed: digest, rows: [] };
}

/** Makes the frames of a recorded run again, one after another. */
async function createPlayer({ plan: given, reader, blobs, secrets }: ReplayOptions, record: RunRecord) {
  const { id: run } = record;
  const planOf: PlanOfVersion = typeof given === 'function' ? given : () => given;
  const store = createReplayStore(run);
  const work = createRecordedWork();
  const reads = recordedReads(reader, run, blobs);
  const signals: Extract<AnyEvent, { readonly type: 'signal.received' }>[] = [];
  let now = Date.parse(record.createdAt);
  let inputs: RecordedInputs | undefined;
  let effects: { readonly ran: ReadonlyMap<string, EffectRun>; readonly writes: RecordedWrites } | undefined;
  let push: Parameters<RecordedCode['attach']>[0] = () => {};
  let taken = 0;
  /** The next render threw when the run was recorded. */
  let rendersThrow = false;
  /** The engine failed the run in its last step. */
  let isOver = false;
  /** The run's last status in the events. */
  let status: RunRecord['status'] | undefined;
  let memory: RunMemory;
  let engine: Engine;
  let commands: CommandBox;

  const clock = { now: () => now };
  const recorded: RecordedCode = {
    attach(given) {
      push = given;
    },
    beforeRender() {
      if (rendersThrow) throw new Error('as recorded');
      const volatile = reads.volatile();
      if (volatile.size > 0) memory.volatile.write(volatile);
    },
    effect(call) {
      const { cleanup: _, ...rest } = call;
      const cleanup = call.cleanup === undefined ? {} : { cleanup: nothing };
      return { ...rest, ...cleanup, run: () => runRecorded(call.id) };
    },
  };
  const runRecorded = (id: string): unknown => {
    const ran = effects?.ran.get(id);
    if (ran?.error !== undefined) throw new Error(ran.error);
    for (const { action, trigger } of effects?.writes.effects.get(id) ?? []) push(action, trigger);
    return ran?.held === true ? nothing : undefined;
  };

  const options = {
    run,
    secrets,
    owner: 'replay' as PlanRunOptions['owner'],
    commit: store.commit,
    reader: store.reader,
    executor: work.executor,
    clock,
    timers: { after: () => nothing },
    ids: createIdSource(clock, noRng),
    rng: noRng,
    keepVolatile: true,
    recorded,
    query: reads.query,
    files: reads.files,
    blobs: { put: async () => ({ ok: true, value: [] }) },
    mayStart: () =>
      inputs?.started === 0 ? { kind: 'stop', reason: record.stopReason ?? 'as recorded' } : { kind: 'go' },
  } as Omit<PlanRunOptions, 'plan'>;

  async function begin(version: number): Promise<void> {
    const plan = planOf(version);
    work.forget(version);
    isOver = false;
    memory = await loadMemory({ ...options, plan, limits: record.limits, clean: secrets?.data });
    const box = createCommandBox();
    commands = box;
    // The record decides when the engine's own later commands are due.
    const silent: CommandBox = { ...box, ask: () => new Promise(() => {}) };
    const request = (trigger: TriggerKind) => {
      if (trigger === 'task_finished') taken += 1;
    };
    const created = memory.record === undefined ? { create: record } : {};
    engine = createEngine({ ...options, plan, ...created }, memory, {
      request,
      commands: silent,
      depth: 0,
      startChild() {
        throw new Error('a replay starts no run');
      },
    });
  }

  /** Passes recorded inputs to the engine. */
  async function feed(events: readonly AnyEvent[], frame: number): Promise<RecordedInputs> {
    const found = await inputsOf({ run, reader, work, memory, frame }, events);
    for (const name of found.signals) {
      const at = signals.findIndex(signal => signal.name === name);
      const [signal] = at < 0 ? [] : signals.splice(at, 1);
      if (signal !== undefined) store.receive(signal);
    }
    if (found.signals.length > 0) void commands.ask({ kind: 'input' });
    for (const command of found.commands) void commands.ask(command);
    const { late } = await recordedWrites(reader, run, events);
    for (const { action, trigger } of late) push(action, trigger);
    let due = taken;
    for (const item of found.news) {
      if (item.kind === 'progress') work.progress(item.task, item.progress);
      else {
        due += 1;
        work.end(item.task, item.outcome);
      }
    }
    for (let turns = 0; taken < due && turns < MAX_TURNS; turns++) {
      await (turns < MICRO_TURNS ? Promise.resolve() : new Promise(resolve => setImmediate(resolve)));
    }
    return found;
  }

  const noteStatus = (events: readonly AnyEvent[]) => {
    for (const event of events) if (event.type === 'run.status') status = event.to;
  };

  /** Another process resumed the run: handles what the previous one left without a frame, then starts the new one. */
  async function changeHands(events: readonly AnyEvent[], next: readonly AnyEvent[]): Promise<void> {
    const nextFrame = memory.nextFrame;
    noteStatus(events);
    const end = lifeEndOf(events, nextFrame);
    const rest: Command = { kind: 'suspend' };
    const isEndOfOwn = (event: AnyEvent) => event.type === 'run.status' && event.to === 'failed';
    const own = end === 'failed' && !isOver ? events.slice(0, events.findLastIndex(isEndOfOwn) + 1) : [];
    if (isOver && end !== 'stopped' && end !== 'left') {
      // Its last actions were part of its last step.
    } else if (end === 'terminated' || end === 'failed') {
      inputs = await feed(end === 'failed' ? own : events, nextFrame);
      if (end === 'terminated') void commands.ask({ kind: 'grace-over' });
      else rendersThrow = true;
      await engine.step(['task_finished']);
      rendersThrow = false;
    } else if (end !== 'gone' && end !== 'left') {
      void commands.ask(rest);
      await engine.step(['stop_requested']);
    }
    if (end === 'stopped') await stopUndriven(options, run, record.stopReason ?? 'as recorded');
    const known = end === 'left' ? await store.reader.run(run) : undefined;
    if (known !== undefined) await endUndriven(options, known, { status: 'paused' });
    for (const event of events.slice(own.length)) {
      if (event.type === 'state.edited') await editUndriven(options, run, await editOf({ run, reader }, event, events));
    }
    await engine.close();
    if (status !== undefined) store.become(status);
    await begin(versionOf(next));
  }

  /** The first frame of a fork is a frame of its parent: its rows are all there is of it. */
  async function inherit(
    frame: RecordedFrame['frame'],
    { node, nodeInput }: Extract<AnyEvent, { readonly type: 'run.forked' }>,
  ): Promise<ReplayDifference | undefined> {
    const digest = createFrameDigest();
    const values = new Map<IntervalSpace, ReadonlyMap<string, Json>>();
    for (const space of ['node', 'status', 'state', 'read'] as const) {
      const rows = await reader.at(run, space, 0);
      values.set(space, rows);
      if (space !== 'read') for (const [key, value] of rows) digest.set(space, key, digested(space, value));
    }
    if (digest.value !== frame.digest) return notAsTold(frame, digest.value);
    const row = node === undefined ? undefined : values.get('status')?.get(node);
    if (node !== undefined && row !== undefined && nodeInput !== undefined) {
      const edited = editedRecord(nodeRecordOf(row), nodeInput.edit) as Json;
      values.set('status', new Map([...(values.get('status') ?? []), [node, edited]]));
    }
    const { status: _, ...begun } = record;
    const tasks = (await reader.tasks(run)).filter(({ createdAt }) => createdAt < record.createdAt);
    const inherited = tasks.map(task => (task.handledFrame === 0 ? task : asBegun(task)));
    store.inherit({ ...begun, status: 'paused', nextSeq: 0, inputSeq: 0 }, values, inherited);
    await engine.close();
    await begin(1);
    return undefined;
  }

  await begin(1);
  return {
    async play(
      { frame, lives }: RecordedFrame,
      next: RecordedFrame | undefined,
    ): Promise<ReplayDifference | undefined> {
      const forked = lives[0]?.find(event => event.type === 'run.forked');
      if (forked?.type === 'run.forked') return inherit(frame, forked);
      for (const event of lives.flat()) if (event.type === 'signal.received') signals.push(event);
      for (const [at, ended] of lives.slice(0, -1).entries()) await changeHands(ended, lives[at + 1] ?? []);
      const events = lives.at(-1) ?? [];
      noteStatus(events);
      now = Date.parse(frame.at);
      const isAnswerOther = await reads.turnTo(frame.index);
      inputs = await feed(events, frame.index);
      if (isAnswerOther) void commands.ask({ kind: 'invalidate', tables: queryTables });
      effects = await effectsAfter(reader, run, frame.index, next);
      const triggers = triggersOf(frame.trigger.detail);
      if (triggers.includes('stop_requested')) void commands.ask({ kind: 'time-over' });
      const end = await engine.step(triggers);
      isOver = end?.status === 'failed';
      const made = store.lastFrame;
      if (made?.index !== frame.index) return noFrame(frame, end);
      return made.digest === frame.digest ? undefined : differenceOf(reader, run, frame, store, made.digest);
    },
    async children() {
      const found = await reader.children(run);
      const own = planSources(record);
      return found.flatMap(child => {
        const { origin } = child;
        if (origin?.kind !== 'sub-plan') return [];
        const place = subPlanPlace(origin.node, origin.iteration);
        const last = work.subPlan(place, undefined);
        if (last === undefined) return [];
        // A version of the child has the files of a version of this run.
        const sources = planSources(child);
        const plan: PlanOfVersion = version => {
          const at = own.findIndex(source => isSamePlan(source, sources[version - 1]));
          return work.subPlan(place, at < 0 ? undefined : at + 1) ?? last;
        };
        return [{ run: child.id, plan }];
      });
    },
    close: () => engine.close(),
  };
}

interface EffectRun {
  readonly held: boolean;
  readonly error?: string;
}

/** What the effects of a frame did, if it was committed: with the next frame, by the same process. */
async function effectsAfter(
  reader: RunReader,
  run: RunId,
  frame: number,
  next: RecordedFrame | undefined,
): Promise<{ readonly ran: ReadonlyMap<string, EffectRun>; readonly writes: RecordedWrites } | undefined> {
  const events = next?.lives[0] ?? [];
  const ran = new Map<string, EffectRun>();
  for (const event of events) {
    if (event.type === 'effect.failed' && event.frame === frame)
      ran.set(event.effect, { held: false, error: event.error });
    if (event.type !== 'effect.ran' || event.frame !== frame) continue;
    const row = await reader.valueAt(run, 'status', event.effect, frame + 1);
    const { effect } = (row ?? {}) as { readonly effect?: { readonly held: boolean } };
    ran.set(event.effect, { held: effect?.held ?? false });
  }
  return ran.size === 0 ? undefined : { ran, writes: await recordedWrites(reader, run, events) };
}

function noFrame({ index, digest }: RecordedFrame['frame'], end: RunEnd | undefined): ReplayDifference {
  const why = end?.status === 'failed' ? end.error.message : 'nothing led to it';
  return { frame: index, kind: 'render', what: `it was not made: ${why}`, recorded: digest, rows: [] };
}

/** A frame was made, whatever its triggers: the timer always makes one. */
function triggersOf(detail: string | undefined): readonly TriggerKind[] {
  const triggers = (detail ?? '').split(' ').filter(trigger => trigger !== '' && trigger !== 'signal');
  return [...(triggers as TriggerKind[]), 'timer'];
}

/** A task as of when a fork was given it. */
function asBegun(task: Task): Task {
  const { leaseOwner: _, result: __, startedAt: ___, endedAt: ____, handledFrame: _____, ...rest } = task;
  return { ...rest, status: 'pending', retryCount: 0 };
}

/** The version of the plan that a process used. */
function versionOf(events: readonly AnyEvent[]): number {
  const [first] = events;
  return first?.type === 'run.resumed' ? (first.planVersion ?? 1) : 1;
}

/** Only ids and waits depend on it, and neither is part of a frame. */
const noRng: Rng = { bytes: count => new Uint8Array(count) };
const MICRO_TURNS = 16;
const MAX_TURNS = 1000;

function nothing(): void {}
