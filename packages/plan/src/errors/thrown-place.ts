import { defined, type ThrownPlace } from '@signalbox/model';
import { PlanError, type SourcePosition } from '../plan-error.ts';
import type { CleanData } from '../state/clean-data.ts';
import { authorText, isAuthorFile } from './author-files.ts';
import { type Circumstances, circumstancesOf } from './circumstances.ts';
import { authorFrames, frameText } from './stack-frames.ts';

/**
 * Where the author's code threw, with an excerpt, the element and the state it had read. Without a frame in the author's files it is the
 * place of the element; undefined if even that is unknown.
 *
 * The excerpt is data like any other (R42): the whole file is searched for secrets before lines are taken from it.
 */
export function thrownPlace(thrown: unknown, given: Circumstances, clean: CleanData): ThrownPlace | undefined {
  const cause = causeOf(thrown);
  const frames = authorFrames(cause);
  const { element, reads } = { ...given, ...circumstancesOf(thrown), ...circumstancesOf(cause) };
  const written = cause instanceof PlanError ? cause.source : undefined;
  const outer = thrown instanceof PlanError ? thrown.source : undefined;
  const place = written ?? frames.find(({ file }) => isAuthorFile(file)) ?? outer ?? element?.source;
  if (place === undefined) return undefined;
  const keys = keysOf([...(reads ?? []), ...(element?.reads ?? [])]);
  return clean({
    ...positionOf(place),
    ...defined({ code: excerptOf(place, clean) }),
    ...(frames.length > 0 && { stack: frames.slice(0, MAX_FRAMES).map(frame => cut(frameText(frame))) }),
    ...(element !== undefined && {
      element: {
        kind: element.kind,
        ...defined({ id: element.id }),
        ...(element.source !== undefined && { at: positionOf(element.source) }),
      },
    }),
    ...(keys.length > 0 && { reads: keys }),
  });
}

const MAX_FRAMES = 12;
const MAX_KEYS = 20;
const MAX_LINE = 240;
/** Lines before and after the place. */
const AROUND = 2;

/** The engine wraps what an author's code throws: the fault is in what it wraps. */
function causeOf(thrown: unknown): unknown {
  let at = thrown;
  while (at instanceof PlanError && at.cause instanceof Error) at = at.cause;
  return at;
}

function excerptOf({ file, line }: SourcePosition, clean: CleanData): ThrownPlace['code'] {
  const text = authorText(file);
  if (text === undefined) return undefined;
  const lines = text.split(/\r?\n/);
  const shown = clean(lines.join('\n').toWellFormed()).split('\n');
  // A removed secret that spanned lines moves the ones after it.
  if (shown.length !== lines.length || line > lines.length) return undefined;
  const from = Math.max(1, line - AROUND);
  return {
    from,
    text: shown
      .slice(from - 1, line + AROUND)
      .map(cut)
      .join('\n'),
  };
}

function cut(text: string): string {
  return text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE).toWellFormed()}…`;
}

function positionOf({ file, line, column }: SourcePosition): SourcePosition {
  return { file, line: Math.max(1, line), column: Math.max(1, column) };
}

/** Keys of state; loops, files and queries are read under other names. */
function keysOf(reads: readonly string[]): readonly string[] {
  const keys = reads.filter(key => !/^(?:loop|db|query|file):/.test(key));
  return [...new Set(keys)].sort().slice(0, MAX_KEYS);
}
