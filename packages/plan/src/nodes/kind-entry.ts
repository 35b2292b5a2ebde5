import type { Json, JsonObject } from '@signalbox/model';
import type { Task } from '@signalbox/runs';
import type * as z from 'zod';
import type { PlanElement } from '../jsx/element.ts';
import type { NodeKind, RunnableKind } from './node-kind.ts';

/** What an element says of its node: plain data to keep, and code that only this process has. */
export interface NodeContent {
  readonly data: JsonObject;
  readonly code?: Readonly<Record<string, unknown>>;
}

/** How authors write nodes of a kind. */
export interface ElementEntry {
  /** What may be written on it, checked when the element is made. */
  readonly props: z.ZodType;
  /** What may stand between its tags. */
  readonly between: 'nodes' | 'text' | 'nothing' | 'item function' | 'nodes or body function';
  /** The node's data and code; `rendered` where a render decides them with the children. */
  readonly content: ((element: PlanElement) => NodeContent) | 'rendered';
}

/** How the work of nodes of a kind is done. */
export interface WorkEntry {
  /** Who does it: the plan's own code, a child run, the clock, a person or an agent. */
  readonly by: 'plan' | 'sub-plan' | 'clock' | 'person' | 'agent';
  /** What makes the work what it is (8.10): a node that succeeded runs again when this changes. */
  readonly signature: (data: never, environment: string) => JsonObject;
  /** What happens to the world if it runs twice. */
  readonly effects: (data: never) => Task['effects'];
  /** After its process died it is an orphan; or it was only watched from there, and is gone on with. */
  readonly cutOff: 'orphaned' | 'goes on';
}

/** What a kind of node is, but for how it is shown (`planNodeKinds`). */
export type KindEntry<Kind extends NodeKind> = NodeEntry &
  (Kind extends RunnableKind ? { readonly work: WorkEntry } : { readonly work?: undefined });

interface NodeEntry {
  /** What is kept of a node: plain data, no code. */
  readonly data: z.ZodType;
  /**
   * What it means for the order of what is in it: looked `through`, one of the `phase`s or `step`s that run in order, sets
   * `free` what is in it, or only `holds` it. A `leaf` has nothing in it.
   */
  readonly flow: 'through' | 'phase' | 'step' | 'free' | 'holds' | 'leaf';
  /** Undefined for kinds that no author writes: the renderer makes them. */
  readonly element: ElementEntry | undefined;
}

export function present(data: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) as Record<string, Json>;
}
