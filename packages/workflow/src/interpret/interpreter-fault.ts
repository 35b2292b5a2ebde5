import type { Reason } from './reason.ts';

/** A snapshot or an event that does not fit the compiled workflow. Nothing was decided, and nothing changes. */
export interface InterpreterFault {
  readonly code:
    | 'unknown_step'
    | 'unknown_loop'
    | 'unknown_condition'
    | 'wrong_place'
    | 'iteration_over_limit'
    | 'no_pending_step'
    | 'not_the_pending_step'
    | 'completed_already'
    | 'already_started'
    | 'already_complete';
  /** The id of the fault's subject. */
  readonly id: string;
  readonly reason: string;
}

/**
 * A fault as a reason. Durable data that does not fit is corruption; a call at the wrong time is a protocol violation. Both
 * stop an advance, whatever the mode.
 */
export function faultReason(fault: InterpreterFault): Reason {
  const misuse = MISUSE.has(fault.code);
  return {
    reason: { category: 'unexpected', detail: misuse ? 'invariant_violation' : 'storage_corruption_detected' },
    pointer: { kind: 'workflow_step', stepId: pointedStep(fault.id) },
    message: `The walk cannot go on at ${fault.id}: ${fault.reason}.`,
    suggestedFix: misuse
      ? 'Ask for the place as it is now, and go on from what it says.'
      : 'Verify the session; go on from an earlier place of it that is sound, or start a new run.',
  };
}

const MISUSE: ReadonlySet<InterpreterFault['code']> = new Set([
  'no_pending_step',
  'not_the_pending_step',
  'already_started',
  'already_complete',
]);

/** The step of a key, or a name that a pointer can contain. */
function pointedStep(id: string): string {
  const name = (id.split('::').at(-1) ?? '').toLowerCase().replace(/[^a-z0-9_-]+/g, '_');
  return name === '' ? '_' : name.slice(0, 128);
}
