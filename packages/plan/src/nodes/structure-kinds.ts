import { text } from '@signalbox/model';
import * as z from 'zod';
import { isElement, type PlanChild } from '../jsx/element.ts';
import type { KindEntry } from './kind-entry.ts';
import type { NodeKind } from './node-kind.ts';
import { asWritten, code, common, count, label, name } from './written-props.ts';

export const DEFAULT_MAX_ITERATIONS = 100;

const condition = z.union([z.boolean(), code], 'must be true, false or a function that returns one of them');
const branch = z.custom<PlanChild>(value => isBranch(value), 'must be an element, a list of elements or nothing');
const loopData = z.strictObject({ ...label, goesOn: z.boolean(), maxIterations: z.int().positive() });
const body = { between: 'nodes or body function', content: 'rendered' } as const;
const nodes = { between: 'nodes', content: asWritten } as const;

/** Kinds of nodes that hold others, and decide which of them run and when. */
export const structureKinds = {
  plan: { data: z.strictObject({ ...label, name: text }), flow: 'holds', element: undefined },
  component: { data: z.strictObject({ name: text }), flow: 'holds', element: undefined },
  branch: {
    data: z.strictObject({ name: text, taken: z.boolean() }),
    flow: 'through',
    element: undefined,
  },
  if: {
    data: z.strictObject({ ...label, condition: z.boolean() }),
    flow: 'through',
    element: {
      props: z.strictObject({ ...common, condition, else: branch.optional() }),
      between: 'nodes',
      content: 'rendered',
    },
  },
  switch: {
    data: z.strictObject({ ...label, value: z.union([z.string(), z.number(), z.boolean()]) }),
    flow: 'through',
    element: {
      props: z.strictObject({
        ...common,
        value: z.union([z.string(), z.number(), z.boolean()], 'must be a string, a number or a boolean'),
        cases: z.record(z.string(), branch),
        default: branch.optional(),
      }),
      between: 'nothing',
      content: 'rendered',
    },
  },
  each: {
    data: z.strictObject({ ...label, items: z.int().nonnegative() }),
    flow: 'through',
    element: {
      props: z.strictObject({ ...common, items: z.array(z.unknown(), 'must be a list') }),
      between: 'item function',
      content: 'rendered',
    },
  },
  while: {
    data: loopData,
    flow: 'holds',
    element: { ...body, props: z.strictObject({ ...common, maxIterations: count.optional(), condition }) },
  },
  ralph: {
    data: loopData,
    flow: 'holds',
    element: {
      ...body,
      props: z.strictObject({ ...common, maxIterations: count.optional(), until: condition.optional() }),
    },
  },
  // A loop whose second and last turn is its fallback.
  recover: {
    data: loopData,
    flow: 'holds',
    element: { between: 'nodes', content: 'rendered', props: z.strictObject({ ...common, fallback: branch }) },
  },
  phase: {
    data: z.strictObject({ ...label, name: text }),
    flow: 'phase',
    element: { ...nodes, props: z.strictObject({ ...common, name }) },
  },
  step: {
    data: z.strictObject({ ...label, name: text.optional() }),
    flow: 'step',
    element: { ...nodes, props: z.strictObject({ ...common, name: name.optional() }) },
  },
  parallel: {
    data: z.strictObject({ ...label, limit: z.int().positive().optional() }),
    flow: 'free',
    element: { ...nodes, props: z.strictObject({ ...common, limit: count.optional() }) },
  },
} as const satisfies { readonly [Kind in NodeKind]?: KindEntry<Kind> };

function isBranch(value: unknown): boolean {
  if (value === null || value === undefined || typeof value === 'boolean') return true;
  return Array.isArray(value) ? value.every(isBranch) : isElement(value);
}
