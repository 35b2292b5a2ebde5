import type { RunId, TreeNode, WireEvent, WireTask } from '@signalbox/model';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { readPages } from '../server/read-pages.ts';
import { useRead } from '../server/use-read.ts';
import { Empty, ErrorBox } from '../shell/notices.tsx';
import { useNow } from '../shell/use-now.ts';
import { lasted } from '../story/words.ts';
import { type Gap, type Lane, runTimes, type Span, type SpanKind } from './run-spans.ts';
import { moved, ticksOf, WHOLE, type Window, zoomed } from './time-axis.ts';
import { gapWords, laneWords, spanWords, timeWords as words } from './time-words.ts';

interface RunTimeProps {
  readonly run: RunId;
  readonly nodes: readonly TreeNode[];
  readonly tasks: readonly WireTask[] | undefined;
  readonly events: readonly WireEvent[];
  readonly record: {
    readonly createdAt: string;
    readonly startedAt?: string | undefined;
    readonly endedAt?: string | undefined;
  };
  readonly current: string | undefined;
  /** The time of the frame that is shown. */
  readonly frameAt: string | undefined;
  onCurrent(node: string): void;
}

const LANE_HEIGHT = 26;
const TICKS = 6;
/** A mark at the very end would have no room for its words. */
const LAST_TICK = 0.95;
const STEP = 0.25;
const legend: readonly SpanKind[] = ['done', 'work', 'failed', 'queued', 'retry', 'person'];

/** Where the time of a run went: a lane for each node that worked, waited or asked. */
export function RunTime({ run, nodes, tasks, events, record, current, frameAt, onCurrent }: RunTimeProps) {
  const client = useClient();
  const asked = events.findLast(({ type }) => type.startsWith('decision.'))?.seq ?? 0;
  const { data: decisions, error } = useRead(
    ['decisions of', run, asked],
    () => readPages(page => client.decisions({ run, status: 'all', limit: 200, ...page })),
    { keeps: true },
  );
  const isOver = record.endedAt !== undefined;
  const now = useNow(!isOver);
  const end = record.endedAt === undefined ? now : Date.parse(record.endedAt);
  const times = useMemo(
    () =>
      tasks === undefined || decisions === undefined
        ? undefined
        : runTimes({
            nodes,
            tasks,
            decisions: decisions.flatMap(({ approvals }) => approvals),
            events,
            begun: Date.parse(record.startedAt ?? record.createdAt),
            end,
          }),
    [nodes, tasks, decisions, events, record, end],
  );
  const [part, setPart] = useState<Window>(WHOLE);
  const box = useRef<HTMLDivElement>(null);
  const lanes = useVirtualizer({
    count: times?.lanes.length ?? 0,
    getScrollElement: () => box.current,
    estimateSize: () => LANE_HEIGHT,
    overscan: 10,
  });
  useWheelZoom(box, setPart);
  if (error !== null) return <ErrorBox error={error} title={words.failed} />;
  if (times === undefined) return <Empty title={words.loading} />;
  if (times.lanes.length === 0) return <Empty title={words.empty} />;
  const total = times.to - times.from;
  const placeOf = (at: number): number => ((at - times.from) / total - part.from) / (part.to - part.from);
  const press = (event: KeyboardEvent) => {
    const moves: Readonly<Record<string, Window>> = {
      '+': zoomed(part, 0.5),
      '=': zoomed(part, 0.5),
      '-': zoomed(part, 2),
      0: WHOLE,
      ArrowLeft: moved(part, -STEP),
      ArrowRight: moved(part, STEP),
    };
    const to = moves[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    setPart(to);
  };
  return (
    <section aria-label={words.name} className="timeline" onKeyDown={press}>
      <div className="timeline-head">
        <ul className="timeline-legend" aria-label={words.legend}>
          {legend.map(kind => (
            <li key={kind}>
              <i className={`bar bar-${kind}`} aria-hidden="true" /> {spanWords[kind]}
            </li>
          ))}
          {[...new Set(times.gaps.map(({ kind }) => kind))].map(kind => (
            <li key={kind}>
              <i className={`bar gap-${kind}`} aria-hidden="true" /> {gapWords[kind]}
            </li>
          ))}
        </ul>
        <span className="timeline-zoom" title={words.keys}>
          <button type="button" className="step" aria-label={words.zoomOut} onClick={() => setPart(zoomed(part, 2))}>
            −
          </button>
          <button type="button" className="step" aria-label={words.zoomIn} onClick={() => setPart(zoomed(part, 0.5))}>
            +
          </button>
          <button
            type="button"
            className="button button-small"
            disabled={part.from === 0 && part.to === 1}
            onClick={() => setPart(WHOLE)}
          >
            {words.whole}
          </button>
        </span>
      </div>
      <div className="timeline-axis" aria-hidden="true">
        {ticksOf(total, part, TICKS)
          .filter(({ at }) => at < LAST_TICK)
          .map(({ at, words: text }) => (
            <span key={text} style={{ left: `${at * 100}%` }}>
              {text}
            </span>
          ))}
      </div>
      <div ref={box} className="timeline-lanes">
        <ul style={{ height: lanes.getTotalSize() }}>
          {lanes.getVirtualItems().map(({ index, start }) => {
            const lane = times.lanes[index];
            return lane === undefined ? null : (
              <LaneLine
                key={lane.node}
                lane={lane}
                gaps={times.gaps}
                start={start}
                isCurrent={lane.node === current}
                placeOf={placeOf}
                mark={frameAt === undefined ? undefined : placeOf(Date.parse(frameAt))}
                onCurrent={onCurrent}
              />
            );
          })}
        </ul>
      </div>
    </section>
  );
}

interface LaneLineProps {
  readonly lane: Lane;
  readonly gaps: readonly Gap[];
  readonly start: number;
  readonly isCurrent: boolean;
  readonly mark: number | undefined;
  placeOf(at: number): number;
  onCurrent(node: string): void;
}

function LaneLine({ lane, gaps, start, isCurrent, mark, placeOf, onCurrent }: LaneLineProps) {
  const shown = (from: number, to: number): CSSProperties | undefined => {
    const [left, right] = [placeOf(from), placeOf(to)];
    if (right < 0 || left > 1) return undefined;
    const begin = Math.max(0, left);
    return { left: `${begin * 100}%`, width: `${(Math.min(1, right) - begin) * 100}%` };
  };
  return (
    <li style={{ transform: `translateY(${start}px)` }}>
      <button type="button" className="lane" aria-pressed={isCurrent} onClick={() => onCurrent(lane.node)}>
        <span className="lane-label" aria-hidden="true">
          {lane.label}
        </span>
        <span className="sr-only">{laneWords(lane)}</span>
        <span className="lane-time mono" aria-hidden="true">
          {lane.ms > 0 ? lasted(lane.ms) : ''}
        </span>
        <span className="lane-track">
          {gaps.map(({ kind, from, to }) => {
            const style = shown(from, to);
            return (
              style && (
                <i key={from} className={`gap gap-${kind}`} style={style} title={titleOf(gapWords[kind], from, to)} />
              )
            );
          })}
          {lane.spans.map(({ kind, from, to }, place) => {
            const style = shown(from, to);
            return (
              style && (
                <i
                  key={`${kind} ${from} ${String(place)}`}
                  className={`bar bar-${kind}`}
                  style={style}
                  title={titleOf(spanWords[kind], from, to)}
                />
              )
            );
          })}
          {mark !== undefined && mark >= 0 && mark <= 1 && (
            <i className="lane-mark" style={{ left: `${mark * 100}%` }} />
          )}
        </span>
      </button>
    </li>
  );
}

function titleOf(what: string, from: Span['from'], to: Span['to']): string {
  return to === from ? what : `${what}, ${lasted(to - from)}`;
}

/** Ctrl and the wheel zoom at the pointer, Shift and the wheel move. React's own listener cannot keep the page from zooming. */
function useWheelZoom(
  box: React.RefObject<HTMLElement | null>,
  setPart: (change: (before: Window) => Window) => void,
): void {
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const turn = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
      event.preventDefault();
      const track = element.querySelector('.lane-track')?.getBoundingClientRect();
      const at = track === undefined ? 0.5 : Math.min(1, Math.max(0, (event.clientX - track.left) / track.width));
      const by = event.deltaY === 0 ? event.deltaX : event.deltaY;
      setPart(before =>
        event.shiftKey
          ? moved(before, by / 500)
          : zoomed(before, by > 0 ? 1.25 : 0.8, before.from + at * (before.to - before.from)),
      );
    };
    element.addEventListener('wheel', turn, { passive: false });
    return () => element.removeEventListener('wheel', turn);
  });
}
