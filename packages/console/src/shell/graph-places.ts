import { Graph, layout } from '@dagrejs/dagre';

export interface GraphPart {
  readonly id: string;
  readonly parent?: string | undefined;
}

export interface GraphShape {
  /** Left to right, or top to bottom. */
  readonly direction: 'LR' | 'TB';
  /** Of one box. */
  readonly width: number;
  readonly height: number;
  /** Between boxes beside each other, and between one rank and the next. */
  readonly gaps: readonly [beside: number, after: number];
}

/** Where the boxes of a graph are, by their ids. `constraints` keep boxes of one rank in an order. */
export function graphPlaces(
  parts: readonly GraphPart[],
  { direction, width, height, gaps: [nodesep, ranksep] }: GraphShape,
  constraints: { left: string; right: string }[] = [],
): ReadonlyMap<string, { readonly x: number; readonly y: number }> {
  const graph = new Graph();
  graph.setGraph({ rankdir: direction, nodesep, ranksep });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of parts) graph.setNode(id, { width, height });
  for (const { id, parent } of parts) if (parent !== undefined && graph.hasNode(parent)) graph.setEdge(parent, id);
  layout(graph, { constraints });
  return new Map(
    parts.map(({ id }) => {
      const { x, y } = graph.node(id) as { readonly x: number; readonly y: number };
      return [id, { x: x - width / 2, y: y - height / 2 }];
    }),
  );
}
