import type { Clock, ErrorEnvelope, Json, JsonObject, Result, Rng } from '@signalbox/model';
import type * as z from 'zod';
import type { Files } from '../filesystem/filesystem.ts';
import type { InnerCalls } from '../layers/inner-calls.ts';
import type { LayerEntry } from '../layers/layer.ts';
import type { SandboxMissingError } from '../sandbox/command-sandbox.ts';
import type { SessionView } from '../session/session-view.ts';
import type { Resources } from '../snapshots/resources.ts';

/**
 * The effects that a tool declares:
 * - `none`: nothing outside the session.
 * - `read-only`: it reads files.
 * - `files`: it changes files under the root; with `paths` only those, else any. With `beyond` it may also have other effects,
 *   which are not undone. With `onLayer` it can work on a layer of the root, if its context has one; `or-copy`: otherwise it works on a
 *   copy, and never in the root itself.
 * - `external`: it changes something that cannot be undone.
 */
export type ToolEffects<I> =
  | { readonly kind: 'none' }
  | { readonly kind: 'read-only' }
  | {
      readonly kind: 'files';
      readonly paths?: (input: I) => readonly string[];
      readonly beyond?: true;
      readonly onLayer?: true | 'or-copy';
    }
  | { readonly kind: 'external' };

export type ToolRisk = 'low' | 'medium' | 'high';

export interface Tool<I, O> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<I>;
  /** The JSON Schema that models see, where `input` was made from one. */
  readonly inputSchema?: JsonObject;
  readonly output: z.ZodType<O>;
  readonly risk: ToolRisk;
  readonly effects: ToolEffects<I>;
  /** Called before every call that policy allows: a tool that cannot run on this machine refuses here. */
  readonly ready?: (root: string | null) => Promise<Result<void, SandboxMissingError | ErrorEnvelope<'tool/refused'>>>;
  readonly handler: (input: I, context: ToolContext) => ToolReply<O> | Promise<ToolReply<O>>;
}

/**
 * A handler's result. Anything but success undoes its changes. With `hold`, changes made on a layer are not applied but held, for a
 * person to decide; or they are held only if they cannot be applied, so that the work is not lost.
 */
export type ToolReply<O> =
  | { readonly success: true; readonly value: O; readonly hold?: true | 'if-not-applied' }
  | { readonly success: false; readonly message: string; readonly value?: Json };

/** Everything a handler may use. After the call has ended it refuses all changes. */
export interface ToolContext {
  readonly callId: string;
  /** This call's own view: its changes are kept only if the call succeeds. */
  readonly session: SessionView;
  /** Refuses changes that the declared effects do not allow. */
  readonly files: Files;
  /** The working directory on the host, if any. */
  readonly root: string | null;
  /** The layer to start its program on, so that its changes can be dropped as a whole; absent if there is none. */
  readonly layer?: LayerEntry;
  /** With a layer: tells apart what the calls of its program change, so that each of them can be undone. */
  readonly inner?: InnerCalls;
  /** Absolute host paths that no tool may enter, inside the root or elsewhere. */
  readonly refused: readonly string[];
  readonly resources: Resources;
  readonly clock: Clock;
  readonly rng: Rng | null;
  readonly signal: AbortSignal;
  /** Shortens long text: up to a number of characters, without a partial secret at the end. */
  readonly cut: (text: string, most: number) => string;
}

/** A tool with its types erased, as a runner stores it. */
export type AnyTool = Tool<unknown, unknown>;

/** Type-checks a tool where it is defined, and erases its types. */
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

/** Thrown by a handler that needs the prompt to show more before it can run. Rethrown unchanged after the rollback. */
export class VisibilityExpansionRequired extends Error {
  override readonly name = 'VisibilityExpansionRequired';
  readonly sections: readonly string[];

  constructor(sections: readonly string[], reason: string) {
    super(reason);
    this.sections = sections;
  }
}

/** Thrown by a handler that checks the deadline itself. */
export class DeadlineExceededError extends Error {
  override readonly name = 'DeadlineExceededError';
}
