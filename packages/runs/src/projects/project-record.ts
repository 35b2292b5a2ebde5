import {
  asJson,
  chainHead,
  type Digest,
  digest,
  err,
  type Hasher,
  json,
  ok,
  projectId,
  type Result,
  text,
  timestamp,
} from '@signalbox/model';
import * as z from 'zod';
import { INLINE_MAX_BYTES } from '../artifacts/artifact-record.ts';
import { largeValue, parsedText, withLarge, withoutLarge } from '../log/large-values.ts';
import type { LogRecord } from '../log/record.ts';
import type { SealPorts } from '../log/seal-record.ts';

/** What a project's log keeps besides facts. A `thing` is found by its kind and id; the last record that names it counts. */
export const thingKind = z.enum([
  'agent',
  'brief',
  'decision',
  'event',
  'quarantined',
  'trust',
  'brake',
  'artifact',
  'issue',
  'audit',
]);
export type ThingKind = z.infer<typeof thingKind>;

const word = text.min(1).max(200);

const thing = z.strictObject({
  kind: thingKind,
  id: word,
  /** The agent it is about. */
  agent: word.optional(),
  /** What lists are filtered by: a status, or the type of an event. */
  status: word.optional(),
  value: json,
});
export type Thing = Readonly<z.infer<typeof thing>>;

const PROJECT_RECORD_VERSION = 1;

/**
 * One commit of a project, as stored: the same rules as for a run's record (`LogRecord`, R1 to R4). The body is a fact, and everything
 * that was decided because of it: reading it decides nothing.
 */
const projectHeader = z.strictObject({
  v: z.literal(PROJECT_RECORD_VERSION),
  log: projectId,
  of: z.literal('project'),
  /** Counts the commits of the log from 0. */
  n: z.int().nonnegative(),
  at: timestamp,
  /** Where the fact comes from. */
  who: z.enum(['person', 'agent', 'system']),
  blobs: z.array(digest).readonly().optional(),
  body: digest,
});
export type ProjectHeader = Readonly<z.infer<typeof projectHeader>>;

const projectBody = z.strictObject({
  salt: text,
  fact: json,
  things: z.array(thing).readonly(),
  large: z.array(largeValue).readonly().optional(),
});
type ProjectBody = Readonly<z.infer<typeof projectBody>>;

/** A commit without its place in the log. */
export type ProjectDraft = Pick<ProjectHeader, 'at' | 'who'> & Pick<ProjectBody, 'fact' | 'things'>;

export interface OpenProjectRecord {
  readonly header: ProjectHeader;
  readonly body: ProjectBody;
}

const LARGE_PLACES = [['fact'], ['things', '*', 'value']] as const;

/** The record of a commit, chained to the previous one. Values too large for it are first put into blobs. */
export function sealProjectRecord(
  { hasher, salt, putText }: SealPorts,
  before: Digest,
  { log, n }: Pick<ProjectHeader, 'log' | 'n'>,
  { at, who, fact, things }: ProjectDraft,
): LogRecord {
  const whole: ProjectBody = { salt: salt(), fact, things };
  let body = JSON.stringify(whole);
  let blobs: readonly Digest[] = [];
  // A UTF-16 unit takes at most three bytes: a short text holds nothing large.
  if (body.length * 3 > INLINE_MAX_BYTES) {
    const { small, large } = withoutLarge(asJson(whole), LARGE_PLACES, putText);
    if (large.length > 0) body = JSON.stringify({ ...(small as object), large });
    blobs = [...new Set(large.map(({ blob }) => blob))];
  }
  const header = JSON.stringify({
    v: PROJECT_RECORD_VERSION,
    log,
    of: 'project',
    n,
    at,
    who,
    ...(blobs.length === 0 ? {} : { blobs }),
    body: hasher(body),
  } satisfies ProjectHeader);
  return { header, body, hash: chainHead(hasher, before, header) };
}

export function openProjectHeader(header: string): Result<ProjectHeader, string> {
  const parsed = parsedText(header);
  const opened = parsed.ok ? projectHeader.safeParse(parsed.value) : undefined;
  return opened?.success === true ? ok(opened.data) : err('its header is not what a commit writes');
}

/**
 * Parses a record with its values from blobs in their places, or says why it is unreadable. Header, body and the body's digest are checked;
 * the chain is not: that takes the previous record.
 */
export function openProjectRecord(
  record: Pick<LogRecord, 'header' | 'body'>,
  hasher: Hasher,
  textOf: (blob: Digest) => string,
): Result<OpenProjectRecord, string> {
  const header = openProjectHeader(record.header);
  if (!header.ok) return header;
  if (hasher(record.body) !== header.value.body) return err('its body is not the one that its header names');
  const parsed = parsedText(record.body);
  const whole = parsed.ok ? withLarge(parsed.value, textOf) : parsed;
  if (!whole.ok) return whole;
  const body = projectBody.safeParse(whole.value);
  if (!body.success) return err(`its body is not what a commit writes, at ${body.error.issues[0]?.path.join('.')}`);
  return ok({ header: header.value, body: body.data });
}
