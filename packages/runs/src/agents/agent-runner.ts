import type { Digest, Json, JsonObject, Resolution, RunId } from '@signalbox/model';
import type { DecisionKind } from '../decisions/decision.ts';
import type { SubagentOfCall } from '../events/internal-event.ts';
import type { NodeKey, TaskId } from '../ids.ts';
import type { CallReport } from '../rate-limits/model-standing.ts';
import type { ModelName } from '../rate-limits/rate-limits.ts';
import type { StreamChunk } from '../stream/stream-chunk.ts';
import type { TaskError } from '../tasks/task-error.ts';
import type { Allowance, CallEstimate } from '../usage/stop-check.ts';
import type { UsageRecord } from '../usage/usage.ts';
import type { OwnToolDefinition, OwnToolPort } from './own-tools.ts';

/**
 * Does the work of agent nodes, behind one boundary for every vendor.
 *
 * 1. One call is one attempt of one task. A blocked or interrupted task is called again with the same task id, and finds the transcript of
 *    earlier attempts in its session.
 * 2. Every result is an outcome. Only bugs throw.
 * 3. It ends soon after the session's signal is aborted; with the reason `HALT`, as soon as its process can be ended.
 */
export interface AgentRunner {
  run(assignment: Assignment, session: AgentSession): Promise<AgentOutcome>;
}

/** Why a signal is aborted: nobody wants to give the agent time to end by itself. */
export const HALT = 'halt';

/** An agent's assignment, as plain data. */
export interface Assignment {
  readonly run: RunId;
  readonly task: TaskId;
  readonly node: NodeKey;
  readonly iteration: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The vendor that the plan names; `any` if it names none. */
  readonly vendor: 'any' | 'claude' | 'codex' | 'gemini' | 'openai';
  readonly plugin?: string;
  /** As written in the plan: `provider:model`, or the vendor's model name. */
  readonly model?: string;
  readonly prompt: string;
  readonly system?: string;
  readonly tools?: {
    readonly allow?: readonly string[] | undefined;
    readonly deny?: readonly string[] | undefined;
    readonly own?: readonly OwnToolDefinition[] | undefined;
  };
  /** MCP servers whose tools it is given besides. */
  readonly mcp?: readonly McpServerOffer[];
  /** Whether a person must approve changes. Risky calls always need approval. */
  readonly permissions: 'gated' | 'skip';
  /**
   * When its changes reach the directory: at the end of its turn (`auto`, the default), after a person saw them, or never. `hold`: they
   * stay held when the turn is over, for a `Keep` of the plan.
   */
  readonly apply?: 'ask' | 'auto' | 'never' | 'hold';
  /** A command for the shell that is run on its changes before they are applied. With `auto` they are applied only if it succeeds. */
  readonly check?: string;
  /** A JSON Schema for the output; without one the output is text. */
  readonly schema?: JsonObject;
  readonly maxTurns: number;
  readonly maxTokens?: number;
  readonly history?: { readonly maxMessages?: number | undefined; readonly maxTokens?: number | undefined };
  /** What to do with the transcript of an earlier attempt. */
  readonly resume: 'continue' | 'restart' | 'fail';
  /** An absolute path: the agent's working directory. */
  readonly directory: string;
  /** An absolute path: the base of the plan's relative paths. */
  readonly planDirectory: string;
}

export interface McpServerOffer {
  readonly command?: readonly string[] | undefined;
  readonly url?: string | undefined;
  /** The server's tools that are offered. */
  readonly allow: readonly string[];
  readonly prefix?: string | undefined;
  /** The name of an environment variable whose value is sent to the address as a bearer token. */
  readonly token?: string | undefined;
  /** Names of environment variables that it may see. */
  readonly env?: readonly string[] | undefined;
}

/** An agent's access to its run. Every awaited call is durable when it returns. */
export interface AgentSession {
  readonly signal: AbortSignal;
  /** The messages that this task kept so far, in order; among them what people wrote to the agent, also meanwhile. */
  transcript(): Promise<readonly Json[]>;
  /** Adds messages to the transcript. Returns them as stored, without secrets: the agent continues from these (R42). */
  keep(messages: readonly Json[]): Promise<readonly Json[]>;
  /** Publishes the agent's output while it works. It is stored soon after, many chunks at once. */
  stream(kind: Exclude<StreamChunk['kind'], 'message'>, payload: Json): void;
  /** An update of the vendor's own protocol that has no form here, for who wants to count or see it. */
  vendor?(eventType: string, payload: Json): void;
  /**
   * Call before every model call: waits for the model's window and a free slot. `release` frees the slot and reports how the call went; if
   * the provider refused it, all callers wait. Settles soon after the session's signal is aborted. With an estimate, that much is reserved
   * until `release`, which is called once the spending is recorded: a call that does not fit waits for others, or is stopped.
   */
  admit(model: ModelName, estimate?: CallEstimate): Promise<CallAdmission>;
  /** Records what a call spent; `call` is unique in the run, and the same if recorded again. */
  spend(usage: Omit<UsageRecord, 'node' | 'task' | 'at'>): Promise<void>;
  /** Where the meter records calls of models. Without it, they are not metered. */
  readonly calls?: CallLog;
  /** The person's answer, or undefined while there is none. Asking again does not open a second question. */
  decide(question: AgentQuestion): Promise<Resolution | undefined>;
  /** Like decide, but waits: the answer, or undefined once `ms` passed or the session's signal is aborted. */
  answered(question: AgentQuestion, ms: number): Promise<Resolution | undefined>;
  /** Calls the tools that the plan brings along. */
  readonly own?: OwnToolPort | undefined;
}

/** The calls of models in a run's log. Every one is durable when it returns. */
export interface CallLog {
  /** A call is about to go to its model. */
  began(call: BegunCall): Promise<void>;
  /** What became of a call, with what it spent, if anything. */
  ended(call: EndedCall, usage?: Omit<UsageRecord, 'node' | 'task' | 'at' | 'call'>): Promise<void>;
  /** A call was refused at a limit. */
  refused(call: CallOfModel & { readonly reason: string }): Promise<void>;
}

/** A call of a model. `call` is unique in its task. */
export interface CallOfModel extends ModelName {
  readonly call: string;
  /** The subagent that makes it; `null` if the agent itself does, undefined if nobody knows. */
  readonly subagent?: SubagentOfCall | null | undefined;
}

/** With the tokens and the cost that it may take. */
interface BegunCall extends CallOfModel {
  readonly input: number;
  readonly output: number;
  readonly costMicroUsd?: number | undefined;
}

interface EndedCall extends CallOfModel {
  readonly outcome: 'answered' | 'refused' | 'cut';
  readonly status?: number | undefined;
  /** What the provider did not tell: it is estimated, or has no price. */
  readonly unknown: readonly ('input' | 'output' | 'cost')[];
  /** Blobs with what went to the model and came back. */
  readonly request?: Digest | undefined;
  readonly answer?: Digest | undefined;
}

export type CallAdmission =
  /** `left` is what the call may spend, if a limit applies. */
  | { readonly kind: 'go'; readonly left?: Allowance | undefined; release(report?: CallReport): void }
  /** A limit of the run or of a parent is reached. `waits` names what must happen first, if a person was asked. */
  | { readonly kind: 'stop'; readonly reason: string; readonly waits?: string };

export interface AgentQuestion {
  /** Identifies the call within its node; stable across crashes. */
  readonly call: string;
  readonly kind: DecisionKind;
  /** Everything that a person needs to see. */
  readonly proposal: Json;
  /** A keyed hash of the whole proposal, if it was redacted or may be (R42). Otherwise it is made from the proposal. */
  readonly proposalHash?: Digest;
}

export type AgentOutcome =
  | { readonly kind: 'done'; readonly output: Json }
  | { readonly kind: 'failed'; readonly error: TaskError }
  /** It cannot continue until a person answers, or until whatever the reason names. */
  | { readonly kind: 'blocked'; readonly reason: string };
