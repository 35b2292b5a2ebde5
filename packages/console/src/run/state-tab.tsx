import type { ErrorEnvelope, Json } from '@signalbox/model';
import { Empty, ErrorBox } from '../frame/notices.tsx';
import { type KeyDiff, stateDiff } from '../story/state-diff.ts';
import type { State } from '../story/use-frame.ts';
import { togglePin, usePins } from './pins.ts';

interface StateTabProps {
  readonly state: State | undefined;
  /** What it is compared with; undefined shows it without a comparison. */
  readonly before: State | undefined;
  readonly error: ErrorEnvelope | undefined;
}

const marks: Record<KeyDiff['kind'], string> = { same: '', changed: 'changed', came: 'new', went: 'gone' };

/** Durable state, key by key, what changed first. Values are texts: nothing of them is rendered as anything else. */
export function StateTab({ state, before, error }: StateTabProps) {
  const pins = usePins();
  if (error !== undefined) return <ErrorBox error={error} title="The state could not be read" />;
  if (state === undefined) return <Empty title="Reading…" />;
  const keys = stateDiff(before ?? state, state);
  if (keys.length === 0) return <Empty title="No state is kept yet" />;
  return (
    <table className="state">
      <thead className="sr-only">
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Value</th>
          <th scope="col">Watch</th>
        </tr>
      </thead>
      <tbody>
        {keys.map(({ key, kind, before: old, after }) => (
          <tr key={key} data-change={kind}>
            <th scope="row">
              {key} {kind !== 'same' && <span className="change-mark">{marks[kind]}</span>}
            </th>
            <td>
              {kind !== 'same' && old !== undefined && (
                <pre className="value-old">
                  <del>{textOf(old)}</del>
                </pre>
              )}
              {after !== undefined && (
                <pre className={kind === 'same' ? '' : 'value-new'}>
                  {kind === 'same' ? textOf(after) : <ins>{textOf(after)}</ins>}
                </pre>
              )}
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
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function textOf(value: Json): string {
  return JSON.stringify(value, null, 1);
}
