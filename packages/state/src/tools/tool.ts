import type { Clock, ErrorEnvelope, Json, Result, Rng } from '@signalbox/model';
import type * as z from 'zod';
import type { Files } from '../filesystem/filesystem.ts';
import type { LayerEntry } from '../layers/layer.ts';
import type { SandboxMissingError } from '../sandbox/command-sandbox.ts';
import type { SessionView } from '../session/session-view.ts';
import type { Resources } from '../snapshots/resources.ts';

/**
 * What a tool can do to the world, as it declares it:
 * - `none`: nothing outside the session.
 * - `read-only`: it reads files.
 * - `files`: it changes files under the root; with `paths` only those, else any. With `beyond` it may also change something
 *   else, which is not undone. With `onLayer` it can work on a layer of the root, if its context has one.
 * - `external`: it changes something that cannot be undone.
 */
export type ToolEffects<I> =
  | { readonly kind: 'none' }
  | { readonly kind: 'read-only' }
  | {
      readonly kind: 'files';
      readonly paths?: (input: I) => readonly string[];
      readonly beyond?: true;
      readonly onLayer?: true;
    }
  | { readonly kind: 'external' };

export type ToolRisk = 'low' | 'medium' | 'high';

export interface Tool<I, O> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<I>;
  readonly output: z.ZodType<O>;
  readonly risk: ToolRisk;
  readonly effects: ToolEffects<I>;
  /** Asked before every call that policy allows: a tool that cannot run on this machine refuses it here. */
  readonly ready?: (root: string | null) => Promise<Result<void, SandboxMissingError | ErrorEnvelope<'tool/refused'>>>;
  readonly handler: (input: I, context: ToolContext) => ToolReply<O> | Promise<ToolReply<O>>;
}

/** What a handler answers. Anything but success undoes what it did. */
export type ToolReply<O> =
  | { readonly success: true; readonly value: O }
  | { readonly success: false; readonly message: string; readonly value?: Json };

/** Everything a handler may use. After the call has ended it no longer lets anything be changed. */
export interface ToolContext {
  readonly callId: string;
  /** This call's own view: what it changes is kept only if the call succeeds. */
  readonly session: SessionView;
  /** Refuses what the declared effects do not allow. */
  readonly files: Files;
  /** The working directory on the host, where there is one. */
  readonly root: string | null;
  /** What its program has to be started on, so that its changes can be dropped as a whole; absent where there is none. */
  readonly layer?: LayerEntry;
  /** What no tool may enter on the host, inside the root or elsewhere: absolute paths. */
  readonly refused: readonly string[];
  readonly resources: Resources;
  readonly clock: Clock;
  readonly rng: Rng | null;
  readonly signal: AbortSignal;
  /** What is too long to be told is cut by this: at most so many characters, and no part of a secret at the end. */
  readonly cut: (text: string, most: number) => string;
}

/** A tool with its types forgotten, as a runner keeps it. */
export type AnyTool = Tool<unknown, unknown>;

/** Checks a tool where it is written, and forgets its types. */
export function defineTool<I, O>(tool: Tool<I, O>): AnyTool {
  return tool as unknown as AnyTool;
}

export const succeed = <O>(value: O): ToolReply<O> => ({ success: true, value });
export const fail = (message: string, value?: Json): ToolReply<never> =>
  value === undefined ? { success: false, message } : { success: false, message, value };

/** Thrown by a handler whose input is well-formed but makes no sense. */
export class ToolValidationError extends Error {
  override readonly name = 'ToolValidationError';
}

/** Thrown by a handler that needs the prompt to show more before it can run. Passed on as it is, after the rollback. */
export class VisibilityExpansionRequired extends Error {
  override readonly name = 'VisibilityExpansionRequired';
  readonly sections: readonly string[];

  constructor(sections: readonly string[], reason: string) {
    super(reason);
    this.sections = sections;
  }
}

/** Thrown by a handler that looks at the deadline itself. */
export class DeadlineExceededError extends Error {
  override readonly name = 'DeadlineExceededError';
}
