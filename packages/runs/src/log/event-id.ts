import { type EventId, type RunId, type UuidWords, uuidV5, uuidWords } from '@signalbox/model';

/** The id of an event by its place (T3): the UUIDv5 whose namespace is the log's id and whose name is `<record>/<index>`. */
export function eventIdAt(log: RunId, record: number, index: number): EventId {
  return uuidV5(namespaceOf(log), `${record}/${index}`) as EventId;
}

let lastLog: RunId | undefined;
let lastNamespace: UuidWords = [0, 0, 0, 0];

/** Cached, because events of one log come in sequence. */
function namespaceOf(log: RunId): UuidWords {
  if (log === lastLog) return lastNamespace;
  lastNamespace = uuidWords(log);
  lastLog = log;
  return lastNamespace;
}
