import { factsOfEvent } from '../events/event-facts.ts';
import type { AnyEvent } from '../events/stored-event.ts';

/**
 * The significant frames of a run: the first and the last, those in which a decision was asked, answered or withdrawn, those with a
 * failure, and those from which a fork started. An event that names no frame belongs to the last frame before it.
 */
export function keptFrames(
  events: Iterable<AnyEvent>,
  frames: number,
  forkedAt: readonly number[],
): ReadonlySet<number> {
  const kept = new Set<number>(forkedAt.filter(frame => frame < frames));
  if (frames > 0) kept.add(0).add(frames - 1);
  let now: number | undefined;
  for (const event of events) {
    if (event.type === 'frame.committed') now = event.frame;
    if (!tells(event)) continue;
    const frame = 'frame' in event && typeof event.frame === 'number' ? event.frame : now;
    if (frame !== undefined && frame < frames) kept.add(frame);
  }
  return kept;
}

function tells(event: AnyEvent): boolean {
  const { keepsFrame = false } = factsOfEvent(event) ?? {};
  return typeof keepsFrame === 'function' ? keepsFrame(event as never) : keepsFrame;
}
