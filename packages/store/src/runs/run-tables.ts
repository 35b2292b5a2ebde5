import type { DatabaseSync } from 'node:sqlite';
import type { Hasher } from '@signalbox/model';
import type { JsonColumns } from '../sqlite/json-column.ts';
import { type CollapseRows, collapseRows } from './collapse-rows.ts';
import { type FrameRows, frameRows } from './frame-rows.ts';
import { type IntervalRows, intervalRows } from './interval-rows.ts';
import { type KeyRows, keyRows } from './key-rows.ts';
import { type LogRows, logRows } from './log-rows.ts';
import { type RecentRuns, recentRuns } from './recent-runs.ts';
import { type RecordRows, recordRows } from './record-rows.ts';
import { type RunRows, runRows } from './run-rows.ts';
import { type StreamRows, streamRows } from './stream-rows.ts';
import { type TransitionRows, transitionRows } from './transition-rows.ts';
import type { ValueCache } from './value-cache.ts';

/** Every statement on the tables of runs, prepared once. */
export interface RunTables {
  readonly log: LogRows;
  readonly runs: RunRows;
  readonly frames: FrameRows;
  readonly keys: KeyRows;
  readonly intervals: IntervalRows;
  readonly transitions: TransitionRows;
  readonly records: RecordRows;
  readonly streams: StreamRows;
  readonly collapse: CollapseRows;
  /** Recently written runs, so that the next commit need not read them. */
  readonly known: RecentRuns;
}

export function runTables(database: DatabaseSync, json: JsonColumns, cache: ValueCache, hasher: Hasher): RunTables {
  const keys = keyRows(database);
  const intervals = intervalRows(database, keys, json, cache);
  return {
    log: logRows(database, json, hasher),
    runs: runRows(database, json),
    frames: frameRows(database, json),
    keys,
    intervals,
    transitions: transitionRows(database, json, cache),
    records: recordRows(database, json, cache),
    streams: streamRows(database, json),
    collapse: collapseRows(database, intervals, json),
    known: recentRuns(),
  };
}
