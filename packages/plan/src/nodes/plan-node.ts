import type { ZodType } from 'zod';
import type { FailedAttempt } from '../failures/attempt-error.ts';
import type { AnyPlan } from '../plan-definition.ts';
import type { SourcePosition } from '../plan-error.ts';
import type { OwnTool } from '../tools/own-tool.ts';
import type { NodeHandlers, TaskContext } from './handlers.ts';
import { type AgentKind, isRunnableKind, type LoopKind, type NodeKind, type RunnableKind } from './node-kind.ts';
import type { NodeData } from './node-kinds.ts';

interface Base<Kind extends NodeKind> {
  readonly kind: Kind;
  /** Stable over frames and processes. */
  readonly id: string;
  readonly key?: string;
  readonly data: NodeData<Kind>;
  readonly children: readonly PlanNode[];
  readonly source?: SourcePosition;
  /** The keys that the render which made it read. They belong to this process, like its code. */
  readonly reads?: ReadonlySet<string> | undefined;
}

/** A node and the author's code on it. The code belongs to this process only; everything else is plain data. */
type WithCode<Kind extends NodeKind, Code> = Base<Kind> & { readonly code: Code };

/** The author's code on work of any kind. */
interface Called {
  readonly handlers: NodeHandlers;
  /** Which failures are retried: by name or code, or as a function says. */
  readonly retryOn?: readonly string[] | ((failed: FailedAttempt) => unknown);
}

export type TaskNode = WithCode<'task', Called & { readonly run: (task: TaskContext) => unknown }>;
/** The author's own output schema, if it is zod. */
interface AnswerCode extends Called {
  readonly schema?: ZodType;
}
interface AgentCode extends AnswerCode {
  /** The tools that the plan brings along, by name. */
  readonly tools?: ReadonlyMap<string, OwnTool>;
}
export type AgentNode = { [Kind in AgentKind]: WithCode<Kind, AgentCode> }[AgentKind];
export type HumanNode = WithCode<'human', AnswerCode>;
export type KeepNode = WithCode<'keep', Called>;
export type SubPlanNode = WithCode<'subplan', Called & { readonly plan: AnyPlan }>;
export type TimerNode = WithCode<'timer', Called>;
export type EffectNode = WithCode<'effect', { readonly run: () => unknown; readonly cleanup?: () => void }>;
export type LoopNode = { [Kind in LoopKind]: Base<Kind> }[LoopKind];

export type RunnableNode = TaskNode | AgentNode | HumanNode | KeepNode | SubPlanNode | TimerNode;
type PlainNode = { [Kind in Exclude<NodeKind, RunnableKind | 'effect'>]: Base<Kind> }[Exclude<
  NodeKind,
  RunnableKind | 'effect'
>];

/** A node of a rendered plan, by `kind`. Equal nodes of two frames are the same object if nothing under them changed. */
export type PlanNode = RunnableNode | EffectNode | PlainNode;

export function isRunnable(node: PlanNode): node is RunnableNode {
  return isRunnableKind(node.kind);
}

/** The author's limits on the time and attempts of work; a timer takes as long as it takes. */
export function limitsOf({ data }: RunnableNode): {
  readonly retries: number;
  readonly timeoutMs?: number | undefined;
  readonly backoff?:
    | { readonly firstMs: number; readonly factor: number; readonly maxMs?: number | undefined }
    | undefined;
} {
  return 'retries' in data ? data : { retries: 0 };
}
