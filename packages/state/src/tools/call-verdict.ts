import { failure, thrownMessage } from '@signalbox/model';
import { thrownReason } from '../filesystem/system-reason.ts';
import type { HandlerEnd } from './handler-run.ts';
import { type AnyTool, DeadlineExceededError, ToolValidationError, VisibilityExpansionRequired } from './tool.ts';
import type { Rollback, ToolFailure, ToolOutcome } from './tool-outcome.ts';
import type { ProviderToolCall } from './tool-runner.ts';

/** What to do after a handler has ended. */
export interface Verdict {
  readonly outcome: ToolOutcome;
  readonly succeeded: boolean;
  /** The evaluation ends with this call. */
  readonly deadline: boolean;
  /** Rethrown unchanged, after everything else. */
  readonly rethrow?: VisibilityExpansionRequired;
}

/**
 * Never throws: replies, thrown values and schemas come from other code, and a call whose reply cannot be judged has failed
 * like any other.
 */
export function judged(call: ProviderToolCall, tool: AnyTool, end: HandlerEnd, rollback: Rollback): Verdict {
  try {
    return judgedEnd(call, tool, end, rollback);
  } catch (cause) {
    const reason = `its result could not be checked: ${thrownMessage(cause)}`;
    return unanswered(call, tool, 'tool/invalid-output', reason, rollback);
  }
}

function judgedEnd(call: ProviderToolCall, tool: AnyTool, end: HandlerEnd, rollback: Rollback): Verdict {
  switch (end.kind) {
    case 'replied':
      return judgedReply(call, tool, end.reply, rollback);
    case 'threw':
      return judgedThrow(call, tool, end.cause, rollback);
    case 'not-begun': {
      const error = toolFailure('tool/canceled', call, tool, 'it was canceled before it began');
      return { outcome: { status: 'failed', error, rollback }, succeeded: false, deadline: false };
    }
    case 'canceled': {
      // An external tool that answered after all reported what happened.
      if (tool.effects.kind === 'external' && end.late?.kind === 'replied') {
        return judged(call, tool, end.late, rollback);
      }
      const reason = rollback.kind === 'waiting' ? 'it was canceled, but is still running' : 'it was canceled';
      return unanswered(call, tool, 'tool/canceled', reason, rollback);
    }
  }
}

function judgedReply(call: ProviderToolCall, tool: AnyTool, reply: unknown, rollback: Rollback): Verdict {
  if (!isReply(reply)) return unanswered(call, tool, 'tool/invalid-output', 'it did not return a result', rollback);
  if (!reply.success) {
    const error = toolFailure('tool/failed', call, tool, thrownMessage(reply.message));
    const { value } = reply;
    const given = value === undefined ? {} : { value };
    return { outcome: { status: 'failed', error, ...given, rollback }, succeeded: false, deadline: false };
  }
  const output = tool.output.safeParse(reply.value);
  if (!output.success) {
    return unanswered(
      call,
      tool,
      'tool/invalid-output',
      `its result is not valid: ${output.error.issues[0]?.message}`,
      rollback,
    );
  }
  return { outcome: { status: 'succeeded', value: output.data, warnings: [] }, succeeded: true, deadline: false };
}

function judgedThrow(call: ProviderToolCall, tool: AnyTool, cause: unknown, rollback: Rollback): Verdict {
  const reason = thrownReason(cause);
  if (cause instanceof VisibilityExpansionRequired) {
    const error = toolFailure('tool/failed', call, tool, reason);
    return { outcome: { status: 'failed', error, rollback }, succeeded: false, deadline: false, rethrow: cause };
  }
  if (cause instanceof ToolValidationError) {
    const error = toolFailure('tool/invalid-input', call, tool, reason);
    return { outcome: { status: 'failed', error, rollback }, succeeded: false, deadline: false };
  }
  const deadline = cause instanceof DeadlineExceededError;
  return { ...unanswered(call, tool, deadline ? 'tool/deadline' : 'tool/failed', reason, rollback), deadline };
}

/** A call without a usable answer: failed if its changes can be undone, otherwise unknown. */
function unanswered(
  call: ProviderToolCall,
  tool: AnyTool,
  code: ToolFailure['code'],
  reason: string,
  rollback: Rollback,
): Verdict {
  if (tool.effects.kind !== 'external') {
    return {
      outcome: { status: 'failed', error: toolFailure(code, call, tool, reason), rollback },
      succeeded: false,
      deadline: false,
    };
  }
  const error = failure('tool/outcome-unknown', {
    message: `call ${call.id} of ${tool.name} began and gave no answer: ${reason}. It may or may not have happened`,
    suggestion: 'Find out whether it happened before calling again.',
  });
  return { outcome: { status: 'unknown', error }, succeeded: false, deadline: false };
}

function toolFailure(code: ToolFailure['code'], call: ProviderToolCall, tool: AnyTool, reason: string): ToolFailure {
  return failure(code, {
    message: `call ${call.id} of ${call.name} failed: ${reason}`,
    suggestion: adviceOf(tool),
  });
}

function adviceOf({ effects }: AnyTool): string {
  if (effects.kind === 'external') return 'Its effects, if any, were not undone. Check them before calling again.';
  if (effects.kind !== 'files') return 'It changed nothing. Correct the cause before calling again.';
  return effects.beyond === true
    ? 'Its changes in the working directory were undone, as the rollback says; its effects elsewhere were not. Check those before calling again.'
    : 'Its changes were undone, as the rollback says. Correct the cause before calling again.';
}

function isReply(
  value: unknown,
): value is { success: true; value: unknown } | { success: false; message: string; value?: never } {
  return typeof value === 'object' && value !== null && 'success' in value && typeof value.success === 'boolean';
}
