import {
  type DedupeKey,
  type EventDraft,
  type EventSchema,
  eventSchema,
  eventScope,
  journalEventFields,
} from '@signalbox/journal';
import { type Digest, digest, digestHex, type EventId, ok, type RunId } from '@signalbox/model';
import { type LogRecord, openHeader } from '@signalbox/runs';
import * as z from 'zod';

const KIND = 'run.record';

/**
 * A record of a run's log in its journal: the committed bytes (T3). A body that is too large for a journal is a blob: the one that its
 * header names, or `blob` if the body was replaced. The envelope repeats facts of the header; the two must agree.
 */
const runRecordEvent = z
  .strictObject({
    ...journalEventFields,
    kind: z.literal(KIND),
    scope: eventScope,
    data: z.strictObject({ header: z.string(), body: z.string().optional(), blob: digest.optional(), hash: digest }),
  })
  .superRefine(({ data, ...envelope }, context) => {
    const header = openHeader(data.header);
    if (!header.ok) {
      context.addIssue({ code: 'custom', path: ['data', 'header'], message: header.error });
      return;
    }
    const { log, n } = header.value;
    const claims: readonly (readonly [path: readonly string[], found: unknown, expected: unknown])[] = [
      [['eventId'], envelope.eventId, eventIdOf(data.hash)],
      [['eventIndex'], envelope.eventIndex, n],
      [['sessionId'], envelope.sessionId, log],
      [['dedupeKey'], envelope.dedupeKey, keyOf(log, n)],
      [['scope', 'runId'], envelope.scope.runId, log],
    ];
    for (const [path, found, wanted] of claims) {
      if (found === wanted) continue;
      context.addIssue({ code: 'custom', path: [...path], message: `its record says ${JSON.stringify(wanted)}` });
    }
  });
export type RunRecordEvent = z.infer<typeof runRecordEvent>;

/** The journal does not check blobs. */
export const runRecordSchema: EventSchema<RunRecordEvent> = eventSchema(runRecordEvent, () => []);

/**
 * For the process that writes the journals of its own runs: it trusts what it appends, and remembers only the places. Readers that rely on
 * a journal use `runRecordSchema`.
 */
export const ownRecordSchema: EventSchema<RunRecordEvent> = {
  version: runRecordSchema.version,
  decode(value) {
    const { data, ...envelope } = value as RunRecordEvent;
    return ok({ ...envelope, data: { header: '', hash: data.hash } });
  },
  snapshotRefs: () => [],
  canonicalText: ({ data, dedupeKey, eventId, eventIndex, sessionId, scope }) =>
    `{"data":{${[
      ...(data.blob === undefined ? [] : [`"blob":"${data.blob}"`]),
      ...(data.body === undefined ? [] : [`"body":${JSON.stringify(data.body)}`]),
    ]
      .map(member => `${member},`)
      .join('')}"hash":"${data.hash}","header":${JSON.stringify(data.header)}},"dedupeKey":"${dedupeKey}",` +
    `"eventId":"${eventId}","eventIndex":${eventIndex},"kind":"${KIND}","scope":{"runId":"${scope.runId}"},` +
    `"sessionId":"${sessionId}","v":1}`,
};

export function isRunRecordKind(kind: unknown): boolean {
  return kind === KIND;
}

/** A record in its journal; `body` is absent if it is a blob. */
export type JournaledRecord = Omit<LogRecord, 'body'> & { readonly body?: string; readonly blob?: Digest };

/** The record for the journal. */
export function draftOfRecord(
  run: RunId,
  n: number,
  { header, body, blob, hash }: JournaledRecord,
): EventDraft<RunRecordEvent> {
  return {
    eventId: eventIdOf(hash),
    kind: KIND,
    dedupeKey: keyOf(run, n),
    scope: { runId: run },
    data: { header, ...(body !== undefined && { body }), ...(blob !== undefined && { blob }), hash },
  };
}

/** A UUID (version 8) of the end of the record's hash. The beginning of the hash is in the ids of the record's own events. */
function eventIdOf(hash: Digest): EventId {
  const hex = digestHex(hash).slice(32);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)];
  return parts.join('-') as EventId;
}

function keyOf(run: RunId, n: number): DedupeKey {
  return `run_record:${run}:${n}` as DedupeKey;
}
