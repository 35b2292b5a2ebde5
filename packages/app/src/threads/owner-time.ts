import { Bug, type Timestamp } from '@signalbox/model';
import { type ArtifactRecord, type Frame, isShort, type KeptEvent, type Task, type WriteSet } from '@signalbox/runs';

/** How long before its commit a frame may have started: a slower render has lost its thread. */
const FRAME_MS = 120_000;

/**
 * A thread's commit with the owner's time (R39). A plan's code may manipulate the clock of its thread.
 *
 * 1. Everything in the commit has the time of the commit: the commit itself, its events, transitions and artifacts.
 * 2. A frame keeps the time that its render saw, which a replay needs, if that is recent.
 * 3. Times of tasks are not in the future.
 */
export function withOwnerTime(writes: WriteSet, now: number): WriteSet {
  const at = timestamp(now);
  const { events, transitions, artifacts, tasks, frame } = writes;
  return {
    ...writes,
    at,
    ...(frame && { frame: frameAt(frame, now, at) }),
    ...(transitions && { transitions: transitions.map(transition => ({ ...transition, at })) }),
    ...(tasks && { tasks: tasks.map(task => notLater(task, now, at)) }),
    ...(artifacts && { artifacts: artifacts.map((artifact): ArtifactRecord => ({ ...artifact, createdAt: at })) }),
    ...(events && { events: events.map(event => eventAt(event, at)) }),
  };
}

function eventAt(given: KeptEvent, at: Timestamp): KeptEvent {
  if (isShort(given)) return given;
  const { ts: _, ...event } = given;
  if (event.type !== 'artifact.created') return event;
  return { ...event, artifact: { ...event.artifact, createdAt: at } };
}

function frameAt(frame: Frame, now: number, at: Timestamp): Frame {
  const said = Date.parse(frame.at);
  return said <= now && said > now - FRAME_MS ? frame : { ...frame, at };
}

function notLater(task: Task, now: number, at: Timestamp): Task {
  const isLater = (time: Timestamp | undefined) => time !== undefined && !(Date.parse(time) <= now);
  const { createdAt, startedAt, endedAt } = task;
  if (!isLater(createdAt) && !isLater(startedAt) && !isLater(endedAt)) return task;
  return {
    ...task,
    createdAt: isLater(createdAt) ? at : createdAt,
    ...(isLater(startedAt) && { startedAt: at }),
    ...(isLater(endedAt) && { endedAt: at }),
  };
}

function timestamp(ms: number): Timestamp {
  if (!Number.isFinite(ms)) throw new Bug('the owner has no time');
  return new Date(ms).toISOString() as Timestamp;
}
