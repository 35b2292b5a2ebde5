import type { FrameMark } from '../story/run-story.ts';
import { clockTime } from '../story/words.ts';

interface FrameLineProps {
  readonly frames: readonly FrameMark[];
  readonly total: number;
  /** Undefined follows the newest. */
  readonly frame: number | undefined;
  onFrame(frame: number | undefined): void;
}

/** The frames of a run on a line: a mark each, coloured by what made it necessary; the slider looks back. */
export function FrameLine({ frames, total, frame, onFrame }: FrameLineProps) {
  const first = frames[0]?.index ?? 0;
  const last = frames.at(-1)?.index ?? 0;
  const shown = frame ?? last;
  const mark = frames.find(({ index }) => index === shown);
  const look = (index: number) => onFrame(index >= last ? undefined : index);
  if (frames.length === 0) return null;
  return (
    <section aria-label="Frames" className="frameline">
      <div className="frameline-words">
        <span>
          Frame <strong className="mono">{shown}</strong> <span className="text-muted">of {total} in all</span>
        </span>
        {mark !== undefined && (
          <span className="text-muted">
            <i className={`tick-key tick-${mark.trigger}`} aria-hidden="true" /> {mark.trigger} ·{' '}
            <span className="mono">{clockTime(mark.at)}</span>
          </span>
        )}
        {frame === undefined ? (
          <span className="follows">as it happens</span>
        ) : (
          <button type="button" className="button button-small" onClick={() => onFrame(undefined)}>
            Back to now
          </button>
        )}
      </div>
      <div className="frameline-track">
        <div className="ticks" aria-hidden="true">
          {frames.map(({ index, trigger }) => (
            <i key={index} className={`tick tick-${trigger}${index === shown ? ' tick-shown' : ''}`} />
          ))}
        </div>
        <input
          type="range"
          min={first}
          max={Math.max(last, first + 1)}
          value={shown}
          onChange={event => look(Number(event.target.value))}
          aria-label="Frame to look at"
          aria-valuetext={`frame ${shown} of ${total}${mark === undefined ? '' : `, ${mark.trigger}`}`}
        />
      </div>
    </section>
  );
}
