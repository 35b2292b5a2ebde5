import { json, text } from '@signalbox/model';
import * as z from 'zod';
import { type ElementEntry, type KindEntry, present, type WorkEntry } from './kind-entry.ts';
import type { NodeKind, RunnableKind } from './node-kind.ts';
import { structureKinds } from './structure-kinds.ts';
import { workKinds } from './work-kinds.ts';
import { asWritten, code, common, label, name } from './written-props.ts';

const ending = {
  data: z.strictObject({ ...label, reason: text.optional() }),
  flow: 'leaf',
  element: {
    props: z.strictObject({ ...common, reason: text.optional() }),
    between: 'nothing',
    content: asWritten,
  },
} as const satisfies KindEntry<'stop' | 'end'>;

/**
 * The definition of every node kind: what authors write, what is stored, how it orders work, and how its work is done. How it is shown is
 * in `planNodeKinds` of `model`, which lists the kinds: a new one does not compile until it is complete.
 */
export const nodeKinds = {
  ...structureKinds,
  ...workKinds,
  effect: {
    data: z.strictObject({ ...label, deps: z.array(json).readonly() }),
    flow: 'leaf',
    element: {
      props: z.strictObject({
        ...common,
        id: name,
        deps: z.array(json).optional(),
        run: code,
        cleanup: code.optional(),
      }),
      between: 'nothing',
      content({ props: { id: _, run, cleanup, deps = [], ...rest } }) {
        return { code: cleanup === undefined ? { run } : { run, cleanup }, data: present({ ...rest, deps }) };
      },
    } satisfies ElementEntry,
  },
  stop: ending,
  end: ending,
} as const satisfies { readonly [Kind in NodeKind]: KindEntry<Kind> };

export type NodeData<Kind extends NodeKind> = z.infer<(typeof nodeKinds)[Kind]['data']>;

/** Kinds whose data and children a render determines. */
export type RenderedKind = {
  [Kind in NodeKind]: (typeof nodeKinds)[Kind]['element'] extends { readonly content: 'rendered' } ? Kind : never;
}[NodeKind];

/** How authors write nodes of the kind. Kinds that nobody writes have no component, and so no element. */
export function elementEntry(kind: NodeKind): ElementEntry {
  return nodeKinds[kind].element as ElementEntry;
}

/** How the work of nodes of the kind is done; undefined for kinds without work, and for unknown ones. */
export function workEntry(kind: RunnableKind): WorkEntry;
export function workEntry(kind: string | undefined): WorkEntry | undefined;
export function workEntry(kind: string | undefined): WorkEntry | undefined {
  return kind !== undefined && Object.hasOwn(nodeKinds, kind)
    ? (nodeKinds[kind as NodeKind] as KindEntry<NodeKind>).work
    : undefined;
}
