import { memo, startTransition, useMemo, useOptimistic } from 'react';
import { useSettings } from '../settings/settings.ts';
import { useKeys } from '../shell/use-keys.ts';
import { causeWords } from '../story/cause-words.ts';
import type { FrameMark } from '../story/run-story.ts';
import { clockTime } from '../story/words.ts';
import { causeOf, PLACES, trackOf } from './track.ts';

interface FrameLineProps {
  readonly frames: readonly FrameMark[];
  readonly total: number;
  readonly hasEnded: boolean;
  /** Undefined follows the newest. */
  readonly frame: number | undefined;
  onFrame(frame: number | undefined): void;
}

/**
 * The frames of a run on a line: how much changed in each, and what made it necessary. The slider looks back; while it does, the
 * page does not follow.
 */
export function FrameLine({ frames, total, hasEnded, frame: drawn, onFrame }: FrameLineProps) {
  const { time } = useSettings();
  // The slider is where the hand is; the page comes after it when it can.
  const [frame, setFrame] = useOptimistic(drawn);
  const go = (to: number | undefined) =>
    startTransition(() => {
      setFrame(to);
      onFrame(to);
    });
  const first = frames[0]?.index ?? 0;
  const last = frames.at(-1)?.index ?? 0;
  const shown = Math.min(frame ?? last, last);
  const mark = frames[shown - first]?.index === shown ? frames[shown - first] : undefined;
  const look = (index: number) => go(index >= last ? undefined : Math.max(first, index));
  useKeys({ '[': () => look(shown - 1), ']': () => look(shown + 1), '.': () => go(undefined) });
  // Its place is kept: what is below does not move when the frames have been read.
  if (frames.length === 0) return <section aria-label="Frames" className="frameline" />;
  const part = last === first ? 1 : (shown - first) / (last - first);
  return (
    <section aria-label="Frames" className="frameline">
      <div className="frameline-words">
        <button
          type="button"
          className="step"
          aria-label="A frame back"
          disabled={shown <= first}
          onClick={() => look(shown - 1)}
        >
          ‹
        </button>
        <button
          type="button"
          className="step"
          aria-label="A frame on"
          disabled={shown >= last}
          onClick={() => look(shown + 1)}
        >
          ›
        </button>
        <span>
          Frame <strong className="mono">{shown}</strong>{' '}
          <span className="text-muted">
            {shown === last && 'is last '}of {total} in all
          </span>
        </span>
        {mark !== undefined && (
          <span className="frameline-cause" title="What made this frame necessary, and when">
            <span className="mono text-faint">{clockTime(mark.at, time)}</span>{' '}
            <i className={`cause cause-${causeOf(mark.trigger)}`} aria-hidden="true" /> {causeWords(mark.trigger)}
          </span>
        )}
        {frame !== undefined ? (
          <button type="button" className="button button-small follow" onClick={() => go(undefined)}>
            Back to now
          </button>
        ) : (
          !hasEnded && (
            <span className="follows">
              <i aria-hidden="true" /> following
            </span>
          )
        )}
      </div>
      <div className="frameline-track">
        <TrackPicture frames={frames} />
        <i className="frameline-past" style={{ transform: `scaleX(${part})` }} aria-hidden="true" />
        <input
          type="range"
          min={first}
          max={Math.max(last, first + 1)}
          value={shown}
          onChange={event => look(Number(event.target.value))}
          aria-label="Frame to look at"
          aria-valuetext={`frame ${shown} of ${total}${mark === undefined ? '' : `, because of ${causeWords(mark.trigger)}`}`}
        />
      </div>
    </section>
  );
}

const TrackPicture = memo(function TrackPicture({ frames }: { readonly frames: readonly FrameMark[] }) {
  const { own, task, person } = useMemo(() => trackOf(frames), [frames]);
  return (
    <svg className="spark" viewBox={`0 0 ${PLACES} 1`} preserveAspectRatio="none" aria-hidden="true">
      <path d={own} className="cause-own" />
      <path d={task} className="cause-task" />
      <path d={person} className="cause-person" />
    </svg>
  );
});
