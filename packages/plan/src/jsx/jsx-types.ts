import type { PlanChild, PlanElement } from './element.ts';

/** Required by the compiler under `jsxImportSource`. There are no intrinsic elements: plans have no HTML. */
export declare namespace JSX {
  type Element = PlanElement;
  type ElementType = (props: never) => PlanChild;
  interface ElementChildrenAttribute {
    children: unknown;
  }
  interface IntrinsicAttributes {
    readonly key?: string | number;
  }
  type IntrinsicElements = Record<never, never>;
}
