import type { RunSummary } from '@signalbox/model';
import { useState } from 'react';
import { endedBetween, type Period, periods, trendOf } from '../story/failure-trend.ts';

const BAR = 10;
const HEIGHT = 44;
const periodWords: Record<Period, { readonly name: string; readonly before: string; readonly each: string }> = {
  day: { name: '24 hours', before: 'the 24 hours before', each: 'an hour' },
  week: { name: '7 days', before: 'the 7 days before', each: 'a day' },
};

interface FailureTrendProps {
  readonly runs: readonly RunSummary[];
  readonly now: number;
  /** The start of the oldest known run; runs that ended earlier are not counted. */
  readonly knownSince?: string | undefined;
}

/** Ended and failed runs by part of a period, against the period before. */
export function FailureTrend({ runs, now, knownSince }: FailureTrendProps) {
  const [period, setPeriod] = useState<Period>('day');
  const { parts, partMs } = periods[period];
  const words = periodWords[period];
  const bars = trendOf(runs, now, period);
  const most = Math.max(1, ...bars.map(({ ended }) => ended));
  const last = endedBetween(runs, now - parts * partMs, now);
  const before = endedBetween(runs, now - 2 * parts * partMs, now - parts * partMs);
  const isCut = knownSince !== undefined && Date.parse(knownSince) > now - 2 * parts * partMs;
  return (
    <figure className="trend" aria-label="Failures over time">
      <div className="trend-bars">
        <svg
          viewBox={`0 0 ${parts * BAR} ${HEIGHT}`}
          width={parts * BAR}
          height={HEIGHT}
          role="img"
          aria-label={`${last.failed} of ${last.ended} failed in the last ${words.name}, a bar for ${words.each}`}
        >
          {bars.map(({ failed, ended }, index) => {
            const height = (count: number) => (count / most) * (HEIGHT - 2);
            const left = { x: index * BAR, width: BAR - 3 };
            return (
              <g key={index}>
                <title>{`${failed} of ${ended} failed`}</title>
                <rect {...left} y={HEIGHT - 1} height={1} className="hour-base" />
                <rect {...left} y={HEIGHT - height(ended)} height={height(ended)} className="hour-ended" />
                <rect {...left} y={HEIGHT - height(failed)} height={height(failed)} className="hour-failed" />
              </g>
            );
          })}
        </svg>
      </div>
      <figcaption>
        <strong>{rateWords(last)}</strong> in the last {words.name}
        {last.ended > 0 && `: ${last.failed} of ${last.ended} that ended`}.
        <span className="text-faint">
          {' '}
          {rateWords(before)} in {words.before}
          {isCut && ', as far as loaded'}.
        </span>
      </figcaption>
      <fieldset className="views">
        <legend className="sr-only">Period</legend>
        {(Object.keys(periods) as Period[]).map(name => (
          <button
            key={name}
            type="button"
            className="view"
            aria-pressed={name === period}
            onClick={() => setPeriod(name)}
          >
            {periodWords[name].name}
          </button>
        ))}
      </fieldset>
    </figure>
  );
}

function rateWords({ failed, ended }: { readonly failed: number; readonly ended: number }): string {
  return ended === 0 ? 'No runs ended' : `${Math.round((failed / ended) * 100)} % failed`;
}
