import { createElement } from './create-element.ts';
import type { ElementType, PlanElement } from './element.ts';

export { Fragment } from './element.ts';
export type { JSX } from './jsx-types.ts';

type Props = Readonly<Record<string, unknown>>;

/** An element with at most one child. Called by the compiled code of a plan's file, not by people. */
export function jsx(type: ElementType, props: Props, key?: unknown): PlanElement {
  return createElement(type, props, { key, source: undefined, isStatic: false });
}

/** An element with several children, each written in its own place. */
export function jsxs(type: ElementType, props: Props, key?: unknown): PlanElement {
  return createElement(type, props, { key, source: undefined, isStatic: true });
}
