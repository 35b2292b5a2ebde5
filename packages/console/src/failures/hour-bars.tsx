import type { RunSummary } from '@signalbox/model';
import { hourly } from '../story/failure-groups.ts';

const HOURS = 24;

/** How many ended in each of the last hours, and how many of them failed. */
export function HourBars({ runs, now }: { readonly runs: readonly RunSummary[]; readonly now: number }) {
  const hours = hourly(runs, now, HOURS);
  const most = Math.max(1, ...hours.map(({ ended }) => ended));
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0);
  const ended = hours.reduce((sum, hour) => sum + hour.ended, 0);
  return (
    <figure className="hours">
      <svg viewBox={`0 0 ${HOURS * 8} 28`} width={HOURS * 8} height={28} aria-hidden="true">
        {hours.map((hour, index) => (
          <g key={index}>
            <rect x={index * 8} y={27} width={6} height={1} className="hour-base" />
            <rect
              x={index * 8}
              y={28 - (hour.ended / most) * 26}
              width={6}
              height={(hour.ended / most) * 26}
              className="hour-ended"
            />
            <rect
              x={index * 8}
              y={28 - (hour.failed / most) * 26}
              width={6}
              height={(hour.failed / most) * 26}
              className="hour-failed"
            />
          </g>
        ))}
      </svg>
      <figcaption>
        {failed} of {ended} that ended in the last {HOURS} hours
      </figcaption>
    </figure>
  );
}
