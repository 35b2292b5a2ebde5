import type { DatabaseSync } from 'node:sqlite';
import { type IntervalSpace, intervalSpace, isInRanges, type Maybe, type RunRecord } from '@signalbox/runs';
import type { JsonColumns } from '../sqlite/json-column.ts';
import { cellsOf } from './change-cells.ts';
import type { IntervalRows } from './interval-rows.ts';
import { firstPlaceOf } from './places.ts';

/**
 * Collapses runs to their significant frames.
 *
 * 1. A row stays if a kept frame shows it; the state after the last frame stays too, so a run can be resumed.
 * 2. A kept frame shows what it showed before, byte for byte.
 * 3. Events, transitions, tasks, decisions, artifacts and transcripts stay. Message parts are deleted.
 * 4. The deleted rows follow from the collected frames and the existing rows, so a replay of the log gives the same rows.
 */
export interface CollapseRows {
  /** The size of the rows that collecting these frames removes. */
  weigh(n: number, run: RunRecord): number;
  /** Removes rows that only collected frames of the run show. */
  apply(n: number, run: RunRecord): void;
}

interface CollapsePlan {
  readonly bytes: number;
  readonly gone: readonly GoneRows[];
  /** Patches whose preceding rows are removed: they become whole values. */
  readonly whole: readonly WholeValue[];
}

/** Rows of one key, from one frame to another. */
interface GoneRows {
  readonly space: number;
  readonly key: number;
  readonly from: number;
  readonly to: number;
}

interface WholeValue {
  readonly space: number;
  readonly key: number;
  readonly fromFrame: number;
  readonly value: Maybe;
}

interface Row {
  readonly space: number;
  readonly key: number;
  readonly fromFrame: number;
  readonly kind: number;
  readonly bytes: number;
}

const PATCH = 1;

export function collapseRows(database: DatabaseSync, intervals: IntervalRows, json: JsonColumns): CollapseRows {
  const rows = database.prepare(`
    select space, key, from_frame, kind, coalesce(length(value), 0) as bytes from intervals where run = ?
    order by space, key, from_frame`);
  const frameBytes = database.prepare(
    'select coalesce(sum(length(frame)), 0) as bytes from frames where place between ? and ?',
  );
  const streamBytes = database.prepare(
    `select coalesce(sum(length(payload)), 0) as bytes from stream where run = ? and kind in ('token', 'thinking')`,
  );
  const dropFrames = database.prepare('delete from frames where place between ? and ?');
  const dropRows = database.prepare(
    'delete from intervals where run = ? and space = ? and key = ? and from_frame between ? and ?',
  );
  const dropStream = database.prepare(`delete from stream where run = ? and kind in ('token', 'thinking')`);
  const putWhole = database.prepare(`
    update intervals set kind = ?, value = ?, base_bytes = ?, chain_bytes = ?
    where run = ? and space = ? and key = ? and from_frame = ?`);

  function plan(n: number, { frames, collected = [] }: RunRecord): CollapsePlan {
    const shown = Array.from({ length: frames + 1 }, (_, frame) => frame).filter(
      frame => frame === frames || !isInRanges(collected, frame),
    );
    const gone: GoneRows[] = [];
    const whole: WholeValue[] = [];
    let bytes = Number(streamBytes.get(n)?.bytes);
    for (const { from, to } of collected) {
      bytes += Number(frameBytes.get(firstPlaceOf(n) + from, firstPlaceOf(n) + to)?.bytes);
    }
    for (const group of groupsOf(rows.iterate(n))) {
      const stays = group.map(({ fromFrame }, at) => isShown(shown, fromFrame, group[at + 1]?.fromFrame ?? Infinity));
      let isBroken = false;
      for (const [at, row] of group.entries()) {
        const { space, key, fromFrame, kind } = row;
        if (kind !== PATCH) isBroken = false;
        if (!stays[at]) {
          isBroken = true;
          bytes += row.bytes;
          const last = gone.at(-1);
          if (at > 0 && !stays[at - 1] && last !== undefined) gone[gone.length - 1] = { ...last, to: fromFrame };
          else gone.push({ space, key, from: fromFrame, to: fromFrame });
        } else if (kind === PATCH && isBroken) {
          whole.push({ space, key, fromFrame, value: intervals.valueIn(n, spaceOf(space), key, fromFrame) });
          isBroken = false;
        }
      }
    }
    return { bytes, gone, whole };
  }

  return {
    weigh: (n, run) => plan(n, run).bytes,
    apply(n, run) {
      const { gone, whole } = plan(n, run);
      for (const { from, to } of run.collected ?? []) dropFrames.run(firstPlaceOf(n) + from, firstPlaceOf(n) + to);
      for (const { space, key, from, to } of gone) dropRows.run(n, space, key, from, to);
      for (const { space, key, fromFrame, value } of whole) {
        if (value === undefined) continue;
        const cells = cellsOf(json, { kind: 'set', value }, value, undefined);
        putWhole.run(cells.kind, cells.value, cells.baseBytes, cells.chainBytes, n, space, key, fromFrame);
      }
      dropStream.run(n);
    },
  };
}

/** Whether one of the frames shows a value that holds from one frame until another. */
function isShown(shown: readonly number[], from: number, until: number): boolean {
  let [low, high] = [0, shown.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shown[middle] as number) < from) low = middle + 1;
    else high = middle;
  }
  return low < shown.length && (shown[low] as number) < until;
}

function* groupsOf(rows: Iterable<Record<string, unknown>>): Generator<readonly Row[]> {
  let group: Row[] = [];
  for (const { space, key, from_frame, kind, bytes } of rows) {
    const row: Row = {
      space: Number(space),
      key: Number(key),
      fromFrame: Number(from_frame),
      kind: Number(kind),
      bytes: Number(bytes),
    };
    const [first] = group;
    if (first !== undefined && (first.space !== row.space || first.key !== row.key)) {
      yield group;
      group = [];
    }
    group.push(row);
  }
  if (group.length > 0) yield group;
}

function spaceOf(number: number): IntervalSpace {
  return intervalSpace.options[number] as IntervalSpace;
}
