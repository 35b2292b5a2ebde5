import type { Timers } from './timers.ts';
import type { AnyTool, ToolContext, ToolReply } from './tool.ts';

/** How a handler ended. `late` is its outcome after it was told to stop; null if it may still be running. */
export type HandlerEnd =
  | { readonly kind: 'replied'; readonly reply: ToolReply<unknown> }
  | { readonly kind: 'threw'; readonly cause: unknown }
  /** Canceled before it began. */
  | { readonly kind: 'not-begun' }
  | {
      readonly kind: 'canceled';
      readonly late: HandlerEnd | null;
      /** Settles when a still running handler has ended. Never rejects. */
      readonly over: Promise<unknown>;
    };

/** How long to wait for an aborted handler before the rollback begins. */
const GRACE_MS = 2000;

/**
 * Runs a handler until it ends or is canceled. The only point at which a call waits for its handler.
 * An aborted handler gets some time to stop, so that it does not write during the rollback.
 */
export async function runHandler(
  tool: AnyTool,
  input: unknown,
  context: (signal: AbortSignal) => ToolContext,
  limits: { readonly signal?: AbortSignal; readonly timers: Timers },
): Promise<HandlerEnd> {
  if (limits.signal?.aborted) return { kind: 'not-begun' };
  const aborter = new AbortController();
  const running = settle(tool, input, context(aborter.signal));
  let cancel = () => {};
  const canceled = new Promise<'canceled'>(resolve => {
    cancel = () => resolve('canceled');
  });
  // The handler may have run for a while already, and the cancellation with it.
  if (limits.signal?.aborted) cancel();
  limits.signal?.addEventListener('abort', cancel, { once: true });
  try {
    const first = await Promise.race([running, canceled]);
    if (typeof first === 'object') return first;
    aborter.abort(limits.signal?.reason);
    return { kind: first, late: await withinGrace(running, limits.timers), over: running };
  } finally {
    limits.signal?.removeEventListener('abort', cancel);
  }
}

async function settle(tool: AnyTool, input: unknown, context: ToolContext): Promise<HandlerEnd> {
  try {
    return { kind: 'replied', reply: await tool.handler(input, context) };
  } catch (cause) {
    return { kind: 'threw', cause };
  }
}

async function withinGrace(running: Promise<HandlerEnd>, timers: Timers): Promise<HandlerEnd | null> {
  let forget = () => {};
  const grace = new Promise<null>(resolve => {
    forget = timers.after(GRACE_MS, () => resolve(null));
  });
  const late = await Promise.race([running, grace]);
  forget();
  return late;
}
