import { defined, type JsonObject, thrownText } from '@signalbox/model';
import { noteCircumstances } from '../errors/circumstances.ts';
import { claimKey, slotsOf } from '../jsx/create-element.ts';
import {
  type ChildFunction,
  type Component,
  Fragment,
  isBuiltIn,
  isElement,
  isItemList,
  type PlanChild,
  type PlanElement,
  type Slot,
  tagOf,
} from '../jsx/element.ts';
import { type NodeEdit, withEdit } from '../nodes/node-edit.ts';
import { explicitPath, nodeIdOf, pathOf, placeOf, segmentOf } from '../nodes/node-id.ts';
import type { NodeKind } from '../nodes/node-kind.ts';
import { elementEntry, type RenderedKind } from '../nodes/node-kinds.ts';
import type { PlanNode } from '../nodes/plan-node.ts';
import { DEFAULT_MAX_ITERATIONS } from '../nodes/structure-kinds.ts';
import { authorPosition, PlanError, RenderPhaseTaskError, type SourcePosition } from '../plan-error.ts';
import { asGiven, type CleanData } from '../state/clean-data.ts';
import { createIdClaims, type IdConflict } from './id-claims.ts';
import { type Tracked, track } from './tracked.ts';

/** A place that is notified when something under it must be made again. */
export interface Parent {
  readonly parent: Parent | undefined;
  stale: boolean;
}

export type SlotMount = Mount | undefined;

/** The content of a place in the plan from one frame to the next. */
interface Mount extends Parent {
  readonly type: unknown;
  readonly skipped: boolean;
  element: PlanElement | undefined;
  nodes: readonly PlanNode[];
  children: readonly SlotMount[];
  /** The author's code that was called for it, and what it read. */
  code: readonly Tracked<unknown>[];
  codeStale: boolean;
  readonly id?: string;
}

interface Place {
  readonly path: string;
  readonly parent: Parent;
  /** In a branch that is not taken: the author's code is not called there. */
  readonly skipped: boolean;
  /** The tag around it, for messages. */
  readonly tag: string;
}

/** A node that is being made. */
interface Made {
  readonly mount: Mount;
  readonly element: PlanElement;
  readonly id: string;
  /** Where its children are mounted. */
  readonly inside: Place;
  /** The author's code on it must be called again. */
  readonly fresher: boolean;
}

export interface Mounts {
  readonly reads: ReadonlySet<string>;
  /** Keys that started or stopped being read since the last call. */
  takeReadChanges(): ReadonlySet<string>;
  /** Pieces of code that requested effects. */
  readonly asking: ReadonlySet<Tracked<unknown>>;
  updateSlots(before: readonly SlotMount[], slots: readonly Slot[], place: Place): readonly SlotMount[];
  unmount(mounts: readonly SlotMount[]): void;
  conflicts(): readonly IdConflict[];
  remember(code: Tracked<unknown>): void;
  forget(code: Tracked<unknown>): void;
}

const LIST = Symbol('list');
const BRANCH = Symbol('branch');

/** `clean` removes secrets from a node's content, before it is compared with anything. */
export function createMounts(
  iterationOf: (loop: string) => number,
  clean: CleanData = asGiven,
  editOf: (node: string) => NodeEdit | undefined = () => undefined,
): Mounts {
  const ids = createIdClaims();
  const counts = new Map<string, number>();
  const reads = new Set<string>();
  const asking = new Set<Tracked<unknown>>();
  let readChanges = new Set<string>();

  function remember(code: Tracked<unknown>): void {
    if (code.effects.length > 0) asking.add(code);
    for (const key of code.reads) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (reads.has(key)) continue;
      reads.add(key);
      readChanges.add(key);
    }
  }

  function forget(code: Tracked<unknown>): void {
    code.dispose();
    asking.delete(code);
    for (const key of code.reads) {
      const left = (counts.get(key) ?? 1) - 1;
      counts.set(key, left);
      if (left > 0) continue;
      counts.delete(key);
      reads.delete(key);
      readChanges.add(key);
    }
  }

  function updateSlots(before: readonly SlotMount[], slots: readonly Slot[], place: Place): readonly SlotMount[] {
    for (const gone of before.slice(slots.length)) release(gone);
    return slots.map((slot, position) => updateSlot(before[position], slot, position, place));
  }

  function updateSlot(before: SlotMount, slot: Slot, position: number, place: Place): SlotMount {
    if (slot === undefined) {
      release(before);
      return undefined;
    }
    if (isElement(slot)) return updateElement(before, slot, slot.key, position, place);
    if (isItemList(slot)) {
      return updateList(before, slot.items, { ...place, path: pathOf(place.path, placeOf(undefined, position)) });
    }
    throw new PlanError(
      'plan/invalid-props',
      `${typeof slot === 'string' ? 'text' : 'a function'} cannot be a child of <${place.tag}>`,
    );
  }

  /** Items keep their mounts by key, wherever they move. */
  function updateList(before: SlotMount, items: readonly PlanElement[], place: Place): Mount {
    const mount = reused(before, LIST, place) ?? fresh(LIST, place);
    const known = new Map(mount.children.map(child => [child?.element?.key, child]));
    mount.children = items.map(item => {
      const child = known.get(item.key);
      known.delete(item.key);
      return updateElement(child, item, item.key, 0, { ...place, parent: mount });
    });
    for (const gone of known.values()) release(gone);
    return settled(mount, flat(mount.children));
  }

  function updateElement(
    before: SlotMount,
    element: PlanElement,
    given: string | undefined,
    position: number,
    place: Place,
  ): Mount {
    const { type } = element;
    const key = given === undefined ? undefined : clean(given);
    if (before !== undefined && before.element === element && !before.stale && before.skipped === place.skipped)
      return before;
    if (isBuiltIn(type)) return updateNode(before, element, type.kind, key, position, place);
    const path = pathOf(place.path, segmentOf(key, position, tagOf(type)));
    if (type === Fragment) {
      const mount = reused(before, type, place, element.key) ?? fresh(type, place);
      mount.element = element;
      mount.children = updateSlots(mount.children, element.slots, { ...place, path, parent: mount });
      return settled(mount, flat(mount.children));
    }
    return updateComponent(before, element, type as Component, path, place);
  }

  function updateComponent(
    before: SlotMount,
    element: PlanElement,
    type: Component,
    path: string,
    place: Place,
  ): Mount {
    const mount = reused(before, type, place, element.key) ?? fresh(type, place);
    const changed = mount.element === undefined || !sameProps(mount.element.props, element.props);
    mount.element = element;
    if (place.skipped) {
      const node: PlanNode = {
        kind: 'component',
        id: nodeIdOf(path),
        data: { name: tagOf(type) },
        children: [],
        ...at(element),
      };
      return settled(mount, [node]);
    }
    if (changed || mount.codeStale) {
      callCode(mount, element, [
        () => slotsOf(rendered(type(element.props as never), element), false, tagOf(type), element.source),
      ]);
    }
    const slots = mount.code[0]?.value as readonly Slot[];
    mount.children = updateSlots(mount.children, slots, { ...place, path, parent: mount, tag: tagOf(type) });
    return settled(mount, flat(mount.children));
  }

  function updateNode(
    before: SlotMount,
    element: PlanElement,
    kind: NodeKind,
    key: string | undefined,
    position: number,
    place: Place,
  ): Mount {
    const explicit = clean(element.props.id as string | undefined);
    const path = explicit === undefined ? pathOf(place.path, segmentOf(key, position, kind)) : explicitPath(explicit);
    const id = explicit ?? nodeIdOf(path);
    let mount = reused(before, element.type, place, element.key, id);
    if (mount === undefined) {
      mount = { ...fresh(element.type, place), id };
      ids.claim(id, mount, element.source);
    }
    const inside: Place = { path, parent: mount, skipped: place.skipped, tag: tagOf(element.type) };
    const fresher = mount.element !== element || mount.codeStale;
    mount.element = element;
    const { data, ...code } = updateContent(kind, { mount, element, id, inside, fresher });
    const node = {
      kind,
      id,
      ...(key === undefined ? {} : { key }),
      data: withEdit(kind, clean(data) as JsonObject, editOf(id)),
      ...code,
      children: flat(mount.children),
      ...at(element),
    };
    // Its kind's entry made data and code that belong together; the compiler sees the union of each.
    return settled(mount, [node as unknown as PlanNode]);
  }

  /** The data and code of a node; its children are mounted on the way. */
  function updateContent(kind: NodeKind, made: Made) {
    const { content, between } = elementEntry(kind);
    if (content === 'rendered') return { data: renders[kind as RenderedKind](made) };
    const { mount, element, inside } = made;
    if (between === 'nodes') mount.children = updateSlots(mount.children, element.slots, inside);
    return content(element);
  }

  /** The data of nodes whose children a render determines. */
  const renders: { readonly [Kind in RenderedKind]: (made: Made) => Readonly<Record<string, unknown>> } = {
    if({ mount, element, inside, fresher }) {
      const { condition, else: otherwise, id: _id, ...rest } = element.props;
      const taken = flag(mount, element, condition, inside, fresher);
      mount.children = updateBranches(mount, element, inside, [
        { name: 'then', taken, slots: element.slots },
        ...(otherwise === undefined
          ? []
          : [{ name: 'else', taken: !taken, slots: slotsOf(otherwise, false, 'If', element.source) }]),
      ]);
      return { ...rest, condition: taken };
    },
    switch({ mount, element, inside }) {
      const { value, cases, default: otherwise, id: _id, ...rest } = element.props;
      const named = Object.entries(cases as Record<string, PlanChild>).filter(([, child]) => child !== undefined);
      const hit = named.some(([name]) => name === String(value));
      mount.children = updateBranches(mount, element, inside, [
        ...named.map(([name, child]) => ({
          name,
          taken: name === String(value),
          slots: slotsOf(child, false, 'Switch', element.source),
        })),
        ...(otherwise === undefined
          ? []
          : [
              { name: 'default', taken: !hit, slots: slotsOf(otherwise as PlanChild, false, 'Switch', element.source) },
            ]),
      ]);
      return { ...rest, value };
    },
    each({ mount, element, inside, fresher }) {
      const { items: list, id: _id, ...rest } = element.props;
      const items = list as readonly never[];
      if (!inside.skipped) {
        if (fresher) callCode(mount, element, [() => itemsOf(items, element.slots[0] as ChildFunction, element)]);
        const made = mount.code[0]?.value as readonly PlanElement[];
        mount.children = [updateList(mount.children[0], made, inside)];
      }
      return { ...rest, items: items.length };
    },
    recover({ mount, element, id, inside, fresher }) {
      const { fallback, id: _, ...rest } = element.props;
      if (fresher && !inside.skipped) callCode(mount, element, [() => iterationOf(id) > 0]);
      const failed = !inside.skipped && mount.code[0]?.value === true;
      mount.children = updateBranches(mount, element, inside, [
        { name: 'try', taken: !failed, slots: element.slots },
        { name: 'fallback', taken: failed, slots: slotsOf(fallback as PlanChild, false, 'Recover', element.source) },
      ]);
      return { ...rest, goesOn: true, maxIterations: 2 };
    },
    while: made => updateLoop(made, made.element.props.condition, false, answer => answer),
    ralph: made => updateLoop(made, made.element.props.until ?? false, true, answer => !answer),
  };

  /** Evaluates its condition, and mounts its body. In a branch that is not taken the answer is `skipped`. */
  function updateLoop(
    { mount, element, id, inside, fresher }: Made,
    given: unknown,
    skipped: boolean,
    goesOn: (answer: boolean) => boolean,
  ) {
    const { props, slots } = element;
    const { condition: _, until: __, maxIterations = DEFAULT_MAX_ITERATIONS, id: ___, ...rest } = props;
    const [make] = slots.filter(slot => slot !== undefined);
    const asked = typeof given === 'function' ? (given as () => unknown) : () => given;
    if (fresher && !inside.skipped) {
      callCode(mount, element, [
        () => booleanOf(asked(), element),
        ...(typeof make === 'function'
          ? [
              () =>
                slotsOf(make({ iteration: iterationOf(id) } as never, 0), false, tagOf(element.type), element.source),
            ]
          : []),
      ]);
    }
    const answer = inside.skipped ? skipped : (mount.code[0]?.value as boolean);
    const body = typeof make === 'function' ? ((mount.code[1]?.value as readonly Slot[] | undefined) ?? []) : slots;
    mount.children = updateSlots(mount.children, body, inside);
    return { ...rest, goesOn: goesOn(answer), maxIterations };
  }

  function updateBranches(
    mount: Mount,
    element: PlanElement,
    inside: Place,
    branches: readonly { readonly name: string; readonly taken: boolean; readonly slots: readonly Slot[] }[],
  ): readonly SlotMount[] {
    const known = new Map(mount.children.map(child => [child?.id, child]));
    const made = branches.map(branch => {
      const path = pathOf(inside.path, segmentOf(branch.name, 0, 'branch'));
      const id = nodeIdOf(path);
      const skipped = inside.skipped || !branch.taken;
      const place: Place = { ...inside, path, parent: mount, skipped };
      const child = reused(known.get(id), BRANCH, place, undefined, id) ?? { ...fresh(BRANCH, place), id };
      known.delete(id);
      child.children = updateSlots(child.children, branch.slots, { ...place, parent: child });
      const taken = !skipped;
      const node: PlanNode = {
        kind: 'branch',
        id,
        data: { name: clean(branch.name), taken },
        children: flat(child.children),
        ...at(element),
      };
      return settled(child, [node]);
    });
    for (const gone of known.values()) release(gone);
    return made;
  }

  function flag(mount: Mount, element: PlanElement, condition: unknown, inside: Place, fresher: boolean): boolean {
    if (typeof condition !== 'function') return condition as boolean;
    if (inside.skipped) return false;
    if (fresher) callCode(mount, element, [() => booleanOf((condition as () => unknown)(), element)]);
    return mount.code[0]?.value as boolean;
  }

  /** Calls the author's code for a mount again, tracking what it reads. */
  function callCode(mount: Mount, element: PlanElement, pieces: readonly (() => unknown)[]): void {
    for (const code of mount.code) forget(code);
    mount.code = [];
    mount.codeStale = false;
    for (const piece of pieces) {
      try {
        const code = track(piece, () => {
          mount.codeStale = true;
          markStale(mount);
        });
        remember(code);
        mount.code = [...mount.code, code];
      } catch (error) {
        noteCircumstances(error, { element: { kind: tagOf(element.type), source: element.source } });
        if (error instanceof PlanError) throw error;
        const what = thrownText(error);
        throw new PlanError('plan/render-failed', `<${tagOf(element.type)}> threw ${what}`, {
          source: authorPosition(error) ?? element.source,
          cause: error,
        });
      }
    }
  }

  function reused(before: SlotMount, type: unknown, place: Place, key?: string, id?: string): Mount | undefined {
    if (before === undefined) return undefined;
    const same =
      before.type === type && before.skipped === place.skipped && before.element?.key === key && before.id === id;
    if (same && before.parent === place.parent) return before;
    release(before);
    return undefined;
  }

  function release(mount: SlotMount): void {
    if (mount === undefined) return;
    for (const code of mount.code) forget(code);
    mount.code = [];
    if (mount.id !== undefined) ids.release(mount.id, mount);
    for (const child of mount.children) release(child);
  }

  return {
    reads,
    asking,
    takeReadChanges() {
      const taken = readChanges;
      if (taken.size > 0) readChanges = new Set();
      return taken;
    },
    updateSlots,
    unmount: mounts => mounts.forEach(release),
    conflicts: ids.conflicts,
    remember,
    forget,
  };
}

function fresh(type: unknown, place: Place): Mount {
  return {
    type,
    parent: place.parent,
    skipped: place.skipped,
    stale: true,
    element: undefined,
    nodes: [],
    children: [],
    code: [],
    codeStale: true,
  };
}

function settled(mount: Mount, nodes: readonly PlanNode[]): Mount {
  mount.nodes = nodes;
  mount.stale = false;
  return mount;
}

function markStale(parent: Parent | undefined): void {
  for (let at = parent; at !== undefined && !at.stale; at = at.parent) at.stale = true;
}

function flat(mounts: readonly SlotMount[]): readonly PlanNode[] {
  return mounts.flatMap(mount => mount?.nodes ?? []);
}

function at({ source, reads }: PlanElement): Pick<PlanNode, 'source' | 'reads'> {
  return defined({ source, reads });
}

function itemsOf(items: readonly never[], make: ChildFunction, element: PlanElement): readonly PlanElement[] {
  const seen = new Map<string, PlanElement>();
  return items.map((item, index) => {
    const made = make(item, index);
    if (!isElement(made)) {
      throw new PlanError('plan/invalid-props', 'the function in <Each> must return one element', {
        source: element.source,
      });
    }
    claimKey(seen, made, 'Each', element.source);
    return made;
  });
}

/** A component's result; a promise means that it started work. */
/** `source` is that of the plan, where there is no element. */
export function rendered(
  made: unknown,
  element: PlanElement | undefined,
  source: () => SourcePosition | undefined = () => element?.source,
): unknown {
  if (!(made instanceof Promise)) return made;
  made.catch(() => {});
  const tag = element === undefined ? 'the plan' : `<${tagOf(element.type)}>`;
  throw new RenderPhaseTaskError('plan/render-task', `${tag} is async; a render only reads and computes`, {
    source: source(),
  });
}

function booleanOf(value: unknown, element: PlanElement): boolean {
  if (typeof value === 'boolean') return value;
  throw new PlanError('plan/invalid-props', `the condition of <${tagOf(element.type)}> must be true or false`, {
    source: element.source,
  });
}

function sameProps(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every(key => Object.is(a[key], b[key]));
}
