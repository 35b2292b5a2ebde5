import { nodeHasher } from '@signalbox/journal';
import type { ApprovalId, RunId } from '@signalbox/model';
import { type Decision, openHeader, openRecord, type RunReader } from '@signalbox/runs';

/**
 * A decision as in the record of an event, if a later proposal replaced it. Undefined if the record is gone, or the proposal was too large
 * for it.
 */
export async function proposalThen(
  reader: Pick<RunReader, 'run' | 'records'>,
  run: RunId,
  seq: number,
  decision: ApprovalId,
): Promise<Decision | undefined> {
  let [low, high] = [0, ((await reader.run(run))?.records ?? 0) - 1];
  // Binary search: the last record whose first event is not later.
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const [record] = await reader.records(run, middle, 1);
    const header = record && openHeader(record.header);
    if (header?.ok !== true) return undefined;
    if (header.value.seq > seq) high = middle - 1;
    else low = middle;
  }
  const [record] = await reader.records(run, low, 1);
  const opened = record && openRecord(record, nodeHasher);
  if (opened?.ok !== true || opened.value.body.large !== undefined) return undefined;
  return opened.value.body.decisions?.find(({ id }) => id === decision);
}
