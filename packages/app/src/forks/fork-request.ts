import type { Json } from '@signalbox/model';
import type { PersonsWord } from '../host/plan-places.ts';

/** A moment of a run, and what a run that goes on from it is to be. */
export interface ForkRequest extends PersonsWord {
  readonly at: ForkMoment;
  readonly name?: string | undefined;
  /** Instead of the input of the parent. */
  readonly input?: Json | undefined;
  /** Another input changes what the run means: whoever asks has seen both. */
  readonly confirmed?: boolean | undefined;
  /** An empty directory of its own, which gets the files of that moment as far as tool calls recorded them. */
  readonly directory?: string | undefined;
  /** It is not taken up at once. */
  readonly paused?: boolean | undefined;
  /** The plan of a run that was imported is trusted from now on; a person at the command line says so. */
  readonly trust?: boolean | undefined;
  /** It is known that the world keeps what happened since. */
  readonly acceptEffects?: boolean | undefined;
}

export type ForkMoment =
  | { readonly kind: 'frame'; readonly frame: number }
  /** Right before a tool call of an agent, or right after it. */
  | { readonly kind: 'call'; readonly call: string; readonly after?: boolean | undefined }
  /** When the work of a node began that it did last. */
  | { readonly kind: 'node'; readonly node: string };
