import type { TreeNode } from '@signalbox/model';
import { Background, Controls, Handle, type Node, type NodeProps, Position, ReactFlow } from '@xyflow/react';
import { useMemo, useRef } from 'react';
import { type GraphShape, graphPlaces } from '../shell/graph-places.ts';
import { Lamp } from '../shell/lamp.tsx';
import { Empty } from '../shell/notices.tsx';
import { nodeStanding } from '../story/words.ts';

const MOST = 400;
/** Smaller than this nobody reads it: what is wider begins at its root, and is moved by hand. */
const READABLE = 0.75;
const MARGIN = 12;
const SHAPE: GraphShape = { direction: 'LR', width: 150, height: 40, gaps: [12, 28] };

interface PlanGraphProps {
  readonly nodes: readonly TreeNode[];
  readonly current: string | undefined;
  onCurrent(node: string): void;
}

type PlanNode = Node<{ readonly node: TreeNode }, 'plan'>;
/** All boxes have it: none is hidden until it was measured, nor measured again when it is made anew. */
const measured = { width: SHAPE.width, height: SHAPE.height };
const nodeTypes = { plan: Box };

/** The plan as boxes and lines, left to right. */
export function PlanGraph({ nodes, current, onCurrent }: PlanGraphProps) {
  // Where boxes are depends on who is whose child alone: what a node is doing does not move it.
  const shape = nodes.map(({ id, parent }) => `${id}<${parent ?? ''}`).join('|');
  const box = useRef<HTMLDivElement>(null);
  const places: ReturnType<typeof graphPlaces> = useMemo(
    () => (nodes.length > MOST ? new Map() : graphPlaces(nodes, SHAPE, siblingsInOrder(nodes))),
    [shape],
  );
  if (nodes.length > MOST) {
    return <Empty title={`${nodes.length} nodes are too many for a picture: the tree has them all`} />;
  }
  const boxes = nodes.map(
    (node): PlanNode => ({
      id: node.id,
      type: 'plan',
      position: places.get(node.id) ?? { x: 0, y: 0 },
      measured,
      data: { node },
      selected: node.id === current,
      ariaLabel: `${node.label}, ${nodeStanding(node.status).word}`,
    }),
  );
  const lines = nodes.flatMap(({ id, parent, status }) =>
    parent === undefined
      ? []
      : [{ id: `${parent}>${id}`, source: parent, target: id, className: `line-${nodeStanding(status).signal}` }],
  );
  return (
    <div ref={box} className="graph">
      <ReactFlow
        nodes={boxes}
        edges={lines}
        nodeTypes={nodeTypes}
        nodesDraggable={false}
        nodesConnectable={false}
        onNodeClick={(_, { id }) => onCurrent(id)}
        onInit={flow => {
          const { clientWidth: room = 0, clientHeight = 0 } = box.current ?? {};
          const right = Math.max(...[...places.values()].map(({ x }) => x + SHAPE.width));
          const bottom = Math.max(...[...places.values()].map(({ y }) => y + SHAPE.height));
          if (right * READABLE + 2 * MARGIN <= room)
            void flow.fitView({ minZoom: READABLE, maxZoom: 1, padding: 0.05 });
          else {
            const y = Math.max(MARGIN, (clientHeight - bottom * READABLE) / 2);
            void flow.setViewport({ x: MARGIN, y, zoom: READABLE });
          }
        }}
        minZoom={0.1}
        proOptions={{ hideAttribution: true }}
      >
        <Background gap={24} size={1} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

function Box({ data: { node } }: NodeProps<PlanNode>) {
  const { signal } = nodeStanding(node.status);
  return (
    <div className={`graph-node node-${signal}`}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <Lamp signal={signal} />
      <span className="truncate">{node.label}</span>
      {node.kind !== node.label && <span className="kind">{node.kind}</span>}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

/** Those of one parent stay in the order of the plan: it is the order in which they happen. */
function siblingsInOrder(nodes: readonly TreeNode[]): { left: string; right: string }[] {
  return [...Map.groupBy(nodes, ({ parent }) => parent).values()].flatMap(siblings => {
    const inOrder = siblings.toSorted((a, b) => a.index - b.index);
    return inOrder.slice(1).map(({ id }, place) => ({ left: inOrder[place]?.id ?? '', right: id }));
  });
}
