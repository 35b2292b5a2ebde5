import type { RunId } from '@signalbox/model';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState } from 'react';
import { DecisionCard } from '../decisions/decision-card.tsx';
import type { Checkpoints } from '../inspector/call-levers.tsx';
import { CallCard } from './call-card.tsx';
import { AgentPairs, AgentPlan, PartView } from './transcript-parts.tsx';
import { guessedHeight, type TranscriptRow } from './transcript-rows.ts';
import { turnWords, words } from './words.ts';

interface TranscriptListProps {
  readonly run: RunId;
  /** The label of the agent's node. */
  readonly label: string;
  readonly rows: readonly TranscriptRow[];
  readonly checkpoints: Checkpoints;
  /** Whether more may come: then the list follows its end. */
  readonly isLive: boolean;
}

const NEAR_END = 48;

/** The rows of a transcript. Only those in view are drawn; the list stays at its end while more arrives, until the person scrolls up. */
export function TranscriptList({ run, label, rows, checkpoints, isLive }: TranscriptListProps) {
  const box = useRef<HTMLDivElement>(null);
  const [isFollowing, setIsFollowing] = useState(isLive);
  const lines = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: index => guessedHeight(rows[index] as TranscriptRow),
    overscan: 8,
  });
  const height = lines.getTotalSize();
  const before = useRef(0);
  // After each measurement: rows above the end may have grown, also after the person went to what was the end.
  useLayoutEffect(() => {
    const shown = box.current;
    if (shown === null) return;
    const { scrollTop, clientHeight, scrollHeight } = shown;
    const wasAtEnd = scrollTop > 0 && before.current - scrollTop - clientHeight < NEAR_END;
    before.current = height;
    if (isFollowing || wasAtEnd) shown.scrollTop = scrollHeight;
  }, [isFollowing, height, rows.length]);
  const drawn = lines.getVirtualItems();
  return (
    <div className="transcript-frame">
      <section
        ref={box}
        className="transcript-box"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable with the keyboard
        tabIndex={0}
        aria-label={words.label}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
          setIsFollowing(scrollHeight - scrollTop - clientHeight < NEAR_END)
        }
      >
        <ol className="transcript-rows" style={{ height }}>
          {drawn.map(({ index, key, start }) => {
            const row = rows[index];
            return row === undefined ? null : (
              <li
                key={key}
                ref={lines.measureElement}
                data-index={index}
                data-kind={row.kind}
                aria-posinset={index + 1}
                aria-setsize={rows.length}
                className="transcript-row"
                style={{ transform: `translateY(${start}px)` }}
              >
                <RowView run={run} label={label} row={row} checkpoints={checkpoints} />
              </li>
            );
          })}
        </ol>
      </section>
      {!isFollowing && isLive && (
        <button type="button" className="button button-small transcript-latest" onClick={() => setIsFollowing(true)}>
          {words.toLatest}
        </button>
      )}
    </div>
  );
}

interface RowViewProps extends Pick<TranscriptListProps, 'run' | 'label' | 'checkpoints'> {
  readonly row: TranscriptRow;
}

function RowView({ run, label, row, checkpoints }: RowViewProps) {
  switch (row.kind) {
    case 'attempt':
      return (
        <>
          {row.number !== undefined && <h3 className="attempt-head">{words.attempt(row.number)}</h3>}
          {row.agent !== undefined && <AgentPairs agent={row.agent} />}
        </>
      );
    case 'plan':
      return <AgentPlan steps={row.steps} />;
    case 'part':
      return <PartView part={row.part} />;
    case 'turn':
      return <p className="turn-line">{turnWords(row.number, row.usage)}</p>;
    case 'call':
      return (
        <CallCard
          run={run}
          use={row.use}
          isOver={row.isOver}
          checkpoint={checkpoints.of(row.use.call)}
          onUndone={checkpoints.touch}
        >
          {row.decisions.length > 0
            ? row.decisions.map(one => <DecisionCard key={one.approvalId} decision={one} label={label} />)
            : undefined}
        </CallCard>
      );
    case 'question':
      return <DecisionCard decision={row.decision} label={label} />;
    case 'end':
      return (
        <p className="attempt-end">
          {words.turnEnded(row.status)} {row.words}
        </p>
      );
  }
}
