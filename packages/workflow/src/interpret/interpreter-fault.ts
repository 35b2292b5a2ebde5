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
  /** The id that the fault is about. */
  readonly id: string;
  readonly reason: string;
}
