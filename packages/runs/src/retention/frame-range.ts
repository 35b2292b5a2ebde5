import * as z from 'zod';

/** Frames from one to another, both included. */
export const frameRange = z.strictObject({ from: z.int().nonnegative(), to: z.int().nonnegative() });
export type FrameRange = z.infer<typeof frameRange>;

export function isInRanges(ranges: readonly FrameRange[], frame: number): boolean {
  return ranges.some(({ from, to }) => frame >= from && frame <= to);
}

/** The frames of a run that are not kept. */
export function rangesBetween(kept: ReadonlySet<number>, frames: number): readonly FrameRange[] {
  const found: FrameRange[] = [];
  let from = 0;
  for (const frame of [...kept].filter(frame => frame < frames).sort((a, b) => a - b)) {
    if (frame > from) found.push({ from, to: frame - 1 });
    from = frame + 1;
  }
  if (from < frames) found.push({ from, to: frames - 1 });
  return found;
}
