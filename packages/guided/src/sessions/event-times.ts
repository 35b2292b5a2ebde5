import { type SessionId, type Timestamp, timestampOf } from '@signalbox/model';
import { readManifest } from '@signalbox/workflow';
import { modifiedAt } from '../retention/stored-files.ts';
import type { SessionStores } from './session-stores.ts';

/**
 * When the events of a session were written, by index. A journal holds no times: these are the times of the segment files, and an imported
 * session is as old as its import. Never decreasing.
 */
export function eventTimes(
  { disk, directoryOf }: SessionStores,
  sessionId: SessionId,
  length: number,
): (index: number) => Timestamp {
  const directory = directoryOf(sessionId);
  const starts: { readonly from: number; readonly at: Timestamp }[] = [];
  let latest = 0;
  for (const record of readManifest(disk, directory, length)) {
    if (record.kind !== 'segment_closed') continue;
    latest = Math.max(latest, modifiedAt(`${directory}/${record.segmentRelPath}`) ?? 0);
    const now = latest;
    starts.push({ from: record.firstEventIndex, at: timestampOf({ now: () => now }) });
  }
  const first = timestampOf({ now: () => 0 });
  return index => {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle]?.from ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    return starts[low - 1]?.at ?? first;
  };
}
