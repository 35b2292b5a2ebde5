import type { Json, JsonObject } from '@signalbox/model';
import { useState } from 'react';

interface ArtifactTableProps {
  readonly columns: readonly string[];
  readonly rows: readonly JsonObject[];
}

const SHOWN = 500;

/** A table that sorts by click and filters by typing. */
export function ArtifactTable({ columns, rows }: ArtifactTableProps) {
  const [query, setQuery] = useState('');
  const [order, setOrder] = useState<{ readonly column: string; readonly isDown: boolean }>();
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter(row => {
    const text = columns
      .map(column => textOf(row[column]))
      .join('\n')
      .toLowerCase();
    return words.every(word => text.includes(word));
  });
  const sorted =
    order === undefined
      ? found
      : found.toSorted((a, b) => compare(a[order.column], b[order.column]) * (order.isDown ? -1 : 1));
  return (
    <div className="artifact-table">
      <div className="tools-line">
        <input
          type="search"
          className="field"
          aria-label="Search the table"
          placeholder="Search rows…"
          value={query}
          onChange={event => setQuery(event.target.value)}
        />
        <span className="text-faint">
          {found.length} of {rows.length}
        </span>
      </div>
      <table>
        <thead>
          <tr>
            {columns.map(column => {
              const isBy = order?.column === column;
              return (
                <th
                  key={column}
                  data-number={rows.every(row => typeof row[column] === 'number') || undefined}
                  aria-sort={isBy ? (order.isDown ? 'descending' : 'ascending') : 'none'}
                >
                  <button
                    type="button"
                    title={`Sort by ${column}`}
                    onClick={() => setOrder({ column, isDown: isBy && !order.isDown })}
                  >
                    {column}{' '}
                    <span className="text-faint" aria-hidden="true">
                      {isBy ? (order.isDown ? '↓' : '↑') : '↕'}
                    </span>
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, SHOWN).map((row, index) => (
            <tr key={`${index} ${textOf(row[columns[0] ?? ''])}`}>
              {columns.map(column => (
                <td key={column} data-number={typeof row[column] === 'number' || undefined}>
                  {textOf(row[column])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length > SHOWN && <p className="px-3 py-2 text-faint">The first {SHOWN} are shown.</p>}
    </div>
  );
}

function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function compare(a: Json | undefined, b: Json | undefined): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : textOf(a).localeCompare(textOf(b));
}
