import type { Json, ThrownPlace, Timestamp } from '@signalbox/model';
import { isStructuralKind } from '@signalbox/plan/kinds';
import type { AnyEvent, Decision, FrameTrigger, RunRecord, Task, TransitionView } from '@signalbox/runs';

/** The facts about a run, read from commits. Every answer relies on this alone. */
export interface WhyFacts {
  readonly now: Timestamp;
  readonly run: RunRecord;
  /** All of them, in order. */
  readonly events: readonly AnyEvent[];
  readonly tasks: readonly Task[];
  readonly decisions: readonly Decision[];
  /** The current tree, by node. */
  readonly nodes: ReadonlyMap<string, NodeFact>;
  readonly statuses: ReadonlyMap<string, StatusFact>;
  /** Its sub-plan runs. */
  readonly children: readonly RunRecord[];
  /** The branches around the node in question, innermost first; empty without a node. */
  readonly branches: readonly BranchFact[];
}

export interface NodeFact {
  readonly kind: string;
  readonly data: Readonly<Record<string, Json>>;
  readonly parent?: string | undefined;
  readonly index: number;
  readonly source?: { readonly file: string; readonly line: number } | undefined;
}

/** Whether it does work itself, rather than only hold nodes that do. */
export function isWork(node: NodeFact | undefined): boolean {
  return node !== undefined && !isStructuralKind(node.kind);
}

export interface StatusFact {
  readonly status: string;
  readonly reason?: string | undefined;
  /** Its work ended, and the handler of that end failed. */
  readonly unhandled?: true | undefined;
}

/** An `If` or a `Switch`, its current branch, and what led to it. */
export interface BranchFact {
  readonly node: string;
  readonly kind: 'if' | 'switch';
  /** The condition of an If, the value of a Switch. */
  readonly value: Json;
  /** Whether the node in question is in the taken branch; undefined if the node is the branch itself. */
  readonly isTaken?: boolean | undefined;
  /** Since when; undefined if the log does not say. */
  readonly since?: BranchTurn | undefined;
}

export interface BranchTurn {
  readonly frame: number;
  readonly trigger?: FrameTrigger | undefined;
  /** The value in the previous frame; undefined if it was not there. */
  readonly before?: Json | undefined;
  /** Changes, right before that frame, of state that the plan reads. */
  readonly changes: readonly TransitionView[];
}

/** One answer: the fact, its evidence, and what can be done. */
export interface WhyAnswer {
  readonly topic: WhyTopic;
  readonly text: string;
  /** When that became so. */
  readonly at?: Timestamp | undefined;
  /** The event that says it. */
  readonly seq?: number | undefined;
  /** Where the author's code threw. */
  readonly thrown?: ThrownPlace | undefined;
  /** The command to change it. */
  readonly command?: string | undefined;
}

type WhyTopic =
  | 'status'
  | 'waits'
  | 'failed'
  | 'attempt'
  | 'again'
  | 'branch'
  | 'skipped'
  | 'blocked'
  | 'unreached'
  | 'gone'
  | 'unknown';

/** Facts missing from the log are reported as missing, never guessed. */
export function unsaid(what: string): WhyAnswer {
  return { topic: 'unknown', text: `The log does not say ${what}.` };
}
