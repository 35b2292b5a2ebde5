import type { ErrorEnvelope, RunId } from '@signalbox/model';
import { useState } from 'react';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { stateDiff } from '../story/state-diff.ts';
import type { State, Volatile } from '../story/use-frame.ts';
import { EditDialog } from './edit-dialog.tsx';
import { togglePin, usePins } from './pins.ts';
import { StateRow } from './state-row.tsx';
import { valueText } from './value-diff.tsx';
import { VolatileTable } from './volatile-table.tsx';

interface StateTabProps {
  readonly state: State | undefined;
  /** The state to compare with; undefined shows no comparison. */
  readonly before: State | undefined;
  readonly volatile?: Volatile | undefined;
  readonly volatileBefore?: Volatile | undefined;
  readonly error: ErrorEnvelope | undefined;
  /** The run, if its state can be edited. */
  readonly run?: RunId;
}

const marks = { changed: 'changed', came: 'new', went: 'gone' } as const;

/** Durable state, key by key, changed keys first. Values are plain text. */
export function StateTab({ state, before, volatile = {}, volatileBefore, error, run }: StateTabProps) {
  const pins = usePins();
  const [edited, setEdited] = useState<string>();
  if (error !== undefined) return <ErrorBox error={error} title="Could not load state" />;
  if (state === undefined) return <Empty title="Loading…" />;
  const keys = stateDiff(before ?? state, state);
  const passing = <VolatileTable volatile={volatile} before={volatileBefore} />;
  if (keys.length === 0 && Object.keys(volatile).length === 0) return <Empty title="No state yet" />;
  if (keys.length === 0) return passing;
  const editedValue = edited === undefined ? undefined : state[edited];
  return (
    <>
      <table className="state">
        <thead className="sr-only">
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Value</th>
            <th scope="col">Watch{run !== undefined && ', edit'}</th>
          </tr>
        </thead>
        <tbody>
          {keys.map(diff => {
            const { key } = diff;
            const isWatched = pins.includes(key);
            return (
              <StateRow key={key} diff={diff} marks={marks} textOf={valueText}>
                <button
                  type="button"
                  className="pin"
                  aria-pressed={isWatched}
                  aria-label={`Watch ${key}`}
                  title={isWatched ? 'Watched under Now: stop watching' : 'Watch its changes under Now'}
                  onClick={() => togglePin(key)}
                >
                  {isWatched ? '◆' : '◇'}
                </button>
                {run !== undefined && (
                  <button
                    type="button"
                    className="pin"
                    aria-label={`Edit ${key}`}
                    title="Edit value…"
                    onClick={() => setEdited(key)}
                  >
                    ✎
                  </button>
                )}
              </StateRow>
            );
          })}
        </tbody>
      </table>
      {passing}
      {run !== undefined && edited !== undefined && editedValue !== undefined && (
        <EditDialog run={run} name={edited} value={editedValue} onClose={() => setEdited(undefined)} />
      )}
    </>
  );
}
