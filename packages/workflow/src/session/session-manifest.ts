import { type Disk, type ManifestRecord, manifestRecord } from '@signalbox/journal';

/**
 * The records of a session's manifest that attest its first `length` events, which the journal has verified. Later records
 * are a tail or damage, and are omitted.
 */
export function readManifest(disk: Pick<Disk, 'read'>, directory: string, length: number): readonly ManifestRecord[] {
  const bytes = disk.read(`${directory}/manifest.jsonl`);
  if (typeof bytes !== 'object') return [];
  const records: ManifestRecord[] = [];
  for (const line of new TextDecoder().decode(bytes).split('\n')) {
    const record = parseRecord(line);
    if (record === undefined) break;
    const index = record.kind === 'segment_closed' ? record.lastEventIndex : record.eventIndex;
    if (index >= length) break;
    records.push(record);
  }
  return records;
}

function parseRecord(line: string): ManifestRecord | undefined {
  try {
    return manifestRecord.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
