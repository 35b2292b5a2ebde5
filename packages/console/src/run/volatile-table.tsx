import type { Json } from '@signalbox/model';
import { stateDiff } from '../story/state-diff.ts';
import type { State, Volatile } from '../story/use-frame.ts';
import { StateRow } from './state-row.tsx';

interface VolatileTableProps {
  readonly volatile: Volatile;
  /** What it is compared with; undefined shows it without a comparison. */
  readonly before: Volatile | undefined;
}

/** What a render read of state that is not kept when the run ends: it can be looked at, and nothing else. */
export function VolatileTable({ volatile, before }: VolatileTableProps) {
  const keys = stateDiff(valuesOf(before ?? volatile), valuesOf(volatile));
  if (keys.length === 0) return null;
  return (
    <table className="state">
      <caption className="eyebrow">Volatile, as far as the render read it</caption>
      <tbody>
        {keys.map(diff => (
          <StateRow key={diff.key} diff={diff} marks={marks} textOf={wordsOf} />
        ))}
      </tbody>
    </table>
  );
}

const marks = { changed: 'changed', came: 'read now', went: 'not read any more' } as const;

/** Each as a list: of the value, or of nothing where it was not kept. */
function valuesOf(volatile: Volatile): State {
  return Object.fromEntries(
    Object.entries(volatile).map(([key, { value }]): [string, Json] => [key, value === undefined ? [] : [value]]),
  );
}

function wordsOf(kept: Json): string {
  const [value] = Array.isArray(kept) ? kept : [];
  return value === undefined ? 'it was not set, or not kept' : JSON.stringify(value, null, 1);
}
