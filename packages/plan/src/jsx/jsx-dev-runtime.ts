import { createElement } from './create-element.ts';
import type { ElementType, PlanElement } from './element.ts';

export { Fragment } from './element.ts';
export type { JSX } from './jsx-types.ts';

/** An element with its source position. */
export function jsxDEV(
  type: ElementType,
  props: Readonly<Record<string, unknown>>,
  key?: unknown,
  isStatic = false,
  source?: { readonly fileName: string; readonly lineNumber: number; readonly columnNumber: number },
): PlanElement {
  const position =
    source === undefined ? undefined : { file: source.fileName, line: source.lineNumber, column: source.columnNumber };
  return createElement(type, props, { key, source: position, isStatic });
}
