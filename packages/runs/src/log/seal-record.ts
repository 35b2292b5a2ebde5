import { asJson, chainHead, type Digest, type Hasher, type Json, type Timestamp, utf8Length } from '@signalbox/model';
import { INLINE_MAX_BYTES } from '../artifacts/artifact-record.ts';
import { packBody } from './packed-body.ts';
import { type LogRecord, RECORD_VERSION, type RecordBody, type RecordDraft, type RecordHeader } from './record.ts';

export interface SealPorts {
  readonly hasher: Hasher;
  /** Random, never reused. */
  readonly salt: () => string;
  /** Stores a text durably as a blob and names it. */
  readonly putText: (text: string) => Digest;
}

/** The record of a commit, chained to the previous one. Values too large for it are first put into blobs. */
export function sealRecord(
  { hasher, salt, putText }: SealPorts,
  before: Digest,
  facts: Omit<RecordHeader, 'v' | 'blobs' | 'body'>,
  draft: RecordDraft,
): LogRecord {
  const { body, blobs } = sealBody({ salt, putText }, draft, facts.at);
  const header = JSON.stringify({
    v: RECORD_VERSION,
    ...facts,
    ...(blobs.length === 0 ? {} : { blobs }),
    body: hasher(body),
  } satisfies RecordHeader);
  return { header, body, hash: chainHead(hasher, before, header) };
}

/** A body with its salt, and the blobs that it names. `at` is the time of its record. */
export function sealBody(
  { salt, putText }: Omit<SealPorts, 'hasher'>,
  draft: RecordDraft,
  at: Timestamp,
): { readonly body: string; readonly blobs: readonly Digest[] } {
  const written: RecordBody = { salt: salt(), ...draft };
  const body = JSON.stringify(packBody(written, at));
  // A UTF-16 unit takes at most three bytes: a short text holds nothing large.
  if (body.length * 3 <= INLINE_MAX_BYTES) return { body, blobs: blobsOf(written) };
  const small = withoutLarge(written, putText);
  return { body: small === written ? body : JSON.stringify(packBody(small, at)), blobs: blobsOf(small) };
}

/** Paths where plain data of any size may be; '*' stands for every item. */
const LARGE_PLACES: readonly (readonly string[])[] = [
  ['run', 'run', 'input'],
  ['run', 'change', 'output'],
  ['run', 'change', 'error'],
  ['frame'],
  ['intervals', '*', 'change', 'value'],
  ['intervals', '*', 'change', 'steps'],
  ['transitions', '*', 'change', 'value'],
  ['transitions', '*', 'change', 'steps'],
  ['tasks', '*', 'result'],
  ['tasks', '*', 'lastError'],
  ['decisions', '*', 'proposal'],
  ['decisions', '*', 'resolution'],
  ['artifacts', '*', 'content'],
  ['artifacts', '*', 'provenance'],
  ['artifacts', '*', 'diff'],
  ['stream', '*', 'payload'],
  ['events', '*'],
];

function withoutLarge(body: RecordBody, putText: SealPorts['putText']): RecordBody {
  const large: { at: (string | number)[]; blob: Digest }[] = [];

  function visit(value: Json, pattern: readonly string[], at: (string | number)[]): Json {
    const [key, ...rest] = pattern;
    if (key === undefined) {
      const text = JSON.stringify(value);
      if (text.length * 3 <= INLINE_MAX_BYTES || utf8Length(text) <= INLINE_MAX_BYTES) return value;
      large.push({ at, blob: putText(text) });
      return null;
    }
    if (key === '*') {
      if (!Array.isArray(value)) return value;
      const items = value.map((item, index) => visit(item as Json, rest, [...at, index]));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const member = (value as { readonly [key: string]: Json })[key];
    if (member === undefined) return value;
    const kept = visit(member, rest, [...at, key]);
    return kept === member ? value : { ...value, [key]: kept };
  }

  const small = LARGE_PLACES.reduce((value, pattern) => visit(value, pattern, []), asJson(body));
  // Still the body, with null in place of large values; `large` says where.
  return large.length === 0 ? body : ({ ...(small as unknown as RecordBody), large } satisfies RecordBody);
}

/** Blobs that a body requires. */
export function blobsOf({ large, begins }: RecordBody): readonly Digest[] {
  if (large === undefined && begins === undefined) return [];
  const names = new Set<Digest>(large?.map(({ blob }) => blob));
  const held = [
    ...(begins?.intervals.map(({ value }) => value) ?? []),
    ...(begins?.tasks.flatMap(({ result }) => (result === undefined ? [] : [result])) ?? []),
  ];
  for (const value of held) if ('blob' in value) names.add(value.blob);
  return [...names];
}
