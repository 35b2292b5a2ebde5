import type { ApprovalId, ArtifactId } from '@signalbox/model';
import type { ArtifactRecord } from '../artifacts/artifact-record.ts';
import type { Decision } from '../decisions/decision.ts';
import type { StoredEvent } from '../events/stored-event.ts';
import type { Maybe } from '../frames/change.ts';
import type { Frame } from '../frames/frame.ts';
import type { TaskId } from '../ids.ts';
import type { LogRecord } from '../log/record.ts';
import type { TransitionPlace, TransitionView } from '../reader.ts';
import type { RunRecord } from '../run/run-record.ts';
import type { StreamChunk } from '../stream/stream-chunk.ts';
import type { Task } from '../tasks/task.ts';
import type { UsageRecord } from '../usage/usage.ts';

/** All data of one run. */
export interface KeptRun {
  record: RunRecord;
  readonly frames: Frame[];
  /** By `valueKey`, oldest first. */
  readonly values: Map<string, { readonly fromFrame: number; readonly value: Maybe }[]>;
  readonly transitions: TransitionView[];
  readonly lastTransitions: Map<string, TransitionView>;
  /** Of the transitions, by `placeOf`. */
  readonly places: Set<string>;
  readonly tasks: Map<TaskId, Task>;
  readonly decisions: Map<ApprovalId, Decision>;
  readonly artifacts: Map<ArtifactId, ArtifactRecord>;
  readonly usage: Map<string, UsageRecord>;
  readonly log: LogRecord[];
  readonly events: StoredEvent[];
  /** By task, then by index. */
  readonly streams: Map<TaskId, Map<number, StreamChunk>>;
}

export function emptyRun(record: RunRecord): KeptRun {
  return {
    record,
    frames: [],
    values: new Map(),
    transitions: [],
    lastTransitions: new Map(),
    places: new Set(),
    tasks: new Map(),
    decisions: new Map(),
    artifacts: new Map(),
    usage: new Map(),
    log: [],
    events: [],
    streams: new Map(),
  };
}

export function valueKey(space: string, key: string): string {
  return JSON.stringify([space, key]);
}

export function placeOf({ frame, index }: TransitionPlace): string {
  return `${frame}.${index}`;
}
