import { createElement } from './create-element.ts';
import type { ElementType, PlanElement } from './element.ts';

export { Fragment } from './element.ts';
export type { JSX } from './jsx-types.ts';

type Props = Readonly<Record<string, unknown>>;

/** An element with at most one child. The compiler of the plan's file calls it, not people. */
export function jsx(type: ElementType, props: Props, key?: unknown): PlanElement {
  return createElement(type, props, { key, source: undefined, isStatic: false });
}

/** An element with several children, each written at a place of its own. */
export function jsxs(type: ElementType, props: Props, key?: unknown): PlanElement {
  return createElement(type, props, { key, source: undefined, isStatic: true });
}
