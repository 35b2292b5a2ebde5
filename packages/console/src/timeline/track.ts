import type { FrameMark } from '../story/run-story.ts';

/** The marks of a run on a line of so many places: the height of each is how much changed there. */
export interface Track {
  /** An SVG path for each kind of cause; one unit wide, up to 1 high, upside down. */
  readonly own: string;
  readonly task: string;
  readonly person: string;
}

export const PLACES = 400;

/** The cause of a frame: work that ended, a person, or the run itself. */
export function causeOf(trigger: string): keyof Track {
  if (trigger === 'task') return 'task';
  return trigger === 'decision' || trigger === 'signal' || trigger === 'operator' ? 'person' : 'own';
}

/** A place shared by several frames shows the one with the most changes; a person's takes precedence. */
export function trackOf(frames: readonly FrameMark[]): Track {
  const first = frames[0]?.index ?? 0;
  const last = frames.at(-1)?.index ?? 0;
  const places = Math.min(PLACES, last - first + 1);
  const most = frames.reduce((max, { changes }) => Math.max(max, changes), 1);
  const heights = new Float64Array(places);
  const causes: (keyof Track)[] = [];
  for (const { index, trigger, changes } of frames) {
    const place = Math.min(places - 1, Math.floor(((index - first) * places) / (last - first + 1)));
    const cause = causeOf(trigger);
    if (changes > (heights[place] ?? 0)) heights[place] = changes;
    if (causes[place] === undefined || cause === 'person') causes[place] = cause;
    else if (causes[place] === 'own') causes[place] = cause;
  }
  const track = { own: '', task: '', person: '' };
  for (const [place, cause] of causes.entries()) {
    if (cause === undefined) continue;
    const height = 0.18 + 0.82 * Math.sqrt((heights[place] ?? 0) / most);
    const x = (place / places) * PLACES;
    const width = Math.max(0.6, (PLACES / places) * 0.72);
    track[cause] += `M${x.toFixed(2)} 1v${(-height).toFixed(3)}h${Math.min(width, 5).toFixed(2)}V1z`;
  }
  return track;
}
