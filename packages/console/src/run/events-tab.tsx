import type { ErrorEnvelope, RunId, WireEvent } from '@signalbox/model';
import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useSettings } from '../settings/settings.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { clockTime, doerOf, eventLine } from '../story/words.ts';
import { eventsOfFrame } from './frame-events.ts';

interface EventsTabProps {
  readonly run: RunId;
  readonly events: readonly WireEvent[];
  /** Why the last of them could not be read. */
  readonly fault: ErrorEnvelope | undefined;
  /** How many there are. */
  readonly total: number;
  /** The frame that is looked back at. */
  readonly frame: number | undefined;
}

const LINE_HEIGHT = 20;
const PAGE = 1000;

/** Events, oldest first: the last ones as they come, or those that led to the frame that is looked at. */
export function EventsTab({ run, events, fault, total, frame }: EventsTabProps) {
  const client = useClient();
  const [query, setQuery] = useState('');
  const [isByPeople, setIsByPeople] = useState(false);
  const [error, setError] = useState<ErrorEnvelope>();
  const [older, setOlder] = useState<readonly WireEvent[]>([]);
  const ofFrame = useQuery<readonly WireEvent[], ErrorEnvelope>({
    queryKey: ['frame-events', run, frame],
    queryFn: () => eventsOfFrame(client, run, frame ?? 0, total),
    enabled: frame !== undefined,
  });
  const all = useMemo(() => {
    const first = events[0]?.seq ?? 0;
    return [...older.filter(({ seq }) => seq < first), ...events];
  }, [older, events]);
  const given = frame === undefined ? all : ofFrame.data;
  const shown = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return given?.filter(event => {
      const doer = doerOf(event);
      if (isByPeople && doer === undefined) return false;
      const text = `${event.type} ${doer ?? ''} ${eventLine(event)}`.toLowerCase();
      return words.every(word => text.includes(word));
    });
  }, [given, query, isByPeople]);
  const failed = error ?? ofFrame.error ?? fault;
  const first = all[0]?.seq ?? 0;
  const readOlder = async () => {
    const from = Math.max(0, first - PAGE);
    const read = await client.events(run, { from, limit: first - from });
    setError(read.ok ? undefined : read.error);
    if (read.ok) setOlder(before => [...read.value.events.map(({ event }) => event), ...before]);
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="tools-line">
        <input
          type="search"
          className="field"
          aria-label="Search in events"
          placeholder="a type, a node, a key…"
          value={query}
          onChange={event => setQuery(event.target.value)}
        />
        {frame === undefined && first > 0 && (
          <button type="button" className="button button-small" onClick={readOlder}>
            {first} older
          </button>
        )}
        <label className="check">
          <input type="checkbox" checked={isByPeople} onChange={event => setIsByPeople(event.target.checked)} />
          only what people did
        </label>
        <span className="text-faint">
          {frame === undefined ? `${total} in all` : `those that led to frame ${frame}`}
        </span>
      </div>
      {failed !== undefined && <ErrorBox error={failed} title="The events could not be read" />}
      {shown === undefined ? (
        failed === undefined && <Empty title="Reading…" />
      ) : shown.length === 0 ? (
        failed === undefined && <Empty title={emptyWords(query, isByPeople, total)} />
      ) : (
        <EventList events={shown} />
      )}
    </div>
  );
}

function emptyWords(query: string, isByPeople: boolean, total: number): string {
  if (query !== '') return 'No event holds these words';
  if (isByPeople) return 'Nobody did anything to this run, in the events that are shown';
  return total === 0 ? 'None yet' : 'Reading…';
}

/** Follows its end while that is in view. */
function EventList({ events }: { readonly events: readonly WireEvent[] }) {
  const { time } = useSettings();
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const lines = useVirtualizer({
    count: events.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  const count = events.length;
  useEffect(() => {
    if (isAtEnd.current && count > 0) lines.scrollToIndex(count - 1, { align: 'end' });
  }, [count, lines]);
  return (
    <section
      ref={box}
      className="events-box"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label="Events"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
      }}
    >
      <ol className="events" style={{ height: lines.getTotalSize() }}>
        {lines.getVirtualItems().map(({ index, start }) => {
          const event = events[index];
          return event === undefined ? null : (
            <li key={event.seq} style={{ transform: `translateY(${start}px)` }}>
              <span className="text-faint">{event.seq}</span>
              <time dateTime={event.ts} className="text-faint">
                {clockTime(event.ts, time)}
              </time>
              <span className={`event-${event.type.split('.')[0]}`}>{event.type}</span>
              <span className="text-muted" title={eventLine(event)}>
                {doerOf(event) !== undefined && <strong className="who">by {doerOf(event)}</strong>}
                {eventLine(event)}
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
