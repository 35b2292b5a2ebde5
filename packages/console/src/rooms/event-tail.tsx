import type { WireEvent } from '@signalbox/model';
import { useEffect, useRef } from 'react';
import { Empty } from '../frame/notices.tsx';
import { clockTime, eventLine } from '../story/words.ts';

/** The last events, oldest first. It follows them while its end is in view. */
export function EventTail({ events }: { readonly events: readonly WireEvent[] }) {
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (list.current !== null && isAtEnd.current) list.current.scrollTop = list.current.scrollHeight;
  }, [events]);
  return (
    <section aria-labelledby="events-title" className="panel">
      <h2 id="events-title">Events</h2>
      {events.length === 0 ? (
        <Empty title="None yet" />
      ) : (
        <ol
          ref={list}
          className="events"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
          tabIndex={0}
          aria-labelledby="events-title"
          onScroll={({ currentTarget }) => {
            const { scrollHeight, scrollTop, clientHeight } = currentTarget;
            isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
          }}
        >
          {events.map(event => (
            <li key={event.seq}>
              <span className="text-faint">{event.seq}</span>
              <time dateTime={event.ts} className="text-faint">
                {clockTime(event.ts)}
              </time>
              <span>{event.type}</span>
              <span className="text-muted">{eventLine(event)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
