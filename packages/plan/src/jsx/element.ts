import type { NodeKind } from '../nodes/node-kind.ts';
import type { SourcePosition } from '../plan-error.ts';

/** The result of JSX: a description, not yet a node. Nothing runs before the renderer asks. */
export interface PlanElement {
  readonly brand: typeof ELEMENT;
  readonly type: ElementType;
  readonly key: string | undefined;
  /** Without `children`; those of a built-in component are checked. */
  readonly props: Readonly<Record<string, unknown>>;
  readonly slots: readonly Slot[];
  readonly source: SourcePosition | undefined;
  /** The keys that the render which made it reads. */
  readonly reads?: ReadonlySet<string> | undefined;
}

/** One written position among children. An empty one holds its place, so that its siblings keep their identity. */
export type Slot = undefined | string | PlanElement | ItemList | ChildFunction;

/** Items made by code. Each has a key; their order and number may change. */
export interface ItemList {
  readonly items: readonly PlanElement[];
}

/** Children made once their value is known: an item of `Each`, an iteration of a loop. */
export type ChildFunction = (value: never, index: number) => PlanChild;

/** Anything between tags, or returned by a component. */
export type PlanChild = PlanElement | string | number | boolean | null | undefined | readonly PlanChild[];

export type Component = (props: never) => PlanChild;

/** A built-in component: a function for the type checker, a kind for the renderer. */
export interface BuiltIn {
  readonly kind: NodeKind;
}

export type ElementType = typeof Fragment | BuiltIn | Component;

const ELEMENT = Symbol('signalbox.element');

/** Groups children without a node. */
export const Fragment = Symbol('signalbox.fragment');

export function isElement(value: unknown): value is PlanElement {
  return typeof value === 'object' && value !== null && (value as { brand?: unknown }).brand === ELEMENT;
}

export function isItemList(slot: Slot): slot is ItemList {
  return typeof slot === 'object' && 'items' in slot;
}

export function isBuiltIn(type: ElementType): type is BuiltIn {
  return typeof type !== 'symbol' && 'kind' in type;
}

export function plainElement(fields: Omit<PlanElement, 'brand'>): PlanElement {
  return { brand: ELEMENT, ...fields };
}

/** The name of an element as its author wrote it. */
export function tagOf(type: ElementType): string {
  if (typeof type === 'symbol') return 'Fragment';
  if (typeof type === 'function' && type.name !== '') return type.name;
  return isBuiltIn(type) ? type.kind : 'Component';
}
