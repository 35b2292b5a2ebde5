import type { SourcePosition } from '../plan-error.ts';

/** What the engine was calling when code threw. */
export interface Circumstances {
  readonly element?: CalledElement | undefined;
  readonly reads?: ReadonlySet<string> | undefined;
}

/** The element whose code is called; a node is one. */
export interface CalledElement {
  readonly kind: string;
  readonly id?: string | undefined;
  readonly source?: SourcePosition | undefined;
  /** The keys that the render which made the element had read: its code may have taken their values along. */
  readonly reads?: ReadonlySet<string> | undefined;
}

const noted = new WeakMap<object, Circumstances>();

/** Remembers in which call a value was thrown; the innermost call counts. */
export function noteCircumstances(thrown: unknown, found: Circumstances): void {
  if (typeof thrown !== 'object' || thrown === null) return;
  noted.set(thrown, { ...found, ...noted.get(thrown) });
}

export function circumstancesOf(thrown: unknown): Circumstances {
  return (typeof thrown === 'object' && thrown !== null && noted.get(thrown)) || {};
}
