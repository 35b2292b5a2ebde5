import type { WireTrust } from '@signalbox/model';
import { trustPoints } from './trust-points.ts';

const [WIDTH, HEIGHT, LEFT] = [560, 110, 28];

/** The score over time; beside it, dashed, as it would be without calibration mode. */
export function TrustChart({ trust }: { readonly trust: WireTrust }) {
  const { actual, hypothetical, isApart } = trustPoints(trust, { width: WIDTH - LEFT - 4, height: HEIGHT - 12 });
  if (trust.history.length === 0) return null;
  const lineOf = (points: typeof actual) => points.map(({ x, y }) => `${x + LEFT},${y + 6}`).join(' ');
  return (
    <figure>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        className="trust-chart"
        role="img"
        aria-label={`Trust over ${trust.history.length} changes: now ${trust.score}${isApart ? `, would be ${trust.hypotheticalScore}` : ''}`}
      >
        {[0, 50, 100].map(score => {
          const y = 6 + ((100 - score) / 100) * (HEIGHT - 12);
          return (
            <g key={score}>
              <line x1={LEFT} x2={WIDTH - 4} y1={y} y2={y} className="trust-grid" />
              <text x={LEFT - 4} y={y + 3} textAnchor="end">
                {score}
              </text>
            </g>
          );
        })}
        {isApart && <polyline points={lineOf(hypothetical)} className="trust-would" />}
        <polyline points={lineOf(actual)} className="trust-line" />
      </svg>
      {isApart && (
        <figcaption className="legend">
          <span>
            <svg width="20" height="6" aria-hidden="true">
              <line x1="0" x2="20" y1="3" y2="3" className="trust-line" />
            </svg>
            actual
          </span>
          <span>
            <svg width="20" height="6" aria-hidden="true">
              <line x1="0" x2="20" y1="3" y2="3" className="trust-would" />
            </svg>
            without calibration mode
          </span>
        </figcaption>
      )}
    </figure>
  );
}
