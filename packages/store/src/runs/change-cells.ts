import type { Json } from '@signalbox/model';
import {
  areKnownSteps,
  type Change,
  type HeldValue,
  type Maybe,
  type PatchStep,
  patchStep,
  replayPatches,
} from '@signalbox/runs';
import * as z from 'zod';
import { cellOfBlob, type JsonCell, type JsonColumns, StoreDamage } from '../sqlite/json-column.ts';
import type { Cell, Row } from '../sqlite/row-codec.ts';

/**
 * How rows store changes, and how a value is assembled from rows.
 *
 * V1  A row is a whole value, a patch of the row before it, or the end of the value.
 * V2  A key's rows since its last whole value take at most eight times the size of the value, so the cost of reading a value is
 *     proportional to its size, whatever its history.
 * V3  A value that only grows is never rewritten whole, so N steps of equal size take O(N) bytes (T4).
 */
export interface ChangeCells {
  readonly kind: number;
  readonly value: Cell;
  readonly baseBytes: number | null;
  readonly chainBytes: number | null;
}

export const SET = 0;
export const PATCH = 1;
const GONE = 2;

/** The row that a new one follows, or that it replaces. */
export interface RowBefore {
  readonly baseBytes: number;
  readonly chainBytes: number;
  readonly replaced?: Row | undefined;
}

/** The cells of a change that results in `value`. */
export function cellsOf(json: JsonColumns, change: Change, value: Maybe, before: RowBefore | undefined): ChangeCells {
  switch (change.kind) {
    case 'gone':
      return { kind: GONE, value: null, baseBytes: null, chainBytes: null };
    case 'set':
      return wholeCells(json, JSON.stringify(change.value));
    case 'patch':
      return patchCells(json, change.steps, value, before);
  }
}

/** The cell of a whole value, and its text length. */
export function heldCell(json: JsonColumns, value: HeldValue): readonly [cell: JsonCell, length: number] {
  if ('blob' in value) return [cellOfBlob(value.blob), value.length];
  const text = JSON.stringify(value.json);
  return [json.cellOf(text), text.length];
}

/** What a change to `value` follows, read from its row. */
export function rowBefore(row: Row | undefined, isReplaced: boolean): RowBefore | undefined {
  if (row === undefined) return undefined;
  const bytes = { baseBytes: Number(row.base_bytes), chainBytes: Number(row.chain_bytes) };
  return { ...bytes, replaced: isReplaced ? row : undefined };
}

/** Assembles a value from its rows, newest first, back to its last whole value. Undefined if there is none. */
export function valueOfRows(
  json: JsonColumns,
  rows: Iterable<{ readonly kind?: unknown; readonly value?: unknown }>,
  what: string,
): Maybe {
  const patches: (readonly PatchStep[])[] = [];
  for (const row of rows) {
    if (row.kind === PATCH) {
      patches.push(stepsOf(json, row.value, what));
      continue;
    }
    const whole: Maybe = row.kind === GONE ? undefined : json.readPlain(row.value, what);
    const value = replayPatches(whole, patches.reverse());
    if (!value.ok) throw new StoreDamage(`${what} is damaged: ${value.error}`);
    return value.value;
  }
  if (patches.length > 0) throw new StoreDamage(`${what} is damaged: its first value is missing`);
  return undefined;
}

/** The change that one row holds. */
export function changeOfRow(json: JsonColumns, row: Row, what: string): Change {
  if (row.kind === GONE) return { kind: 'gone' };
  if (row.kind === SET) return { kind: 'set', value: json.readPlain(row.value, what) };
  return { kind: 'patch', steps: stepsOf(json, row.value, what) };
}

function stepsOf(json: JsonColumns, cell: unknown, what: string): readonly PatchStep[] {
  const found = json.readPlain(cell, what);
  return areKnownSteps(found) ? found : json.read(steps, cell, what);
}

const steps = z.array(patchStep);

function wholeCells(json: JsonColumns, text: string): ChangeCells {
  return { kind: SET, value: json.cellOf(text), baseBytes: text.length, chainBytes: 0 };
}

function patchCells(
  json: JsonColumns,
  patch: readonly PatchStep[],
  value: Maybe,
  before: RowBefore | undefined,
): ChangeCells {
  if (before === undefined) throw new StoreDamage('a patch has no row before it');
  const { baseBytes, chainBytes: chainBefore, replaced } = before;
  if (replaced !== undefined && replaced.kind !== PATCH) return wholeCells(json, JSON.stringify(value));
  const merged = replaced === undefined ? patch : [...stepsOf(json, replaced.value, 'a patch'), ...patch];
  const text = JSON.stringify(merged);
  const added = replaced === undefined ? text.length : JSON.stringify(patch).length;
  const chainBytes = chainBefore + added;
  // Checked only when the chain doubles: measuring a value takes as long as writing it.
  if (Math.clz32(chainBytes) !== Math.clz32(chainBefore)) {
    const whole = JSON.stringify(value as Json);
    if (baseBytes + chainBytes > 4 * whole.length) return wholeCells(json, whole);
  }
  return { kind: PATCH, value: json.cellOf(text), baseBytes, chainBytes };
}
