import { err, isJsonObject, type Json, ok, type Result } from '@signalbox/model';
import type { StateEdit } from '../frames/command.ts';

/** The trigger of the transition of an outside edit. */
export const editTrigger = ({ op }: Pick<StateEdit, 'op'>): string => `operator.${op ?? 'edit'}`;

export const editTriggers: readonly string[] = [
  editTrigger({}),
  ...(['increment', 'append', 'merge'] as const).map(op => editTrigger({ op })),
];

/**
 * The result of an edit on the current value, or why it cannot be applied. An absent key counts as zero, an empty list, or an object
 * without fields. `append` adds one item of any kind; `merge` is shallow, and null is an ordinary value.
 */
export function editedValue(
  old: Json | undefined,
  { key, op, value }: Pick<StateEdit, 'key' | 'op' | 'value'>,
): Result<Json | undefined, string> {
  switch (op) {
    case undefined:
      return ok(value);
    case 'increment': {
      const before = old === undefined ? 0 : old;
      if (typeof value !== 'number') return err(`'${key}' can only be incremented by a number`);
      if (typeof before !== 'number') return err(`'${key}' cannot be incremented: ${kindOf(before)} is there`);
      const sum = before + value;
      return Number.isFinite(sum) ? ok(sum) : err(`'${key}' cannot be incremented: the sum is too large`);
    }
    case 'append': {
      const before = old === undefined ? [] : old;
      if (value === undefined) return err(`nothing was given to append to '${key}'`);
      return Array.isArray(before)
        ? ok([...before, value])
        : err(`nothing can be appended to '${key}': ${kindOf(before)} is there`);
    }
    case 'merge': {
      const before = old === undefined ? {} : old;
      if (!isJsonObject(value)) return err(`only an object can be merged into '${key}'`);
      return isJsonObject(before)
        ? ok({ ...before, ...value })
        : err(`nothing can be merged into '${key}': ${kindOf(before)} is there`);
    }
  }
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
