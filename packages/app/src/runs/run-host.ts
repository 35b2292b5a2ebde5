import type { ApprovalId, Digest, ErrorEnvelope, Json, Result, RunId } from '@signalbox/model';
import type { RunEnd } from '@signalbox/plan';
import type { Decision, Resolution, RunFeed, RunReader, StopConditions } from '@signalbox/runs';

/**
 * The runs of a data directory, in the process that owns it. Every surface asks it, and nothing else starts, moves or ends
 * a run.
 */
export interface RunHost {
  readonly reader: RunReader;
  readonly feed: RunFeed;
  /** Answers when the first commit of the run is durable. */
  start(request: StartRequest): Promise<Result<RunId, ErrorEnvelope>>;
  /** Goes on with a run that nothing drives. One that is driven already is told so: `run/driven`. */
  resume(run: RunId, options?: ResumeRequest): Promise<Result<RunId, ErrorEnvelope>>;
  /** Does something to a run, whether it is driven or not. Answers when it is recorded. */
  act(run: RunId, action: RunAction, by: string): Promise<Result<void, ErrorEnvelope>>;
  /** Answers a decision once, and tells the run that waits for it, if it is driven. */
  answer(decision: ApprovalId, answer: Answer, by: string): Promise<Result<Decision, ErrorEnvelope>>;
  /** How a run ended that this process drives; undefined for another. */
  finished(run: RunId): Promise<RunEnd> | undefined;
  /** Runs that are driven now. */
  driven(): readonly RunId[];
  /** Pauses what is driven, and lets go of everything. */
  close(): Promise<void>;
}

export interface StartRequest {
  /** The plan's file. */
  readonly file: string;
  readonly input: Json;
  readonly name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly correlationId?: string | undefined;
  readonly limits?: StopConditions | undefined;
  /** Where agents work; the folder of the plan's file unless told otherwise. */
  readonly directory?: string | undefined;
  /** A run that was started with the same key before is answered instead of a new one. */
  readonly idempotencyKey?: string | undefined;
}

export interface ResumeRequest {
  /** Goes on with the plan's files as they are now, not as the run kept them. */
  readonly useCurrent?: boolean | undefined;
}

export type RunAction =
  /** Nothing new starts; what runs may finish. */
  | { readonly kind: 'pause' }
  /** Cancels what runs, and waits for it. */
  | { readonly kind: 'stop'; readonly reason: string }
  /** Ends the run at once, without waiting for anything. */
  | { readonly kind: 'terminate'; readonly reason: string }
  | { readonly kind: 'retry' | 'cancel'; readonly node: string }
  | { readonly kind: 'signal'; readonly name: string; readonly payload: Json };

export interface Answer {
  readonly resolution: Resolution;
  /** The digest of what was shown; an answer to something else is void. */
  readonly proposalHash?: Digest | undefined;
}
