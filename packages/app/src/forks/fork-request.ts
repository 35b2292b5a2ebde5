import type { Json } from '@signalbox/model';
import type { PersonsWord } from '../host/plan-places.ts';

/** A moment of a run, and the options of a run that continues from it. */
export interface ForkRequest extends PersonsWord {
  readonly at: ForkMoment;
  readonly name?: string | undefined;
  /** Replaces the parent's input. */
  readonly input?: Json | undefined;
  /** Changes the input of the node, at a moment of one. */
  readonly nodeInput?: Json | undefined;
  /** Another input changes the meaning of the run: the caller has seen both. */
  readonly confirmed?: boolean | undefined;
  /** An empty directory for it, which gets the files of that moment as far as tool calls recorded them. */
  readonly directory?: string | undefined;
  /** Do not start it at once. */
  readonly paused?: boolean | undefined;
  /** Trusts the plan of an imported run from now on; set by a person at the command line. */
  readonly trust?: boolean | undefined;
  /** The caller knows that outside effects since then remain. */
  readonly acceptEffects?: boolean | undefined;
}

export type ForkMoment =
  | { readonly kind: 'frame'; readonly frame: number }
  /** Right before a tool call of an agent, or right after it. */
  | { readonly kind: 'call'; readonly call: string; readonly after?: boolean | undefined }
  /** When a node's last work started. */
  | { readonly kind: 'node'; readonly node: string };
