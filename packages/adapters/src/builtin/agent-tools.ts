import type { AnyTool, HeldChanges, HeldChoice, ToolOutcome, ToolRunner } from '@signalbox/state';

/** The tools of one attempt, and what runs them. */
export interface AgentTools {
  readonly runner: ToolRunner;
  readonly tools: readonly AnyTool[];
  /**
   * What became of a call that had begun when an earlier attempt was cut off. Without it, a call whose effects can be undone
   * counts as undone. `held`: it succeeded, and its changes wait for a person.
   */
  fateOf?(call: string): Promise<'committed' | 'undone' | 'held'>;
  /** Changes of a call that somebody else's are in the way of; undefined where there are none. */
  held?(call: string): HeldChanges | undefined;
  /** Ends a call whose changes are held. Undefined where the directory changed again: it has to be asked anew. */
  settle?(call: string, choice: HeldChoice): Promise<ToolOutcome | undefined>;
  close(): Promise<void>;
}
