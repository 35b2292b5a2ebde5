import type { ToolInvocation } from '../session/tool-invoked.ts';
import { toolInvokedEvent } from '../session/tool-invoked.ts';
import type { ExecutionState } from '../snapshots/execution-state.ts';

/** Reports a call without waiting; errors are swallowed here. */
export function announce(
  state: ExecutionState,
  listener: ((invocation: ToolInvocation) => unknown) | undefined,
  invocation: ToolInvocation,
): void {
  try {
    state.session.dispatch(toolInvokedEvent, invocation);
    Promise.resolve(listener?.(invocation)).catch(() => {});
  } catch {
    // Telemetry is best effort: the call has ended and its outcome stands.
  }
}
