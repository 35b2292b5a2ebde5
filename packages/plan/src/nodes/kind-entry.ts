import type { Json, JsonObject } from '@signalbox/model';
import type { Task } from '@signalbox/runs';
import type * as z from 'zod';
import type { PlanElement } from '../jsx/element.ts';
import type { NodeKind, RunnableKind } from './node-kind.ts';

/** An element's content for its node: plain data to store, and code that only this process has. */
export interface NodeContent {
  readonly data: JsonObject;
  readonly code?: Readonly<Record<string, unknown>>;
}

/** How authors write nodes of a kind. */
export interface ElementEntry {
  /** Its props, validated when the element is made. */
  readonly props: z.ZodType;
  /** What may be between its tags. */
  readonly between: 'nodes' | 'text' | 'nothing' | 'item function' | 'nodes or body function';
  /** The node's data and code; `rendered` if a render determines them with the children. */
  readonly content: ((element: PlanElement) => NodeContent) | 'rendered';
}

/** How the work of nodes of a kind is done. */
export interface WorkEntry {
  /** Who does it: the plan's own code, a child run, the clock, a person, an agent, or the host with what agents left. */
  readonly by: 'plan' | 'sub-plan' | 'clock' | 'person' | 'agent' | 'host';
  /** What identifies the work (8.10): a node that succeeded runs again when this changes. */
  readonly signature: (data: never, environment: string) => JsonObject;
  /** What a person may change of it: its `input`, or the named fields of its data; absent if nothing. */
  readonly input?: 'whole' | readonly string[];
  /** What happens to the world if it runs twice. */
  readonly effects: (data: never) => Task['effects'];
  /** After its process died it is an orphan; or it was only watched from there, and continues. */
  readonly cutOff: 'orphaned' | 'goes on';
}

/** The definition of a node kind, except how it is shown (`planNodeKinds`). */
export type KindEntry<Kind extends NodeKind> = NodeEntry &
  (Kind extends RunnableKind ? { readonly work: WorkEntry } : { readonly work?: undefined });

interface NodeEntry {
  /** The stored part of a node: plain data, no code. */
  readonly data: z.ZodType;
  /**
   * How it orders its content: it is looked `through`, is one of the `phase`s or `step`s that run in order, sets its content `free`, or
   * only `holds` it. A `leaf` has no content.
   */
  readonly flow: 'through' | 'phase' | 'step' | 'free' | 'holds' | 'leaf';
  /** Undefined for kinds that only the renderer makes. */
  readonly element: ElementEntry | undefined;
}

export function present(data: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) as Record<string, Json>;
}
