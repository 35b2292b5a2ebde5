/** The health of a session's journal. */
export type SessionHealth = 'healthy' | 'corrupt_tail' | 'corrupt_head' | 'unknown_version';

/** What may be done with a session in a given health. */
export interface SessionGate {
  /** Advance, checkpoint, mint tokens, be offered for resuming. */
  readonly mayExecute: boolean;
  /** Inspect and export the valid part. */
  readonly mayInspect: boolean;
  /** Only a valid prefix is shown or exported, and must be marked as such. */
  readonly isSalvaged: boolean;
}

const gates: Readonly<Record<SessionHealth, SessionGate>> = {
  healthy: { mayExecute: true, mayInspect: true, isSalvaged: false },
  corrupt_tail: { mayExecute: false, mayInspect: true, isSalvaged: true },
  corrupt_head: { mayExecute: false, mayInspect: false, isSalvaged: true },
  unknown_version: { mayExecute: false, mayInspect: false, isSalvaged: true },
};

export function sessionGate(health: SessionHealth): SessionGate {
  return gates[health];
}
