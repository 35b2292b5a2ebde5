import {
  type DedupeKey,
  type EventDraft,
  type EventSchema,
  eventSchema,
  eventScope,
  journalEventFields,
} from '@signalbox/journal';
import { type Digest, defined, type RunId, type SessionId } from '@signalbox/model';
import { type AnyEvent, anyEvent } from '@signalbox/runs';
import * as z from 'zod';

/** Every kind of event in a run's journal: the contract's types, and ours. */
const runEventKinds = anyEvent.options.map(option => option.shape.type.value);

/**
 * An event of a run in its journal: the whole event, in `data`. The envelope repeats some of it, so that a journal can be read without
 * knowing the contract; the two must agree.
 */
const runJournalEvent = z
  .strictObject({
    ...journalEventFields,
    kind: z.enum(runEventKinds),
    scope: eventScope,
    data: anyEvent,
  })
  .superRefine(({ data, ...envelope }, context) => {
    const expected = envelopeOf(data as AnyEvent);
    const claims: readonly (readonly [path: readonly string[], found: unknown, expected: unknown])[] = [
      [['eventId'], envelope.eventId, expected.eventId],
      [['eventIndex'], envelope.eventIndex, data.seq],
      [['sessionId'], envelope.sessionId, data.runId],
      [['kind'], envelope.kind, expected.kind],
      [['dedupeKey'], envelope.dedupeKey, expected.dedupeKey],
      [['scope', 'runId'], envelope.scope.runId, expected.scope.runId],
      [['scope', 'nodeId'], envelope.scope.nodeId, expected.scope.nodeId],
    ];
    for (const [path, found, wanted] of claims) {
      if (found === wanted) continue;
      context.addIssue({ code: 'custom', path: [...path], message: `its data says ${JSON.stringify(wanted)}` });
    }
  });
export type RunJournalEvent = z.infer<typeof runJournalEvent>;

export const runJournalSchema: EventSchema<RunJournalEvent> = eventSchema(runJournalEvent, event =>
  artifactsByContent(event.data as AnyEvent),
);

/** The first event of a journal identifies its family. */
export function isRunEventKind(kind: unknown): boolean {
  return runEventKinds.some(known => known === kind);
}

/** The event for the journal, which assigns its place: `seq` must be its index there. */
export function draftOf(event: AnyEvent): EventDraft<RunJournalEvent> {
  return { ...envelopeOf(event), data: event as RunJournalEvent['data'] };
}

/** A journal has a single run, whose id it uses. */
export function sessionOfRun(run: RunId): SessionId {
  return run as string as SessionId;
}

function envelopeOf(event: AnyEvent) {
  const { id, type, runId, seq } = event;
  const nodeId = 'nodeId' in event ? event.nodeId : undefined;
  return {
    eventId: id,
    kind: type,
    dedupeKey: `run_event:${runId}:${seq}` as DedupeKey,
    scope: { runId, ...defined({ nodeId }) },
  };
}

/** The path of an artifact in the snapshot store, relative to the data directory. */
export function snapshotPath(hexDigits: string): string {
  return `snapshots/${hexDigits}.json`;
}

/** An artifact in the snapshot store is named by its content, so the journal pins it. */
function artifactsByContent(event: AnyEvent): readonly Digest[] {
  if (event.type !== 'artifact.created') return [];
  const hex = /^snapshots\/([0-9a-f]{64})\.json$/.exec(event.artifact.path)?.[1];
  return hex === undefined ? [] : [`sha256:${hex}` as Digest];
}
