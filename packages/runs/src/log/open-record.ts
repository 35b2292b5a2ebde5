import { asJson, type Digest, err, type Hasher, type Json, ok, type Result, type Timestamp } from '@signalbox/model';
import { parsedText, withLarge } from './large-values.ts';
import { type Packed, unpackBody } from './packed-body.ts';
import { type LogRecord, type RecordBody, type RecordHeader, recordBody, recordHeader } from './record.ts';

/** A parsed record. */
export interface OpenRecord {
  readonly header: RecordHeader;
  readonly body: RecordBody;
  /** Of the stored body: the one that the header names, unless the body was replaced. */
  readonly digest: Digest;
}

/** Parses the header of a record, or says why it is invalid. */
export function openHeader(text: string): Result<RecordHeader, string> {
  const parsed = parsedText(text);
  if (parsed.ok && isPlainHeader(text)) return ok(parsed.value as unknown as RecordHeader);
  const header = parsed.ok ? recordHeader.safeParse(parsed.value) : undefined;
  return header?.success === true ? ok(header.data) : err('its header is not what a commit writes');
}

const NUMBER = '(?:0|[1-9][0-9]{0,14})';
const PLAIN_HEADER = new RegExp(
  '^{"v":1,"log":"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",' +
    `"n":${NUMBER},"at":"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z)","who":"(?:driver|outside)",` +
    `"version":[1-9][0-9]{0,14},"seq":${NUMBER},"events":${NUMBER},"body":"sha256:[0-9a-f]{64}"}$`,
);

/** A header has one form, so a valid one is recognized by it: reading a long log spends much of its time here. */
function isPlainHeader(text: string): boolean {
  const at = PLAIN_HEADER.exec(text)?.[1];
  if (at === undefined) return false;
  const time = new Date(at);
  return !Number.isNaN(time.valueOf()) && time.toISOString() === at;
}

/**
 * Parses a record's header and body, with values from blobs in their places, or says why it is unreadable. The body's digest is checked, so
 * it is what was committed; for a replaced body, the caller checks it against the record that replaced it. The chain is not checked: that
 * takes the previous record. Without `textOf`, values in blobs are null.
 */
export function openRecord(
  { header: headerText, body: bodyText }: Pick<LogRecord, 'header' | 'body'>,
  hasher: Hasher,
  textOf?: (blob: Digest) => string,
): Result<OpenRecord, string> {
  const header = openHeader(headerText);
  if (!header.ok) return header;
  const digest = hasher(bodyText);
  const parsed = parseBody(bodyText, header.value.at);
  if (digest !== header.value.body && !(parsed.ok && isReplaced(parsed.value))) {
    return err('its body is not the one that its header names');
  }
  if (!parsed.ok) return parsed;
  const whole = textOf === undefined ? ok(parsed.value) : withLarge(parsed.value, textOf);
  // Its digest is that of a body that a commit wrote, or the caller checks it.
  return whole.ok ? ok({ header: header.value, body: whole.value as unknown as RecordBody, digest }) : whole;
}

/** The same for an untrusted record: its body is also checked against its schema. */
export function openForeignRecord(...given: Parameters<typeof openRecord>): Result<OpenRecord, string> {
  const opened = openRecord(...given);
  if (!opened.ok) return opened;
  const body = recordBody.safeParse(opened.value.body);
  if (!body.success) return err(`its body is not what a commit writes, at ${body.error.issues[0]?.path.join('.')}`);
  // As written: a schema may reorder members.
  return opened;
}

function isReplaced(body: Json): boolean {
  return typeof (body as { readonly away?: { readonly by?: Json } } | null)?.away?.by === 'number';
}

function parseBody(text: string, at: Timestamp): Result<Json, string> {
  const parsed = parsedText(text);
  if (!parsed.ok) return parsed;
  try {
    // A body of any other form throws, or does not have the header's digest.
    return ok(asJson(unpackBody(parsed.value as unknown as Packed, at)));
  } catch {
    return err('its body is not what a commit writes');
  }
}
