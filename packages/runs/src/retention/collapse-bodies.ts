import type { IntervalRow } from '../commit-plan.ts';
import type { IntervalWrite } from '../frames/interval.ts';
import { type BodyRewrite, draftOf, type RewrittenRecord } from '../log/body-rewrite.ts';
import type { BodyAway } from '../log/taken-away.ts';
import { type FrameRange, isInRanges } from './frame-range.ts';

/**
 * The remaining bodies of a run after its frames are collected (T7).
 *
 * 1. Driver records between two kept frames lose their frame, their events, and the values that no kept frame shows. Everything else stays:
 *    tasks, transitions, decisions, artifacts, usage, messages, changes of the run.
 * 2. Commits from outside the driver stay unchanged.
 * 3. A remaining patch of a removed value becomes a whole value.
 */
export function collapseBodies(
  log: readonly RewrittenRecord[],
  collected: readonly FrameRange[],
  frames: number,
): BodyRewrite {
  const kept = keptWrites(log, collected, frames);
  return given => {
    const { header, body } = given.record;
    const isCollapsed = isCollapsible(given, collected);
    const intervals = body.intervals?.flatMap((_, index) => kept.get(`${header.n} ${index}`) ?? []);
    const hasAll =
      intervals?.length === body.intervals?.length &&
      (intervals ?? []).every((write, index) => write === body.intervals?.[index]);
    if (hasAll && !(isCollapsed && (body.frame !== undefined || header.events > 0))) return undefined;
    const { frame, events, intervals: _, away: before, ...rest } = draftOf(body);
    const away: BodyAway = {
      ...before,
      ...(isCollapsed && frame !== undefined && { frame: frame.index }),
      ...(isCollapsed && header.events > 0 && { events: true as const }),
    };
    return {
      away,
      ...rest,
      ...(!isCollapsed && frame !== undefined && { frame }),
      ...(intervals !== undefined && intervals.length > 0 && { intervals }),
      ...(!isCollapsed && events !== undefined && { events }),
    };
  };
}

/** Whether a record is the driver's and belongs to a collected frame. */
function isCollapsible({ record: { header }, outcome }: RewrittenRecord, collected: readonly FrameRange[]): boolean {
  return header.who === 'driver' && header.n > 0 && isInRanges(collected, outcome.record.frames - 1);
}

/** The remains of each value write, by record number and place. */
function keptWrites(
  log: readonly RewrittenRecord[],
  collected: readonly FrameRange[],
  frames: number,
): ReadonlyMap<string, IntervalWrite> {
  const kept = new Map<string, IntervalWrite>();
  /** For each frame, the next kept one. The state after the last frame is kept too. */
  const nextKept = Array.from({ length: frames + 1 }, () => frames);
  for (let frame = frames - 1; frame >= 0; frame--) {
    nextKept[frame] = isInRanges(collected, frame) ? (nextKept[frame + 1] as number) : frame;
  }
  const writes = log.flatMap(given => {
    const { header, body } = given.record;
    const mayGo = isCollapsible(given, collected);
    return (body.intervals ?? []).map((write, index) => {
      const { value } = given.outcome.intervals[index] as IntervalRow;
      return { write, value, mayGo, place: `${header.n} ${index}` };
    });
  });
  for (const ofKey of Map.groupBy(writes, ({ write }) => `${write.space} ${write.key}`).values()) {
    let until = Number.POSITIVE_INFINITY;
    const isShown = ofKey.map(() => true);
    for (let at = ofKey.length - 1; at >= 0; at--) {
      const from = (ofKey[at] as (typeof ofKey)[number]).write.fromFrame;
      const later = ofKey[at + 1]?.write.fromFrame;
      if (later !== undefined && later > from) until = later;
      isShown[at] = (nextKept[from] ?? frames) < until;
    }
    let isBroken = false;
    for (const [at, { write, value, mayGo, place }] of ofKey.entries()) {
      if (mayGo && !isShown[at]) {
        isBroken = true;
        continue;
      }
      const isWhole = isBroken && write.change.kind === 'patch' && value !== undefined;
      kept.set(place, isWhole ? { ...write, change: { kind: 'set', value } } : write);
      isBroken = false;
    }
  }
  return kept;
}
