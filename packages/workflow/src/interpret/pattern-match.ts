import { err, ok, type Result } from '@signalbox/model';
import { type Assertion, type PatternFault, type PatternTree, parsePattern } from './pattern-syntax.ts';

/**
 * Whether a text contains a match of a pattern, in time proportional to `text × pattern`. Patterns and texts come from files
 * and agents, so the platform's backtracking matcher is not used on them.
 *
 * P1. All paths through the pattern are followed at once, each place at most once per character.
 * P2. A lookaround is a property of a position: it is computed for all positions in one pass.
 * P3. More than `PATTERN_MAX_STEPS` is refused. Parsing a pattern and expanding its places counts too.
 */
export function testPattern(
  pattern: { readonly source: string; readonly flags?: string | undefined },
  text: string,
  effort: Effort = { steps: PATTERN_MAX_STEPS },
): Result<boolean, PatternFault> {
  const flags = (pattern.flags ?? '').replace(/[dg]/g, '');
  effort.steps -= pattern.source.length * STEPS_OF_READING;
  if (effort.steps < 0) return err({ code: 'too_costly', reason: TOO_MANY_STEPS });
  const tree = parsePattern(pattern.source, flags);
  if (!tree.ok) return tree;
  const subject: Subject = {
    characters: flags.includes('u') ? Array.from(text) : text.split(''),
    multiline: flags.includes('m'),
    effort,
    refused: undefined,
  };
  const found = matchEnds(tree.value, subject, false).includes(1);
  return subject.refused === undefined ? ok(found) : err({ code: 'too_costly', reason: subject.refused });
}

/** Maximum number of places visited, over all characters of the text. */
export const PATTERN_MAX_STEPS = 8_000_000;

const TOO_MANY_STEPS = `matching takes more than ${PATTERN_MAX_STEPS} steps`;

/** The cost in steps of parsing a pattern character, and of expanding a place. */
const STEPS_OF_READING = 20;
const STEPS_OF_WRITING = 8;

/** The remaining budget, shared by all matches of one decision. */
export interface Effort {
  steps: number;
}

/** Maximum number of places of a pattern with its counted repeats expanded. */
export const PATTERN_MAX_PLACES = 5_000;

interface Subject {
  readonly characters: readonly string[];
  readonly multiline: boolean;
  readonly effort: Effort;
  refused: string | undefined;
}

type Place =
  | { readonly kind: 'character'; readonly test: RegExp; readonly known: Map<string, boolean>; next: number }
  | { readonly kind: 'split'; readonly to: number[] }
  | { readonly kind: 'assertion'; readonly holds: (position: number) => boolean; next: number }
  | { readonly kind: 'accept' };

/**
 * For every position of the text, 1 if a match ends there. With pattern and text reversed, it marks where a match begins.
 */
function matchEnds(tree: PatternTree, subject: Subject, backwards: boolean): Uint8Array {
  const program: Place[] = [{ kind: 'accept' }];
  const start = emit(tree, 0, program, subject, backwards);
  const length = subject.characters.length;
  const ends = new Uint8Array(length + 1);
  if (subject.refused !== undefined) return ends;
  const mark = new Int32Array(program.length).fill(-1);
  let current: number[] = [];
  for (let read = 0; read <= length; read++) {
    const position = backwards ? length - read : read;
    const character = read === length ? undefined : subject.characters[backwards ? position - 1 : position];
    const waiting = [...current, start];
    current = [];
    while (waiting.length > 0) {
      const at = waiting.pop() ?? 0;
      if (mark[at] === read) continue;
      mark[at] = read;
      if (--subject.effort.steps < 0) {
        subject.refused = TOO_MANY_STEPS;
        return ends;
      }
      const place = program[at];
      if (place === undefined) continue;
      if (place.kind === 'accept') ends[position] = 1;
      else if (place.kind === 'split') waiting.push(...place.to);
      else if (place.kind === 'assertion') {
        if (place.holds(position)) waiting.push(place.next);
      } else if (character !== undefined && matches(place, character)) current.push(place.next);
    }
  }
  return ends;
}

function matches(place: Extract<Place, { kind: 'character' }>, character: string): boolean {
  const known = place.known.get(character);
  if (known !== undefined) return known;
  const answer = place.test.test(character);
  place.known.set(character, answer);
  return answer;
}

/** Emits the places of a tree so that they lead to `next`, and returns the first. */
function emit(tree: PatternTree, next: number, program: Place[], subject: Subject, backwards: boolean): number {
  switch (tree.kind) {
    case 'character':
      return add(program, { kind: 'character', test: tree.test(), known: new Map(), next }, subject);
    case 'sequence':
      return (backwards ? tree.parts : tree.parts.toReversed()).reduce(
        (following, part) => emit(part, following, program, subject, backwards),
        next,
      );
    case 'choice':
      return add(
        program,
        {
          kind: 'split',
          to: tree.parts.map(part => emit(part, next, program, subject, backwards)),
        },
        subject,
      );
    case 'repeat':
      return emitRepeat(tree, next, program, subject, backwards);
    case 'assertion':
      return add(program, { kind: 'assertion', holds: predicate(tree.assertion, subject), next }, subject);
  }
}

function emitRepeat(
  tree: Extract<PatternTree, { kind: 'repeat' }>,
  next: number,
  program: Place[],
  subject: Subject,
  backwards: boolean,
): number {
  let following = next;
  if (tree.max === Number.POSITIVE_INFINITY) {
    const to = [next];
    following = add(program, { kind: 'split', to }, subject);
    to.push(emit(tree.part, following, program, subject, backwards));
  } else {
    for (let count = tree.min; count < tree.max && subject.refused === undefined; count++) {
      const once = emit(tree.part, following, program, subject, backwards);
      following = add(program, { kind: 'split', to: [once, next] }, subject);
    }
  }
  for (let count = 0; count < tree.min && subject.refused === undefined; count++) {
    const before = program.length;
    following = emit(tree.part, following, program, subject, backwards);
    // Repeating nothing is nothing: a count of billions is not expanded.
    if (program.length === before) break;
  }
  return following;
}

function add(program: Place[], place: Place, subject: Subject): number {
  subject.effort.steps -= STEPS_OF_WRITING;
  if (subject.effort.steps < 0) subject.refused = TOO_MANY_STEPS;
  else if (program.length < PATTERN_MAX_PLACES) return program.push(place) - 1;
  else subject.refused = `the pattern has more than ${PATTERN_MAX_PLACES} places`;
  return 0;
}

function predicate(assertion: Assertion, subject: Subject): (position: number) => boolean {
  const { characters, multiline } = subject;
  const lineEnds = (index: number) => multiline && LINE_END.test(characters[index] ?? '');
  const isWord = (index: number) => WORD.test(characters[index] ?? '');
  switch (assertion.kind) {
    case 'start':
      return position => position === 0 || lineEnds(position - 1);
    case 'end':
      return position => position === characters.length || lineEnds(position);
    case 'word_boundary':
      return position => isWord(position - 1) !== isWord(position);
    case 'no_word_boundary':
      return position => isWord(position - 1) === isWord(position);
    case 'look': {
      let found: Uint8Array | undefined;
      return position => {
        found ??= matchEnds(assertion.part, subject, !assertion.behind);
        return (found[position] === 1) !== assertion.negative;
      };
    }
  }
}

const LINE_END = /^[\n\r\u2028\u2029]$/;
const WORD = /^\w$/;
