import { type Json, json } from '@signalbox/model';
import { filesystem } from '../filesystem/filesystem.ts';
import { LayerRefused } from '../layers/layer.ts';
import type { ExecutionState } from '../snapshots/execution-state.ts';
import { guardedFiles } from './guarded-files.ts';
import type { AnyTool } from './tool.ts';

/** How a check of held changes ended. `not-run`: it could not be started, and says nothing about the changes. */
export type HeldCheck =
  | { readonly kind: 'passed'; readonly value: Json }
  | { readonly kind: 'failed'; readonly reason: string; readonly value?: Json }
  | { readonly kind: 'not-run'; readonly reason: string };

/**
 * Runs a tool that works on layers on the directory as the held changes of a call would leave it. Whatever the tool writes is dropped:
 * neither the directory nor the held changes have anything of it.
 */
export async function checkHeldCall(options: {
  readonly state: ExecutionState;
  readonly callId: string;
  readonly tool: AnyTool;
  readonly input: unknown;
  readonly signal: AbortSignal;
}): Promise<HeldCheck> {
  const { state, callId, tool, signal } = options;
  const files = state.resources.get(filesystem);
  if (files?.layering === undefined) return { kind: 'not-run', reason: 'there are no layers here' };
  const input = tool.input.safeParse(options.input);
  if (!input.success) return { kind: 'not-run', reason: input.error.issues[0]?.message ?? 'its input is not valid' };
  const ready = await tool.ready?.(files.root);
  if (ready?.ok === false) return { kind: 'not-run', reason: ready.error.message };
  const opened = await files.layering.openHeld(callId);
  if (!opened.ok) return { kind: 'not-run', reason: opened.error.message };
  const layer = opened.value;
  const { resources, clock, rng, cut } = state;
  try {
    const reply = await tool.handler(input.data, {
      ...{ callId, resources, clock, rng, cut, signal },
      ...{ root: files.root, refused: files.refused, layer: layer.entry },
      session: state.session.begin().view,
      files: guardedFiles(files, 'nothing', () => false),
    });
    if (reply.success) return { kind: 'passed', value: plain(reply.value) };
    return { kind: 'failed', reason: reply.message, ...(reply.value !== undefined && { value: reply.value }) };
  } catch (cause) {
    if (cause instanceof LayerRefused) return { kind: 'not-run', reason: cause.message };
    throw cause;
  } finally {
    layer.drop();
  }
}

function plain(value: unknown): Json {
  const parsed = json.safeParse(value);
  return parsed.success ? parsed.data : null;
}
