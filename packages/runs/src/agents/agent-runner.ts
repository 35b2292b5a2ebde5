import type { Json, JsonObject, RunId } from '@signalbox/model';
import type { DecisionKind, Resolution } from '../decisions/decision.ts';
import type { NodeKey, TaskId } from '../ids.ts';
import type { CallReport } from '../rate-limits/model-standing.ts';
import type { ModelName } from '../rate-limits/rate-limits.ts';
import type { StreamChunk } from '../stream/stream-chunk.ts';
import type { TaskError } from '../tasks/task-error.ts';
import type { Allowance } from '../usage/stop-check.ts';
import type { UsageRecord } from '../usage/usage.ts';

/**
 * Does the work of agent nodes, behind one boundary for every vendor.
 *
 * 1. One call is one attempt of one task. A task that was blocked or cut off is called again with the same task id, and
 *    finds what the attempts before it kept in its session.
 * 2. Whatever happens is an outcome. It throws only what is a bug.
 * 3. It ends soon after the session's signal is aborted.
 */
export interface AgentRunner {
  run(brief: AgentBrief, session: AgentSession): Promise<AgentOutcome>;
}

/** What an agent is asked to do: plain data. */
export interface AgentBrief {
  readonly run: RunId;
  readonly task: TaskId;
  readonly node: NodeKey;
  readonly iteration: number;
  /** 1 for the first try. */
  readonly attempt: number;
  /** The vendor that the plan names, `any` where it names none. */
  readonly vendor: 'any' | 'claude' | 'codex' | 'gemini' | 'openai';
  readonly plugin?: string;
  /** As the plan wrote it: `provider:model`, or the vendor's name of a model. */
  readonly model?: string;
  readonly prompt: string;
  readonly system?: string;
  readonly tools?: { readonly allow?: readonly string[] | undefined; readonly deny?: readonly string[] | undefined };
  /** Whether a person must allow what changes something. What is risky is asked for anyway. */
  readonly permissions: 'gated' | 'skip';
  /** A JSON Schema that the output must fit; without one it is text. */
  readonly schema?: JsonObject;
  readonly maxTurns: number;
  readonly maxTokens?: number;
  readonly history?: { readonly maxMessages?: number | undefined; readonly maxTokens?: number | undefined };
  /** What to do with what an earlier attempt kept. */
  readonly resume: 'continue' | 'restart' | 'fail';
  /** An absolute path: the agent's files. */
  readonly directory: string;
  /** An absolute path: what the plan says relative to its own file lies here. */
  readonly planDirectory: string;
}

/** What an agent has of its run. Everything that is awaited is durable when it returns. */
export interface AgentSession {
  readonly signal: AbortSignal;
  /** The messages that earlier attempts of this task kept, in order. */
  transcript(): Promise<readonly Json[]>;
  /** Adds messages to the transcript. Returns them as they are kept, without secrets: the agent goes on from these (R42). */
  keep(messages: readonly Json[]): Promise<readonly Json[]>;
  /** Shows what the agent says while it works. It is kept soon, many chunks at once. */
  stream(kind: Exclude<StreamChunk['kind'], 'message'>, payload: Json): void;
  /**
   * Asked before every call of a model: waits for the model's window and a free place. The place is given back with
   * `release`, with how the call went; one that the provider refused holds everybody back. It answers or rejects soon after
   * the session's signal is aborted.
   */
  admit(model: ModelName): Promise<CallAdmission>;
  /** What a call spent, once it is known; `call` is unique in the run, and the same when it is told again. */
  spend(usage: Omit<UsageRecord, 'node' | 'task' | 'at'>): Promise<void>;
  /** The person's answer, or undefined while there is none; asked once, whoever asks again. */
  decide(question: AgentQuestion): Promise<Resolution | undefined>;
}

export type CallAdmission =
  /** `left` is what the call may spend, where a limit says so. */
  | { readonly kind: 'go'; readonly left?: Allowance | undefined; release(report?: CallReport): void }
  /** A limit of the run or of one above it is reached. `waits` names what must happen first, if a person was asked. */
  | { readonly kind: 'stop'; readonly reason: string; readonly waits?: string };

export interface AgentQuestion {
  /** Which call of the agent is meant, unique in the node: the same for the same call after a crash. */
  readonly call: string;
  readonly kind: DecisionKind;
  /** Everything a person needs to see. */
  readonly proposal: Json;
}

export type AgentOutcome =
  | { readonly kind: 'done'; readonly output: Json }
  | { readonly kind: 'failed'; readonly error: TaskError }
  /** It cannot go on before a person answered, or before something else that the reason names. */
  | { readonly kind: 'blocked'; readonly reason: string };
