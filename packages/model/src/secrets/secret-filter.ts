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
 * Redacts secrets in text and data: values known by a keyed hash, and tokens recognised by their format.
 *
 * 1. Text is read once, four characters at a time, however many secrets are known. More work is done only where one may begin.
 * 2. Filtering is idempotent.
 * 3. A value without a secret is returned unchanged, as the same object.
 */
export interface SecretFilter {
  text(text: string): string;
  /** Bytes are left unchanged. */
  data<T>(value: T): T;
  has(text: string): boolean;
  /**
   * How much of an unfinished text cannot be the beginning of a secret: the rest must wait for more text.
   */
  settled(text: string): number;
}

export interface SecretFilterOptions {
  readonly known: readonly KnownSecret[];
  readonly mac: SecretMac;
  /** All known secrets, unless only one is searched for. */
  readonly shapes?: readonly TokenShape[];
}

interface Hit {
  /** Where its match begins, which may be before the secret. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly isKnown: boolean;
}

/** The replacement for a secret. */
export function redactionMark(name: string): string {
  return `[redacted: ${name}]`;
}

const MAX_KEYS = 1000;
const KNOWN = 1;
const SHAPE = 2;
const WINDOW = 4;
/** What may follow the first three characters of some formats. */
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

  /** Calls `found` with every position where a secret may begin, until it returns false. */
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
    // A token directly after another one begins a word where a mark ends.
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

  /** Keys repeat: those without a secret are cached for a while. */
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

  /** Whether the text from here may still become a secret, or a longer one, with more text. */
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
      // A match that ends before the text is complete.
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
      scan(text, (start, kinds, window, anchor) => {
        isThere = hitAt(text, start, kinds, window, anchor) !== undefined;
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
      // A complete secret is emitted in one piece, with the following character that its pattern checks.
      for (const { from, end } of hitsIn(text)) if (from < settled && end >= settled) settled = from;
      return settled;
    },
  };
}

/**
 * Returns true if plain data contains no secret, by reading it as one text instead of value by value. If JSON escapes nothing,
 * every key and value appears verbatim between quotes, which are part of no secret. False means unknown.
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

/** No format and no private key is longer. */
const LONGEST_TOKEN = 16_384;
const PRIVATE_KEY = '-----BEGIN ';
/** No token continues after these; the spaces between a word and its token come first. */
const ENDED = /\S\s|["'<>`]/;

/** Separators between a name and a value that is recognised by the name. */
const ASSIGNED = /^\\?["']?\s{0,4}(?:[:=]\s{0,4}\\?["']?)?/;

function fourOf(start: string): readonly string[] {
  if (start.length >= WINDOW) return [start.slice(0, WINDOW)];
  return fourOfShorter([start]);
}

function fourOfShorter(starts: readonly string[]): readonly string[] {
  if ((starts[0]?.length ?? WINDOW) >= WINDOW) return starts;
  return fourOfShorter(starts.flatMap(start => ANY.map(next => start + next)));
}

/** Overlapping hits are merged; a known name takes precedence. */
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
