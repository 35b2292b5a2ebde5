import { span } from '../story/words.ts';

/** The part of a run's time that is shown, as fractions of it. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

export const WHOLE: Window = { from: 0, to: 1 };
/** The shortest part, as a fraction. */
const LEAST = 1e-6;

/** The window around a fraction, larger or smaller; it stays inside the whole. */
export function zoomed({ from, to }: Window, factor: number, around = (from + to) / 2): Window {
  const width = Math.min(1, Math.max(LEAST, (to - from) * factor));
  const part = to === from ? 0.5 : (around - from) / (to - from);
  return placed(around - part * width, width);
}

export function moved({ from, to }: Window, by: number): Window {
  return placed(from + by * (to - from), to - from);
}

function placed(from: number, width: number): Window {
  const begin = Math.min(Math.max(0, from), 1 - width);
  return { from: begin, to: begin + width };
}

export interface Tick {
  /** A fraction of the window. */
  readonly at: number;
  readonly words: string;
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5,
  432e5, 864e5,
];
const DAY = 864e5;

/** Marks at round times since the start, at most `most`. */
export function ticksOf(ms: number, { from, to }: Window, most: number): readonly Tick[] {
  const shown = ms * (to - from);
  const step = STEPS.find(one => shown / one <= most) ?? Math.ceil(shown / most / DAY) * DAY;
  const ticks: Tick[] = [];
  for (let at = Math.ceil((ms * from) / step) * step; at <= ms * to; at += step) {
    ticks.push({
      at: shown === 0 ? 0 : (at - ms * from) / shown,
      words: step < 1000 ? `${Math.round(at)} ms` : span(at),
    });
  }
  return ticks;
}
