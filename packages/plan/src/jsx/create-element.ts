import { defined } from '@signalbox/model';
import type { NodeKind } from '../nodes/node-kind.ts';
import { isRunnableKind } from '../nodes/node-kind.ts';
import { elementEntry } from '../nodes/node-kinds.ts';
import { EventValidationError, PlanError, type SourcePosition } from '../plan-error.ts';
import { currentReads } from '../render/tracked.ts';
import {
  type ChildFunction,
  type ElementType,
  Fragment,
  isBuiltIn,
  isElement,
  type PlanElement,
  plainElement,
  type Slot,
  tagOf,
} from './element.ts';

interface Written {
  readonly key: unknown;
  readonly source: SourcePosition | undefined;
  /** True if every child was written in its own place; false if the children may be a list made by code. */
  readonly isStatic: boolean;
}

/** Called by every JSX runtime. Throws for an invalid element, at the author's position. */
export function createElement(
  type: ElementType,
  given: Readonly<Record<string, unknown>>,
  written: Written,
): PlanElement {
  const { children, ...props } = given;
  const { source } = written;
  if (typeof type !== 'symbol' && typeof type !== 'function') {
    const what =
      typeof type === 'string'
        ? `<${type}> is not a component; plans have no HTML`
        : `${String(type)} is not a component`;
    throw new PlanError('plan/invalid-props', what, { source });
  }
  const key = keyOf(written.key, tagOf(type), source);
  const slots = slotsOf(children, written.isStatic, tagOf(type), source);
  if (isBuiltIn(type)) {
    checkHandlers(type.kind, tagOf(type), props, source);
    const checked = checkProps(type.kind, tagOf(type), props, source);
    checkSlots(type.kind, tagOf(type), slots, source);
    return plainElement({ type, key, props: checked, slots, source, ...defined({ reads: currentReads() }) });
  }
  if (type === Fragment) return plainElement({ type, key, props: {}, slots, source });
  return plainElement({ type, key, props: { ...props, ...passedOn(slots, source) }, slots: [], source });
}

/** Children as a component gets them: written places stay places when they are put elsewhere. */
function passedOn(slots: readonly Slot[], source: SourcePosition | undefined): { readonly children?: unknown } {
  const [only] = slots;
  if (slots.length === 0) return {};
  if (slots.length === 1 && (typeof only === 'function' || typeof only === 'string')) return { children: only };
  return { children: plainElement({ type: Fragment, key: undefined, props: {}, slots, source }) };
}

/** The slots of children, of a prop, or of a component's result. */
export function slotsOf(
  children: unknown,
  isStatic: boolean,
  tag: string,
  source: SourcePosition | undefined,
): readonly Slot[] {
  if (children === undefined) return [];
  if (isStatic && Array.isArray(children)) return children.map(child => slotOf(child, tag, source));
  return [slotOf(children, tag, source)];
}

function slotOf(child: unknown, tag: string, source: SourcePosition | undefined): Slot {
  if (child === null || child === undefined || typeof child === 'boolean') return undefined;
  if (typeof child === 'string') return child.trim() === '' ? undefined : child;
  if (typeof child === 'number') return String(child);
  if (typeof child === 'function') return child as ChildFunction;
  if (isElement(child)) return child;
  if (Array.isArray(child)) return { items: itemsOf(child, tag, source) };
  throw new PlanError('plan/invalid-props', `${describe(child)} cannot be a child of <${tag}>`, { source });
}

function itemsOf(list: readonly unknown[], tag: string, source: SourcePosition | undefined): readonly PlanElement[] {
  const items = list
    .flat(Number.POSITIVE_INFINITY)
    .filter(item => item !== null && item !== undefined && typeof item !== 'boolean');
  const seen = new Map<string, PlanElement>();
  for (const item of items) {
    if (!isElement(item))
      throw new PlanError('plan/invalid-props', `${describe(item)} cannot be an item in <${tag}>`, { source });
    claimKey(seen, item, tag, source);
  }
  return items as readonly PlanElement[];
}

/** A list item is identified by its key alone, so it needs a unique one. */
export function claimKey(
  seen: Map<string, PlanElement>,
  item: PlanElement,
  tag: string,
  source: SourcePosition | undefined,
): string {
  const at = item.source ?? source;
  if (item.key === undefined) {
    throw new PlanError('plan/key-missing', `<${tagOf(item.type)}> is an item of a list in <${tag}> and has no key`, {
      source: at,
    });
  }
  if (seen.has(item.key)) {
    throw new PlanError('plan/key-missing', `two items of one list in <${tag}> have the key '${item.key}'`, {
      source: at,
    });
  }
  seen.set(item.key, item);
  return item.key;
}

function keyOf(key: unknown, tag: string, source: SourcePosition | undefined): string | undefined {
  if (key === undefined || key === null) return undefined;
  if (typeof key === 'number' && Number.isFinite(key)) return String(key);
  if (typeof key === 'string' && key !== '' && key.isWellFormed()) return key;
  throw new PlanError('plan/key-missing', `the key of <${tag}> must be a text that is not empty, or a number`, {
    source,
  });
}

function checkHandlers(kind: NodeKind, tag: string, props: object, source: SourcePosition | undefined): void {
  if (isRunnableKind(kind)) return;
  const handler = Object.keys(props).find(prop => /^on[A-Z]/.test(prop));
  if (handler === undefined) return;
  throw new EventValidationError(
    'plan/handler-refused',
    `event prop '${handler}' is not allowed on <${tag}>, which is not observable`,
    { source },
  );
}

function checkProps(
  kind: NodeKind,
  tag: string,
  props: object,
  source: SourcePosition | undefined,
): Readonly<Record<string, unknown>> {
  const checked = elementEntry(kind).props.safeParse(props);
  if (checked.success) return checked.data as Readonly<Record<string, unknown>>;
  const faults = checked.error.issues.map(issue =>
    issue.path.length === 0 ? issue.message : `${issue.path.map(String).join('.')}: ${issue.message}`,
  );
  throw new PlanError('plan/invalid-props', `<${tag}> has props that do not fit: ${faults.join('; ')}`, { source });
}

function checkSlots(kind: NodeKind, tag: string, slots: readonly Slot[], source: SourcePosition | undefined): void {
  const refuse = (what: string) => {
    throw new PlanError('plan/invalid-props', `${what} <${tag}>`, { source });
  };
  const { between } = elementEntry(kind);
  const written = slots.filter(slot => slot !== undefined);
  const functions = written.filter(slot => typeof slot === 'function').length;
  const texts = written.filter(slot => typeof slot === 'string').length;
  if (between === 'item function') {
    if (functions !== 1 || written.length !== 1) refuse('one function that makes an item is the only child of');
  } else if (between === 'nodes or body function') {
    if (functions > 0 && written.length !== 1) refuse('a function that makes the body must be the only child of');
  } else if (functions > 0) refuse('a function cannot be a child of');
  if (between === 'text') {
    if (texts < written.length) refuse('only text can be between the tags of');
  } else if (texts > 0) refuse('text cannot be a child of');
  else if (between === 'nothing' && written.length > 0) refuse('nothing can be between the tags of');
}

function describe(value: unknown): string {
  return typeof value === 'object' ? (value instanceof Promise ? 'a promise' : 'an object') : typeof value;
}
