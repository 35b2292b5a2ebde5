import type { Json } from '../json.ts';
import {
  anchorOf,
  checkAt,
  type KnownSecret,
  type SecretMac,
  SHORTEST_SECRET,
  seedOf,
  windowAt,
} from './known-secret.ts';
import { type TokenShape, tokenShapes } from './token-shapes.ts';

/**
 * Takes secrets out of text and data: values that are known by a keyed hash, and tokens whose shape gives them away.
 *
 * 1. Text is read once, four characters at a time, however many secrets are known. Only where a secret may begin is more done.
 * 2. What was filtered once is not changed by filtering it again.
 * 3. A value without a secret is returned as it is, the same object.
 */
export interface SecretFilter {
  text(text: string): string;
  /** Bytes are left as they are. */
  data<T>(value: T): T;
  has(text: string): boolean;
  /**
   * How much of a text that goes on can be told apart from what may be the beginning of a secret: what lies behind waits for
   * the rest.
   */
  settled(text: string): number;
}

export interface SecretFilterOptions {
  readonly known: readonly KnownSecret[];
  readonly mac: SecretMac;
  /** All that are known, unless only some secret is looked for. */
  readonly shapes?: readonly TokenShape[];
}

interface Hit {
  /** Where its shape begins, which may be before the secret. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly isKnown: boolean;
}

/** What stands in the place of a secret. */
export function redactionMark(name: string): string {
  return `[redacted: ${name}]`;
}

const MAX_KEYS = 1000;
const KNOWN = 1;
const SHAPE = 2;
const WINDOW = 4;
/** What may follow the three characters that some shapes begin with. */
const ANY = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at));

export function createSecretFilter({ known, mac, shapes = tokenShapes }: SecretFilterOptions): SecretFilter {
  const seed = seedOf(mac);
  const table = new Uint8Array(1 << 16);
  const knownAt = new Map<number, KnownSecret[]>();
  for (const secret of known) {
    table[secret.anchor] = (table[secret.anchor] ?? 0) | KNOWN;
    const others = knownAt.get(secret.anchor);
    if (others === undefined) knownAt.set(secret.anchor, [secret]);
    else if (!others.some(other => other.mac === secret.mac)) others.push(secret);
  }
  const shapesAt = new Map<number, TokenShape[]>();
  for (const shape of shapes) {
    const heads = new Set(shape.starts.flatMap(fourOf).map(head => windowAt(head, 0)));
    for (const window of heads) {
      const anchor = anchorOf(window, seed);
      table[anchor] = (table[anchor] ?? 0) | SHAPE;
      const others = shapesAt.get(window);
      if (others === undefined) shapesAt.set(window, [shape]);
      else others.push(shape);
    }
  }

  /** Calls `found` with every place where a secret may begin, until it says that this is enough. */
  function scan(text: string, found: (start: number, kinds: number, window: number, anchor: number) => boolean): void {
    let window = 0;
    const { length } = text;
    for (let at = 0; at < length; at++) {
      window = (window << 8) | (text.charCodeAt(at) & 0xff);
      const anchor = Math.imul(window ^ seed, 0x9e3779b1) >>> 16;
      if (table[anchor] !== 0 && at >= WINDOW - 1) {
        if (found(at - WINDOW + 1, table[anchor] as number, window, anchor)) return;
      }
    }
  }

  function knownHit(text: string, start: number, anchor: number): Hit | undefined {
    if (start + SHORTEST_SECRET > text.length) return undefined;
    let check: number | undefined;
    let best: Hit | undefined;
    for (const secret of knownAt.get(anchor) ?? []) {
      const end = start + secret.length;
      if (end > text.length || (best !== undefined && end <= best.end)) continue;
      check ??= checkAt(text, start, seed);
      if (secret.check !== check || mac(text.slice(start, end)) !== secret.mac) continue;
      best = { from: start, start, end, name: secret.name, isKnown: true };
    }
    return best;
  }

  function shapeHit(text: string, start: number, window: number): Hit | undefined {
    for (const { name, starts, pattern } of shapesAt.get(window) ?? []) {
      if (!starts.some(head => text.startsWith(head, start))) continue;
      pattern.lastIndex = start;
      const match = pattern.exec(text);
      if (match === null) continue;
      const place = match.indices?.groups?.secret ?? match.indices?.[0];
      if (place !== undefined) return { from: start, start: place[0], end: place[1], name, isKnown: false };
    }
    return undefined;
  }

  function hitAt(text: string, start: number, kinds: number, window: number, anchor: number): Hit | undefined {
    const hit = (kinds & KNOWN) === 0 ? undefined : knownHit(text, start, anchor);
    return hit ?? ((kinds & SHAPE) === 0 ? undefined : shapeHit(text, start, window));
  }

  function hitsIn(text: string): readonly Hit[] {
    const hits: Hit[] = [];
    scan(text, (start, kinds, window, anchor) => {
      const hit = hitAt(text, start, kinds, window, anchor);
      if (hit !== undefined) hits.push(hit);
      return false;
    });
    return hits;
  }

  function filterText(text: string): string {
    if (text.length < SHORTEST_SECRET) return text;
    const hits = hitsIn(text);
    // A token that ran into another one begins a word where a mark ends.
    return hits.length === 0 ? text : filterText(withMarks(text, hits));
  }

  function filterData(value: unknown): unknown {
    if (typeof value === 'string') return filterText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return filterList(value);
    return ArrayBuffer.isView(value) ? value : filterMembers(value as { readonly [key: string]: Json });
  }

  function filterList(list: readonly unknown[]): readonly unknown[] {
    let made: unknown[] | undefined;
    for (let at = 0; at < list.length; at++) {
      const item = list[at];
      const kept = filterData(item);
      if (kept !== item) {
        made ??= list.slice();
        made[at] = kept;
      }
    }
    return made ?? list;
  }

  /** Keys come again and again: those without a secret are remembered for a while. */
  const plainKeys = new Set<string>();
  function isPlainKey(key: string): boolean {
    if (key.length < SHORTEST_SECRET || plainKeys.has(key)) return true;
    if (filterText(key) !== key) return false;
    if (plainKeys.size >= MAX_KEYS) plainKeys.clear();
    plainKeys.add(key);
    return true;
  }

  function filterMembers(object: { readonly [key: string]: Json }): object {
    let isChanged = false;
    for (const key in object) {
      if (filterData(object[key]) !== object[key] || !isPlainKey(key)) {
        isChanged = true;
        break;
      }
    }
    if (!isChanged) return object;
    return Object.fromEntries(Object.entries(object).map(([key, member]) => [filterText(key), filterData(member)]));
  }

  /** Whether what begins here may still become a secret, or one that is longer, when the text goes on. */
  function mayGrow(text: string, start: number, kinds: number, window: number, anchor: number): boolean {
    const { length } = text;
    if ((kinds & KNOWN) !== 0) {
      const isWhole = start + SHORTEST_SECRET <= length;
      const check = isWhole ? checkAt(text, start, seed) : undefined;
      for (const secret of knownAt.get(anchor) ?? []) {
        if (start + secret.length > length && (!isWhole || secret.check === check)) return true;
      }
    }
    if ((kinds & SHAPE) === 0 || length - start > LONGEST_TOKEN) return false;
    const rest = text.slice(start);
    return (shapesAt.get(window) ?? []).some(({ starts, pattern }) => {
      if (!starts.some(head => rest.startsWith(head) || head.startsWith(rest))) return false;
      pattern.lastIndex = start;
      const match = pattern.exec(text);
      // A match that ends before the text does has all that belongs to it.
      if (match !== null) return start + match[0].length === length;
      return starts.some(head =>
        head === PRIVATE_KEY ? rest.length < 64 : !ENDED.test(rest.slice(head.length).replace(ASSIGNED, '')),
      );
    });
  }

  return {
    text: filterText,
    data: <T>(value: T) => filterData(value) as T,
    has(text) {
      let isThere = false;
      if (text.length < SHORTEST_SECRET) return false;
      scan(text, (...place) => {
        isThere = hitAt(text, ...place) !== undefined;
        return isThere;
      });
      return isThere;
    },
    settled(text) {
      let settled = Math.max(0, text.length - (WINDOW - 1));
      scan(text, (start, ...place) => {
        if (start >= settled || !mayGrow(text, start, ...place)) return start >= settled;
        settled = start;
        return true;
      });
      // A secret that is whole goes out in one piece, with the character behind it that its shape looks at.
      for (const { from, end } of hitsIn(text)) if (from < settled && end >= settled) settled = from;
      return settled;
    },
  };
}

/**
 * Returns true if plain data holds no secret, by reading it as one text instead of value by value. Where JSON escapes nothing,
 * every key and value stands in the text as it is, between quotes, which belong to no secret. False says nothing.
 */
export function isCertainlyClean(filter: Pick<SecretFilter, 'has'>, value: object): boolean {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch {
    return false;
  }
  return !text.includes('\\') && !filter.has(text);
}

/** No shape is longer, and no private key. */
const LONGEST_TOKEN = 16_384;
const PRIVATE_KEY = '-----BEGIN ';
/** No token goes on behind these; the spaces between a word and its token come first. */
const ENDED = /\S\s|["'<>`]/;

/** Between a name and a value that only the name gives away. */
const ASSIGNED = /^\\?["']?\s{0,4}(?:[:=]\s{0,4}\\?["']?)?/;

function fourOf(start: string): readonly string[] {
  if (start.length >= WINDOW) return [start.slice(0, WINDOW)];
  return fourOfShorter([start]);
}

function fourOfShorter(starts: readonly string[]): readonly string[] {
  if ((starts[0]?.length ?? WINDOW) >= WINDOW) return starts;
  return fourOfShorter(starts.flatMap(start => ANY.map(next => start + next)));
}

/** Hits that overlap are one; it is called by what is known of it. */
function withMarks(text: string, hits: readonly Hit[]): string {
  const ordered = [...hits].sort((a, b) => a.start - b.start);
  const merged: Hit[] = [];
  for (const hit of ordered) {
    const last = merged.at(-1);
    if (last === undefined || hit.start >= last.end) {
      merged.push(hit);
      continue;
    }
    const named = hit.isKnown && !last.isKnown ? hit : last;
    merged[merged.length - 1] = { ...named, start: last.start, end: Math.max(last.end, hit.end) };
  }
  let kept = '';
  let from = 0;
  for (const { start, end, name } of merged) {
    kept += text.slice(from, start) + redactionMark(name);
    from = end;
  }
  return kept + text.slice(from);
}
