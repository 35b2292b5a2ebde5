import { hostDisk, nodeHasher, openContentStore, openJournal, sqliteLocks } from '@signalbox/journal';
import { type ErrorEnvelope, err, ok, type Result, type RunId, utf8Length } from '@signalbox/model';
import { type AnyEvent, canonicalEvent, type RunReader } from '@signalbox/runs';
import { draftOf, runJournalSchema, sessionOfRun } from './run-journal-event.ts';

/** What one append takes; the journal's own bound is higher. */
const MAX_EVENTS = 1000;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Brings the journal of a run up to its events: `runs/<run>` in the data directory, in the attested form of every journal
 * (T3). It is derived, so it can be written by anyone at any time; what is there already is not written again.
 */
export async function deriveJournal(
  dataDirectory: string,
  reader: Pick<RunReader, 'events'>,
  run: RunId,
): Promise<Result<{ readonly events: number }, ErrorEnvelope>> {
  const writer = `journal-${process.pid}`;
  const journal = openJournal({
    disk: hostDisk,
    locks: sqliteLocks,
    hasher: nodeHasher,
    schema: runJournalSchema,
    snapshots: openContentStore({ disk: hostDisk, hasher: nodeHasher, home: dataDirectory, name: 'snapshots', writer }),
    home: dataDirectory,
    collection: 'runs',
    sessionId: sessionOfRun(run),
  });
  return journal.withLock<{ readonly events: number }, ErrorEnvelope>(async (witness, view) => {
    let { length } = view;
    for (;;) {
      const events = await nextEvents(reader, run, length);
      if (events.length === 0) return ok({ events: length });
      const appended = journal.append(witness, { events: events.map(draftOf) });
      if (!appended.ok) return err(appended.error);
      length += events.length;
    }
  });
}

async function nextEvents(reader: Pick<RunReader, 'events'>, run: RunId, from: number): Promise<readonly AnyEvent[]> {
  const events: AnyEvent[] = [];
  let bytes = 0;
  for (const { event } of await reader.events(run, from, MAX_EVENTS)) {
    bytes += utf8Length(canonicalEvent(event));
    if (bytes > MAX_BYTES && events.length > 0) break;
    events.push(event);
  }
  return events;
}
