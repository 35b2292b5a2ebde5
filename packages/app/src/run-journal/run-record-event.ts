import {
  type DedupeKey,
  type EventDraft,
  type EventSchema,
  eventSchema,
  eventScope,
  journalEventFields,
} from '@signalbox/journal';
import {
  type Digest,
  digest,
  digestHex,
  type EventId,
  ok,
  type ProjectId,
  type Result,
  type RunId,
} from '@signalbox/model';
import { type LogRecord, openHeader, openProjectHeader } from '@signalbox/runs';
import * as z from 'zod';

/** The id of a log: of its run, or of its project. */
export type LogId = RunId | ProjectId;

/** What a journal's records are of. Each has its own collection of journals, and its own kind of event. */
export type LogOf = 'run' | 'project';

interface RecordKind {
  readonly kind: 'run.record' | 'project.record';
  readonly key: string;
  readonly openHeader: (header: string) => Result<{ readonly log: string; readonly n: number }, string>;
}

const kinds: { readonly [Of in LogOf]: RecordKind } = {
  run: { kind: 'run.record', key: 'run_record', openHeader },
  project: { kind: 'project.record', key: 'project_record', openHeader: openProjectHeader },
};

/**
 * A record of a log in its journal: the committed bytes (T3). A body that is too large for a journal is a blob: the one that its
 * header names, or `blob` if the body was replaced. The envelope repeats facts of the header; the two must agree. Only the events of a run
 * have a scope.
 */
function recordEvent(of: LogOf) {
  const { kind, openHeader: open } = kinds[of];
  return z
    .strictObject({
      ...journalEventFields,
      kind: z.literal(kind),
      scope: eventScope.optional(),
      data: z.strictObject({ header: z.string(), body: z.string().optional(), blob: digest.optional(), hash: digest }),
    })
    .superRefine(({ data, ...envelope }, context) => {
      const header = open(data.header);
      if (!header.ok) {
        context.addIssue({ code: 'custom', path: ['data', 'header'], message: header.error });
        return;
      }
      const { log, n } = header.value;
      const claims: readonly (readonly [path: readonly string[], found: unknown, expected: unknown])[] = [
        [['eventId'], envelope.eventId, eventIdOf(data.hash)],
        [['eventIndex'], envelope.eventIndex, n],
        [['sessionId'], envelope.sessionId, log],
        [['dedupeKey'], envelope.dedupeKey, keyOf(of, log, n)],
        [['scope', 'runId'], envelope.scope?.runId, of === 'run' ? log : undefined],
      ];
      for (const [path, found, wanted] of claims) {
        if (found === wanted) continue;
        context.addIssue({ code: 'custom', path: [...path], message: `its record says ${JSON.stringify(wanted)}` });
      }
    });
}
export type RunRecordEvent = z.infer<ReturnType<typeof recordEvent>>;

/** The journal does not check blobs. */
export const recordSchemas: { readonly [Of in LogOf]: EventSchema<RunRecordEvent> } = {
  run: eventSchema(recordEvent('run'), () => []),
  project: eventSchema(recordEvent('project'), () => []),
};

/**
 * For the process that writes the journals of its own logs: it trusts what it appends, and remembers only the places. Readers that rely on
 * a journal use `recordSchemas`.
 */
export const ownRecordSchema: EventSchema<RunRecordEvent> = {
  version: recordSchemas.run.version,
  decode(value) {
    const { data, ...envelope } = value as RunRecordEvent;
    return ok({ ...envelope, data: { header: '', hash: data.hash } });
  },
  snapshotRefs: () => [],
  canonicalText: ({ data, dedupeKey, eventId, eventIndex, kind, sessionId, scope }) =>
    `{"data":{${[
      ...(data.blob === undefined ? [] : [`"blob":"${data.blob}"`]),
      ...(data.body === undefined ? [] : [`"body":${JSON.stringify(data.body)}`]),
    ]
      .map(member => `${member},`)
      .join('')}"hash":"${data.hash}","header":${JSON.stringify(data.header)}},"dedupeKey":"${dedupeKey}",` +
    `"eventId":"${eventId}","eventIndex":${eventIndex},"kind":"${kind}",${scope === undefined ? '' : `"scope":{"runId":"${scope.runId}"},`}` +
    `"sessionId":"${sessionId}","v":1}`,
};

/** Whether a kind of event is that of records. */
export function isRecordKind(of: LogOf, kind: unknown): boolean {
  return kind === kinds[of].kind;
}

/** A record in its journal; `body` is absent if it is a blob. */
export type JournaledRecord = Omit<LogRecord, 'body'> & { readonly body?: string; readonly blob?: Digest };

/** The record for the journal. */
export function draftOfRecord(
  log: LogId,
  n: number,
  { header, body, blob, hash }: JournaledRecord,
  of: LogOf = 'run',
): EventDraft<RunRecordEvent> {
  return {
    eventId: eventIdOf(hash),
    kind: kinds[of].kind,
    dedupeKey: keyOf(of, log, n),
    ...(of === 'run' && { scope: { runId: log as RunId } }),
    data: { header, ...(body !== undefined && { body }), ...(blob !== undefined && { blob }), hash },
  };
}

/** A UUID (version 8) of the end of the record's hash. The beginning of the hash is in the ids of the record's own events. */
function eventIdOf(hash: Digest): EventId {
  const hex = digestHex(hash).slice(32);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)];
  return parts.join('-') as EventId;
}

function keyOf(of: LogOf, log: string, n: number): DedupeKey {
  return `${kinds[of].key}:${log}:${n}` as DedupeKey;
}
