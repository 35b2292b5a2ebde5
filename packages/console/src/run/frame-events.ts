import type { Client } from '@signalbox/client';
import type { RunId, WireEvent } from '@signalbox/model';

const PAGE = 200;

/**
 * The events that lead to a frame: those after the previous frame's commit, up to its own. Found by binary search, because commits are in
 * the order of frames.
 */
export async function eventsOfFrame(
  client: Pick<Client, 'events'>,
  run: RunId,
  frame: number,
  total: number,
): Promise<readonly WireEvent[]> {
  const page = async (from: number): Promise<readonly WireEvent[]> => {
    const read = await client.events(run, { from, limit: PAGE });
    if (!read.ok) throw read.error;
    return read.value.events.map(({ event }) => event);
  };
  const wanted = Math.max(0, frame);
  // `low` is a place at or before the first event that leads to the frame.
  let low = 0;
  for (let high = total; high - low > PAGE; ) {
    const middle = Math.floor((low + high) / 2);
    const commit = (await page(middle)).find(isCommit);
    if (commit === undefined || frameOf(commit) >= wanted) high = middle;
    else low = commit.seq + 1;
  }
  const found: WireEvent[] = [];
  for (let from = low; from < total; ) {
    const events = await page(from);
    for (const event of events) {
      if (isCommit(event) && frameOf(event) < wanted) found.length = 0;
      else found.push(event);
      if (isCommit(event) && frameOf(event) >= wanted) return found;
    }
    if (events.length === 0) return found;
    from = (events.at(-1)?.seq ?? from) + 1;
  }
  return found;
}

function isCommit({ type }: WireEvent): boolean {
  return type === 'frame.committed';
}

function frameOf({ frame }: WireEvent): number {
  return typeof frame === 'number' ? frame : Number.POSITIVE_INFINITY;
}
