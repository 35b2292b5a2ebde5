import type { ErrorEnvelope, Json, RunId } from '@signalbox/model';
import { useState } from 'react';
import { Empty, ErrorBox } from '../frame/notices.tsx';
import { type KeyDiff, stateDiff } from '../story/state-diff.ts';
import type { State, Volatile } from '../story/use-frame.ts';
import { EditDialog } from './edit-dialog.tsx';
import { togglePin, usePins } from './pins.ts';
import { StateValue } from './state-value.tsx';
import { VolatileTable } from './volatile-table.tsx';

interface StateTabProps {
  readonly state: State | undefined;
  /** What it is compared with; undefined shows it without a comparison. */
  readonly before: State | undefined;
  readonly volatile?: Volatile | undefined;
  readonly volatileBefore?: Volatile | undefined;
  readonly error: ErrorEnvelope | undefined;
  /** Where a person may give keys other values. */
  readonly run?: RunId;
}

const marks: Record<KeyDiff['kind'], string> = { same: '', changed: 'changed', came: 'new', went: 'gone' };

/** Durable state, key by key, what changed first. Values are texts: nothing of them is rendered as anything else. */
export function StateTab({ state, before, volatile = {}, volatileBefore, error, run }: StateTabProps) {
  const pins = usePins();
  const [edited, setEdited] = useState<string>();
  if (error !== undefined) return <ErrorBox error={error} title="The state could not be read" />;
  if (state === undefined) return <Empty title="Reading…" />;
  const keys = stateDiff(before ?? state, state);
  const passing = <VolatileTable volatile={volatile} before={volatileBefore} />;
  if (keys.length === 0 && Object.keys(volatile).length === 0) return <Empty title="No state is kept yet" />;
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
          {keys.map(({ key, ...diff }) => (
            <tr key={key} data-change={diff.kind}>
              <th scope="row">
                {key} {diff.kind !== 'same' && <span className="change-mark">{marks[diff.kind]}</span>}
              </th>
              <td>
                <StateValue diff={diff} textOf={textOf} />
              </td>
              <td>
                <button
                  type="button"
                  className="pin"
                  aria-pressed={pins.includes(key)}
                  aria-label={`Watch ${key}`}
                  onClick={() => togglePin(key)}
                >
                  {pins.includes(key) ? '◆' : '◇'}
                </button>
                {run !== undefined && (
                  <button type="button" className="pin" aria-label={`Edit ${key}`} onClick={() => setEdited(key)}>
                    ✎
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {passing}
      {run !== undefined && edited !== undefined && editedValue !== undefined && (
        <EditDialog run={run} name={edited} value={editedValue} onClose={() => setEdited(undefined)} />
      )}
    </>
  );
}

function textOf(value: Json): string {
  return JSON.stringify(value, null, 1);
}
