import { hash } from 'node:crypto';
import type { Digest, Json } from '@signalbox/model';
import { plainText } from '../state/plain-text.ts';

/**
 * The digest of everything in a frame, updated by changes: the sum, modulo 2^256, of the digests of all entries. Entries may come and go in
 * any order; equal contents have equal digests. A long list is itself a sum over its items, so appending costs only what was added.
 */
export interface FrameDigest {
  set(space: string, key: string, value: Json | undefined): void;
  readonly value: Digest;
}

const MODULUS = 1n << 256n;
const LONG_LIST = 32;

export function createFrameDigest(): FrameDigest {
  const entries = new Map<string, bigint>();
  const lists = new Map<string, LongList>();
  /** Entries that are not in the sum yet, by place: repeated changes before a read count once. */
  const unsummed = new Map<string, readonly [space: string, key: string, value: Json | undefined]>();
  let sum = 0n;

  function add(place: string, space: string, key: string, value: Json | undefined): void {
    sum -= entries.get(place) ?? 0n;
    const list = isLongList(value) ? longList(value, lists.get(place)) : undefined;
    if (list === undefined) lists.delete(place);
    else lists.set(place, list);
    if (value === undefined) entries.delete(place);
    else {
      const part = numberOf(`[${JSON.stringify(space)},${JSON.stringify(key)},${shownText(value, list)}]`);
      entries.set(place, part);
      sum += part;
    }
    sum = positive(sum);
  }

  return {
    set: (space, key, value) => void unsummed.set(`${space} ${key}`, [space, key, value]),
    get value() {
      for (const [place, [space, key, value]] of unsummed) add(place, space, key, value);
      unsummed.clear();
      return `sha256:${hash('sha256', sum.toString(16).padStart(64, '0'), 'hex')}` as Digest;
    },
  };
}

interface LongList {
  readonly items: readonly Json[];
  readonly sum: bigint;
}

/** The sum over the items, continued from the previous list where both begin alike. */
function longList(items: readonly Json[], before: LongList = { items: [], sum: 0n }): LongList {
  let same = 0;
  while (same < items.length && same < before.items.length && Object.is(items[same], before.items[same])) same++;
  let { sum } = before;
  for (let at = same; at < before.items.length; at++) sum -= numberOf(`[${at},${plainText(before.items[at] ?? null)}]`);
  for (let at = same; at < items.length; at++) sum += numberOf(`[${at},${plainText(items[at] ?? null)}]`);
  return { items, sum: positive(sum) };
}

function isLongList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value) && value.length > LONG_LIST;
}

/** Canonical JSON of an entry's value, written directly: every changed entry of every frame has one. */
function shownText(value: Json, list: LongList | undefined): string {
  if (list === undefined) return `{"value":${plainText(value)}}`;
  return `{"items":"${list.sum.toString(16)}","length":${list.items.length}}`;
}

function numberOf(text: string): bigint {
  return BigInt(`0x${hash('sha256', text, 'hex')}`);
}

function positive(sum: bigint): bigint {
  return sum >= 0n && sum < MODULUS ? sum : ((sum % MODULUS) + MODULUS) % MODULUS;
}
