import { err, type Json, json, nodeStatus, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import type { SourcePosition } from '../plan-error.ts';
import { namesOf } from './handlers.ts';
import type { NodeKind } from './node-kind.ts';
import { nodeKinds } from './node-kinds.ts';
import { isRunnable, type PlanNode } from './plan-node.ts';

/** A node as shown and stored: plain data, no code. */
export interface TreeNode {
  readonly kind: NodeKind;
  readonly id: string;
  readonly key?: string;
  readonly status?: z.infer<typeof nodeStatus>;
  /** The iteration of a loop, from 0. */
  readonly iteration?: number;
  readonly source?: SourcePosition;
  /** Names of its handlers, if its kind can have any and they were stored. */
  readonly handlers?: readonly string[];
  readonly data: { readonly [name: string]: Json };
  readonly children: readonly TreeNode[];
}

export type StatusOf = (
  id: string,
) => { readonly status: z.infer<typeof nodeStatus>; readonly iteration?: number } | undefined;

/** The tree as plain data, with the status of each node if `statusOf` knows it. */
export function treeToJson(node: PlanNode, statusOf: StatusOf = () => undefined): TreeNode {
  const state = statusOf(node.id);
  return {
    kind: node.kind,
    id: node.id,
    ...(node.key === undefined ? {} : { key: node.key }),
    ...(state === undefined ? {} : { status: state.status }),
    ...(state?.iteration === undefined ? {} : { iteration: state.iteration }),
    ...(node.source === undefined ? {} : { source: node.source }),
    ...(isRunnable(node) ? { handlers: namesOf(node.code.handlers) } : {}),
    data: node.data as TreeNode['data'],
    children: node.children.map(child => treeToJson(child, statusOf)),
  };
}

const shape = z.strictObject({
  kind: z.enum(Object.keys(nodeKinds) as [NodeKind, ...NodeKind[]]),
  id: z.string().min(1),
  key: z.string().optional(),
  status: nodeStatus.optional(),
  iteration: z.int().nonnegative().optional(),
  source: z.strictObject({ file: z.string(), line: z.int(), column: z.int() }).optional(),
  handlers: z.array(z.string()).optional(),
  data: z.unknown(),
  children: z.array(z.unknown()),
});

export interface TreeFault {
  readonly code: 'tree_invalid';
  /** The place in the tree: kinds and positions from the root. */
  readonly place: string;
  readonly reason: string;
}

/** Reads a tree back; the data of each node must match its kind. */
export function treeFromJson(value: unknown): Result<TreeNode, TreeFault> {
  const plain = json.safeParse(value);
  if (!plain.success) return fault('', plain.error);
  return readNode(plain.data, '');
}

function readNode(value: unknown, place: string): Result<TreeNode, TreeFault> {
  const node = shape.safeParse(value);
  if (!node.success) return fault(place, node.error);
  const here = `${place}/${node.data.kind}`;
  const data = nodeKinds[node.data.kind].data.safeParse(node.data.data);
  if (!data.success) return fault(here, data.error);
  const children: TreeNode[] = [];
  for (const [position, child] of node.data.children.entries()) {
    const read = readNode(child, `${here}[${position}]`);
    if (!read.ok) return read;
    children.push(read.value);
  }
  return ok({ ...node.data, data: data.data, children } as TreeNode);
}

function fault(place: string, error: z.ZodError): Result<never, TreeFault> {
  const [issue] = error.issues;
  const at = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}: `;
  return err({ code: 'tree_invalid', place: place === '' ? '/' : place, reason: `${at}${issue?.message}` });
}
