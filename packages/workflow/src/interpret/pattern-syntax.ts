import { err, ok, type Result } from '@signalbox/model';

/**
 * Reads a regular expression into a tree. The platform says whether a pattern is valid and which single characters an
 * atom matches; only the structure is read here, so every class, escape and property means what it means elsewhere.
 */
export function parsePattern(pattern: string, flags: string): Result<PatternTree, PatternFault> {
  if (pattern.length > PATTERN_MAX_LENGTH) {
    return err({ code: 'unsupported', reason: `the pattern is longer than ${PATTERN_MAX_LENGTH} characters` });
  }
  try {
    new RegExp(pattern, flags);
  } catch {
    return err({ code: 'invalid', reason: 'the pattern is not a valid regular expression' });
  }
  if (/[vy]/.test(flags)) return err({ code: 'unsupported', reason: 'the flags v and y are not supported' });
  const reader: Reader = {
    source: pattern,
    at: 0,
    unicode: flags.includes('u'),
    atomFlags: [...flags].filter(flag => 'isu'.includes(flag)).join(''),
    groups: countGroups(pattern),
    refused: undefined,
  };
  const tree = readAlternatives(reader);
  return reader.refused === undefined ? ok(tree) : err({ code: 'unsupported', reason: reader.refused });
}

export type PatternTree =
  /** The test of a single character is created on first use. */
  | { readonly kind: 'character'; readonly test: () => RegExp }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternTree[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternTree[] }
  | { readonly kind: 'repeat'; readonly part: PatternTree; readonly min: number; readonly max: number }
  | { readonly kind: 'assertion'; readonly assertion: Assertion };

export type Assertion =
  | { readonly kind: 'start' | 'end' | 'word_boundary' | 'no_word_boundary' }
  | { readonly kind: 'look'; readonly behind: boolean; readonly negative: boolean; readonly part: PatternTree };

export interface PatternFault {
  readonly code: 'invalid' | 'unsupported' | 'too_costly';
  readonly reason: string;
}

export const PATTERN_MAX_LENGTH = 2000;

interface Reader {
  readonly source: string;
  at: number;
  readonly unicode: boolean;
  readonly atomFlags: string;
  readonly groups: number;
  refused: string | undefined;
}

/** Skips to the end of the pattern; the tree is not used. */
function refuse(reader: Reader, reason: string): PatternTree {
  reader.refused = reason;
  reader.at = reader.source.length;
  return { kind: 'sequence', parts: [] };
}

function readAlternatives(reader: Reader): PatternTree {
  const parts = [readSequence(reader)];
  while (reader.source[reader.at] === '|') {
    reader.at++;
    parts.push(readSequence(reader));
  }
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind: 'choice', parts };
}

function readSequence(reader: Reader): PatternTree {
  const parts: PatternTree[] = [];
  while (reader.at < reader.source.length && !'|)'.includes(reader.source.charAt(reader.at))) {
    parts.push(readRepeat(reader, readTerm(reader)));
  }
  return { kind: 'sequence', parts };
}

function readTerm(reader: Reader): PatternTree {
  switch (reader.source[reader.at]) {
    case '^':
      reader.at++;
      return { kind: 'assertion', assertion: { kind: 'start' } };
    case '$':
      reader.at++;
      return { kind: 'assertion', assertion: { kind: 'end' } };
    case '(':
      return readGroup(reader);
    case '[':
      return atom(reader, classLength(reader));
    case '\\':
      return readEscape(reader);
    default:
      return atom(reader, reader.unicode && (reader.source.codePointAt(reader.at) ?? 0) > 0xffff ? 2 : 1);
  }
}

function readGroup(reader: Reader): PatternTree {
  const opening = /^\((?:\?(?:(<?[=!])|:|<[^>]*>))?/.exec(reader.source.slice(reader.at));
  if (opening === null || (opening[0] === '(' && reader.source[reader.at + 1] === '?')) {
    return refuse(reader, 'modifiers inside a pattern are not supported');
  }
  reader.at += opening[0].length;
  const part = readAlternatives(reader);
  reader.at++;
  const look = opening[1];
  if (look === undefined) return part;
  const assertion = { kind: 'look', behind: look.startsWith('<'), negative: look.endsWith('!'), part } as const;
  return { kind: 'assertion', assertion };
}

function readEscape(reader: Reader): PatternTree {
  const rest = reader.source.slice(reader.at);
  if (/^\\[bB]/.test(rest)) {
    reader.at += 2;
    return { kind: 'assertion', assertion: { kind: rest[1] === 'b' ? 'word_boundary' : 'no_word_boundary' } };
  }
  const reference = /^\\([1-9]\d*)/.exec(rest);
  if (
    (reference !== null && (reader.unicode || Number(reference[1]) <= reader.groups)) ||
    (rest.startsWith('\\k') && (reader.unicode || reader.source.includes('(?<')))
  ) {
    return refuse(reader, 'references back to a group are not supported');
  }
  const form = reader.unicode
    ? /^\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|[pP]\{[^}]*\}|[\s\S])/u
    : /^\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|[0-3][0-7]{0,2}|[4-7][0-7]?|(?=c)|[\s\S])/;
  return atom(reader, form.exec(rest)?.[0].length ?? 1);
}

/** The length of a class, including brackets. An escaped `]` does not end it. */
function classLength(reader: Reader): number {
  let end = reader.at + 1;
  while (reader.source[end] !== ']') end += reader.source[end] === '\\' ? 2 : 1;
  return end + 1 - reader.at;
}

function atom(reader: Reader, length: number): PatternTree {
  const source = reader.source.slice(reader.at, reader.at + length);
  reader.at += length;
  // A syntax character that is ordinary on its own may not be ordinary here.
  const safe = '{}]'.includes(source) || source === '\\' ? `\\${source}` : source;
  const { atomFlags } = reader;
  let test: RegExp | undefined;
  return {
    kind: 'character',
    test() {
      test ??= new RegExp(`^${safe}$`, atomFlags);
      return test;
    },
  };
}

function readRepeat(reader: Reader, part: PatternTree): PatternTree {
  const quantifier = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/.exec(reader.source.slice(reader.at));
  if (quantifier === null) return part;
  reader.at += quantifier[0].length;
  const [, sign, from, comma, to] = quantifier;
  if (sign !== undefined) {
    return { kind: 'repeat', part, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Number.POSITIVE_INFINITY };
  }
  const min = Number(from);
  const max = comma === undefined ? min : to === undefined || to === '' ? Number.POSITIVE_INFINITY : Number(to);
  return { kind: 'repeat', part, min, max };
}

function countGroups(pattern: string): number {
  const withoutClasses = pattern.replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]/g, '');
  return [...withoutClasses.matchAll(/\((?!\?)|\(\?<(?![=!])/g)].length;
}
