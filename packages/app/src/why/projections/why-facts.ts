import type { Json, Timestamp } from '@signalbox/model';
import { isStructuralKind } from '@signalbox/plan/kinds';
import type { AnyEvent, Decision, FrameTrigger, RunRecord, Task, TransitionView } from '@signalbox/runs';

/** What is known of a run, read from what is committed. Everything that is answered rests on this alone. */
export interface WhyFacts {
  readonly now: Timestamp;
  readonly run: RunRecord;
  /** All of them, in order. */
  readonly events: readonly AnyEvent[];
  readonly tasks: readonly Task[];
  readonly decisions: readonly Decision[];
  /** The tree as it is now, by node. */
  readonly nodes: ReadonlyMap<string, NodeFact>;
  readonly statuses: ReadonlyMap<string, StatusFact>;
  /** Runs that it started as sub-plans. */
  readonly children: readonly RunRecord[];
  /** The branches around the node that is asked about, innermost first; only where one is asked about. */
  readonly branches: readonly BranchFact[];
}

export interface NodeFact {
  readonly kind: string;
  readonly data: Readonly<Record<string, Json>>;
  readonly parent?: string | undefined;
  readonly index: number;
  readonly source?: { readonly file: string; readonly line: number } | undefined;
}

/** Whether it does something itself, and does not only hold what does. */
export function isWork(node: NodeFact | undefined): boolean {
  return node !== undefined && !isStructuralKind(node.kind);
}

export interface StatusFact {
  readonly status: string;
  readonly reason?: string | undefined;
  /** Its work ended, and the handler of that end failed. */
  readonly unhandled?: true | undefined;
}

/** An `If` or a `Switch`, which way it goes, and what led there. */
export interface BranchFact {
  readonly node: string;
  readonly kind: 'if' | 'switch';
  /** The condition of an If, the value of a Switch. */
  readonly value: Json;
  /** Whether the node that is asked about is in the way that was taken; undefined where the node is the branch itself. */
  readonly isTaken?: boolean | undefined;
  /** When it began to be so; undefined where the log does not say. */
  readonly since?: BranchTurn | undefined;
}

export interface BranchTurn {
  readonly frame: number;
  readonly trigger?: FrameTrigger | undefined;
  /** What it was in the frame before; undefined where it was not there. */
  readonly before?: Json | undefined;
  /** Changes, right before that frame, of state that the plan reads. */
  readonly changes: readonly TransitionView[];
}

/** One answer: what, how it is known, and what can be done. */
export interface WhyAnswer {
  readonly topic: WhyTopic;
  readonly text: string;
  /** When that became so. */
  readonly at?: Timestamp | undefined;
  /** The event that says it. */
  readonly seq?: number | undefined;
  /** What to call to change it. */
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

/** What the log does not say is said to be so, and never guessed. */
export function unsaid(what: string): WhyAnswer {
  return { topic: 'unknown', text: `The log does not say ${what}.` };
}
