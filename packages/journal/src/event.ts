import { type Digest, err, eventId, nodeId, ok, type Result, runId, sessionId } from '@signalbox/model';
import * as z from 'zod';

const KEY = /^[a-z0-9_:>-]+$/;
const MAX_KEY = 256;

/**
 * What makes a retry safe: an event is recorded once per key. Keys derive from stable ids, never from time or from
 * `eventId`.
 */
export const dedupeKey = z.string().max(MAX_KEY).regex(KEY, 'must be of a-z 0-9 _ : > -').brand<'DedupeKey'>();
export type DedupeKey = z.infer<typeof dedupeKey>;

/** The same check, for every appended event. */
export function isDedupeKey(key: string): boolean {
  return key.length <= MAX_KEY && KEY.test(key);
}

/** The fields of every event; the owner's schema narrows `kind`, `scope` and `data`. */
export const journalEventFields = {
  v: z.literal(1),
  eventId,
  eventIndex: z.int().nonnegative(),
  sessionId,
  dedupeKey,
};

export const eventScope = z.strictObject({ runId, nodeId: nodeId.optional() });

export type JournalEvent = z.infer<z.ZodObject<typeof journalEventFields>> & {
  readonly kind: string;
  readonly scope?: z.infer<typeof eventScope> | undefined;
  readonly data: unknown;
};

/** An event before it is appended: the journal adds its session, index and version. */
export type EventDraft<E extends JournalEvent> = E extends JournalEvent
  ? Omit<E, 'v' | 'eventIndex' | 'sessionId'>
  : never;

/** The schema of a journal's events, from their owner. */
export interface EventSchema<E extends JournalEvent> {
  readonly version: number;
  /** The event, or why the value is not one. */
  decode(value: unknown): Result<E, string>;
  /** The snapshots that an event refers to. */
  snapshotRefs(event: E): readonly Digest[];
  /** The canonical text of an event created by its owner, if there is a faster way than through its value. */
  canonicalText?(event: E): string;
}

export function eventSchema<E extends JournalEvent>(
  schema: z.ZodType<E>,
  snapshotRefs: (event: E) => readonly Digest[],
): EventSchema<E> {
  return {
    version: 1,
    snapshotRefs,
    decode(value) {
      const parsed = schema.safeParse(value);
      return parsed.success ? ok(parsed.data) : err(describeIssues(parsed.error));
    },
  };
}

/** The first problems in one line: `data.phase: Invalid option`. */
export function describeIssues(error: z.ZodError): string {
  const [first, ...rest] = error.issues;
  if (first === undefined) return 'invalid';
  const where = first.path.length === 0 ? '' : `${first.path.join('.')}: `;
  return `${where}${first.message}${rest.length === 0 ? '' : ` (and ${rest.length} more)`}`;
}
