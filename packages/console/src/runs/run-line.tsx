import type { RunSummary } from '@signalbox/model';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Lamp } from '../shell/lamp.tsx';
import { Moment } from '../shell/moment.tsx';
import { lasted, many, runStanding, type Signal, span } from '../story/words.ts';
import { linkToRun } from './run-link.ts';
import { RunSpent } from './run-spent.tsx';

interface RunLineProps {
  readonly run: RunSummary;
  readonly now: number;
  /** The row's offset in a list that is drawn in part. */
  readonly start?: number;
  readonly isCurrent?: boolean;
  /** With columns for tags and spending. */
  readonly isWide?: boolean;
  /** Chooses the run instead of going to it. */
  readonly pick?: { readonly isPicked: boolean; onPick(): void } | undefined;
  /** Under a heading that already says why. */
  readonly isGrouped?: boolean;
}

/** A run on one line: its status in one word, and the reason if it is bad. */
export function RunLine({ run, now, start, isCurrent = false, isWide = false, isGrouped = false, pick }: RunLineProps) {
  const { record, openDecisions } = run;
  const { signal, word } = runStanding(run);
  const begun = Date.parse(record.startedAt ?? record.createdAt);
  const end = record.endedAt === undefined ? now : Date.parse(record.endedAt);
  const why =
    record.error?.message ??
    (record.status === 'stopped' ? record.stopReason : undefined) ??
    run.guided?.pendingStep?.title;
  return (
    <li
      data-item={record.id}
      data-current={isCurrent || undefined}
      style={start === undefined ? undefined : { transform: `translateY(${start}px)` }}
    >
      <Place run={run} pick={pick} signal={signal}>
        <Lamp signal={signal} size={16} />
        <span className="runline-name">
          <strong>{record.name}</strong>
          {run.kind === 'guided' && <span className="kind">guided</span>}
          <span className="mono text-muted">{record.id.slice(-8)}</span>
          {!isWide && <Tags tags={record.tags} />}
        </span>
        <span className="runline-word">
          <span className={`word word-${signal}`}>{word}</span>
          {openDecisions > 0 && <span className="asks">{many(openDecisions, 'decision')}</span>}
          {why !== undefined && !isGrouped && (
            <span className="runline-error" title={why}>
              {why}
            </span>
          )}
        </span>
        {isWide && (
          <>
            <span className="runline-tags" data-column="tags">
              <Tags tags={record.tags} />
            </span>
            <span className="runline-used mono text-muted" data-column="used">
              {run.kind === 'plan' && <RunSpent run={run} now={now} />}
            </span>
          </>
        )}
        <span className="mono text-muted" data-column="frames">
          {run.kind === 'plan' ? record.frames : <span className="text-faint">–</span>}
        </span>
        <span className="runline-time mono" data-column="time">
          {record.endedAt === undefined ? span(end - begun) : lasted(end - begun)}
        </span>
        <span className="runline-ago text-muted" data-column="began">
          <Moment at={record.startedAt ?? record.createdAt} />
        </span>
        <span className="runline-ago text-muted" data-column="changed">
          <Moment at={record.updatedAt} />
        </span>
      </Place>
    </li>
  );
}

/** A link to the run, or a button that chooses it. */
function Place({
  run,
  pick,
  signal,
  children,
}: Pick<RunLineProps, 'run' | 'pick'> & { readonly signal: Signal; readonly children: ReactNode }) {
  return pick === undefined ? (
    <Link {...linkToRun(run)} preload={false} className="runline" data-signal={signal}>
      {children}
    </Link>
  ) : (
    <button
      type="button"
      className="runline runline-pick"
      data-signal={signal}
      aria-pressed={pick.isPicked}
      onClick={pick.onPick}
    >
      {children}
    </button>
  );
}

function Tags({ tags }: { readonly tags: readonly string[] }) {
  return tags.map(tag => (
    <span key={tag} className="tag" title={tag}>
      {tag}
    </span>
  ));
}
