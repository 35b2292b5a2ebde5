import type { AnyTool, HeldChanges, HeldCheck, HeldChoice, ToolOutcome, ToolRunner } from '@signalbox/state';

/** The tools of one attempt, and their runner. */
export interface AgentTools {
  readonly runner: ToolRunner;
  readonly tools: readonly AnyTool[];
  /** Names of tools that are offered unless they are denied: those of MCP servers. */
  readonly always?: readonly string[];
  /**
   * The outcome of a call that was under way when an earlier attempt was cut off. Without it, a call whose effects can be undone
   * counts as undone. `held`: it succeeded, and its changes wait for a person.
   */
  fateOf?(call: string): Promise<'committed' | 'undone' | 'held'>;
  /** Changes of a call that conflict with somebody else's; undefined if there are none. */
  held?(call: string): HeldChanges | undefined;
  /** The same compared with the directory as it is now, if that has changed since they were shown. `keep` once that is shown. */
  heldNow?(call: string): Promise<{ readonly held: HeldChanges; keep(): Promise<void> } | undefined>;
  /** The effect of held changes on the directory, as text for people. */
  heldDiff?(call: string): Promise<string>;
  /** Runs a command for the shell on the directory with the held changes of a call. What it writes is dropped. */
  check?(call: string, command: string, signal: AbortSignal): Promise<HeldCheck>;
  /** Ends a call whose changes are held. Changes that git would run are applied only if a person chose. Undefined if the directory changed again: the person must be asked again. */
  settle?(call: string, choice: HeldChoice, by: 'person' | 'plan'): Promise<ToolOutcome | undefined>;
  close(): Promise<void>;
}
