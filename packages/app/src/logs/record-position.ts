import type { RunId } from '@signalbox/model';
import { openHeader, type RunReader } from '@signalbox/runs';

/** The first record with an event after `seq`, found by binary search: both only grow. */
export async function firstAfter(
  reader: Pick<RunReader, 'records'>,
  run: RunId,
  records: number,
  seq: number,
): Promise<number> {
  let [low, high] = [0, records];
  while (low < high) {
    const middle = (low + high) >> 1;
    const [record] = await reader.records(run, middle, 1);
    const header = record === undefined ? undefined : openHeader(record.header);
    if (header?.ok !== true) throw new Error(`record ${middle} of run ${run} is damaged`);
    if (header.value.seq + header.value.events > seq + 1) high = middle;
    else low = middle + 1;
  }
  return low;
}
