import type { RunId, WireEvent } from '@signalbox/model';
import { useMemo } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import { Moment } from '../shell/moment.tsx';
import { Panel } from '../shell/panel.tsx';
import { togglePin, usePins } from './pins.ts';

/** The keys that are watched, and how they changed. */
export function Watched({ run, events }: { readonly run: RunId; readonly events: readonly WireEvent[] }) {
  const pins = usePins();
  if (pins.length === 0) return null;
  return (
    <Panel title="Watched">
      {pins.map(pin => (
        <WatchedKey key={pin} run={run} name={pin} events={events} />
      ))}
    </Panel>
  );
}

const SHOWN = 6;

interface WatchedKeyProps {
  readonly run: RunId;
  readonly name: string;
  readonly events: readonly WireEvent[];
}

function WatchedKey({ run, name, events }: WatchedKeyProps) {
  const client = useClient();
  const moved = useMemo(
    () => events.findLast(({ type, key }) => type === 'state.changed' && key === name)?.seq ?? -1,
    [events, name],
  );
  const { data } = useRead(
    ['transitions', run, name, moved],
    () => client.transitions(run, { key: name, limit: 1000 }),
    { keeps: true },
  );
  const changes = data?.transitions ?? [];
  return (
    <section className="watched" aria-label={`Watched: ${name}`}>
      <h3 className="mono">
        {name}
        <button
          type="button"
          className="pin"
          aria-pressed="true"
          aria-label={`Watch ${name}`}
          onClick={() => togglePin(name)}
        >
          ◆
        </button>
      </h3>
      {changes.length === 0 ? (
        <p className="text-faint">not in this run yet</p>
      ) : (
        <ol>
          {changes.slice(-SHOWN).map(({ frame, index, new: value, trigger, at }) => (
            <li key={`${frame}.${index}`}>
              <span className="mono text-faint">{frame}</span>
              <code className="truncate">{value === undefined ? 'gone' : JSON.stringify(value)}</code>
              <span className="text-muted">{trigger}</span>
              <Moment at={at} className="text-faint" />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
