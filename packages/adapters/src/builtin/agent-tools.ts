import type { AnyTool, ToolRunner } from '@signalbox/state';

/** The tools of one attempt, and what runs them. */
export interface AgentTools {
  readonly runner: ToolRunner;
  readonly tools: readonly AnyTool[];
  /**
   * What became of a call that had begun when an earlier attempt was cut off. Without it, a call whose effects can be undone
   * counts as undone.
   */
  fateOf?(call: string): Promise<'committed' | 'undone'>;
  close(): Promise<void>;
}
