import { asJson, chainHead, type Digest, type Hasher, type Timestamp } from '@signalbox/model';
import { INLINE_MAX_BYTES } from '../artifacts/artifact-record.ts';
import { withoutLarge } from './large-values.ts';
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
  const { small, large } = withoutLarge(asJson(written), LARGE_PLACES, putText);
  if (large.length === 0) return { body, blobs: blobsOf(written) };
  // Still the body, with null in place of large values; `large` says where.
  const kept = { ...(small as unknown as RecordBody), large } satisfies RecordBody;
  return { body: JSON.stringify(packBody(kept, at)), blobs: blobsOf(kept) };
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
