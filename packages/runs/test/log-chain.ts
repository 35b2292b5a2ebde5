import { chainHead, EMPTY_HEAD, portableHasher, type RunId } from '@signalbox/model';
import { awayCheck, openRecord, type RunReader } from '@signalbox/runs';

/** Whether the log of a run holds: its bodies are those of its headers, or of the records that replaced them, each record is chained to the one before, its events are told by it. */
export async function isChained(reader: Pick<RunReader, 'run' | 'records' | 'events'>, run: RunId): Promise<boolean> {
  const records = await reader.records(run, 0, 1_000_000);
  const events = await reader.events(run, 0, 1_000_000);
  const record = await reader.run(run);
  let head = EMPTY_HEAD;
  let seq = 0;
  const away = awayCheck();
  for (const [n, { header: text, body, hash }] of records.entries()) {
    head = chainHead(portableHasher, head, text);
    const opened = openRecord({ header: text, body }, portableHasher);
    if (!opened.ok || head !== hash || away.take(opened.value) !== undefined) return false;
    const { header } = opened.value;
    if (header.n !== n || header.seq !== seq || header.log !== run) return false;
    const told = events.slice(seq, seq + header.events);
    if (!told.every(({ event, hash: of }, index) => event.seq === seq + index && of === hash)) return false;
    seq += header.events;
  }
  return (
    away.end() === undefined &&
    record !== undefined &&
    seq === events.length &&
    record.head === head &&
    record.nextSeq === seq &&
    record.records === records.length
  );
}
