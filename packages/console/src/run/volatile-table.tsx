import type { Json } from '@signalbox/model';
import { stateDiff } from '../story/state-diff.ts';
import type { State, Volatile } from '../story/use-frame.ts';
import { StateRow } from './state-row.tsx';

interface VolatileTableProps {
  readonly volatile: Volatile;
  /** The values to compare with; undefined shows no comparison. */
  readonly before: Volatile | undefined;
}

/** Volatile state that a render read. Read-only. */
export function VolatileTable({ volatile, before }: VolatileTableProps) {
  const keys = stateDiff(valuesOf(before ?? volatile), valuesOf(volatile));
  if (keys.length === 0) return null;
  return (
    <table className="state">
      <caption className="eyebrow">Volatile state read by the render</caption>
      <tbody>
        {keys.map(diff => (
          <StateRow key={diff.key} diff={diff} marks={marks} textOf={wordsOf} />
        ))}
      </tbody>
    </table>
  );
}

const marks = { changed: 'changed', came: 'newly read', went: 'no longer read' } as const;

/** Each value as a list; empty if it was not recorded. */
function valuesOf(volatile: Volatile): State {
  return Object.fromEntries(
    Object.entries(volatile).map(([key, { value }]): [string, Json] => [key, value === undefined ? [] : [value]]),
  );
}

function wordsOf(kept: Json): string {
  const [value] = Array.isArray(kept) ? kept : [];
  return value === undefined ? 'not set, or not recorded' : JSON.stringify(value, null, 1);
}
