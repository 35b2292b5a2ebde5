import type { SessionNode } from '@signalbox/model';
import {
  Controls,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react';
import { useEffect, useMemo, useState } from 'react';
import { type GraphShape, graphPlaces } from '../shell/graph-places.ts';
import { Lamp } from '../shell/lamp.tsx';
import { Empty } from '../shell/notices.tsx';
import { placeStanding, type SessionRunDetail, titleOf } from './session-places.ts';

const MOST = 400;
const SHAPE: GraphShape = { direction: 'TB', width: 260, height: 40, gaps: [24, 26] };
/** So many of the last places are in sight when a new one comes. */
const IN_SIGHT = 6;

interface SessionGraphProps {
  readonly run: SessionRunDetail;
  readonly current: string | undefined;
  onCurrent(node: string): void;
}

type Place = Node<{ readonly node: SessionNode; readonly run: SessionRunDetail }, 'place'>;
/** All boxes have it: none is hidden until it was measured, nor measured again when it is made anew. */
const measured = { width: SHAPE.width, height: SHAPE.height };
const nodeTypes = { place: Box };

/** The places of a run and the ways between them, top to bottom. A new place moves into sight. */
export function SessionGraph({ run, current, onCurrent }: SessionGraphProps) {
  const { nodes, preferredTip } = run;
  const [flow, setFlow] = useState<ReactFlowInstance<Place>>();
  const parts = nodes.map(({ nodeId, parentNodeId }) => ({ id: nodeId, parent: parentNodeId ?? undefined }));
  const shape = parts.map(({ id, parent }) => `${id}<${parent ?? ''}`).join('|');
  const places = useMemo(() => (parts.length > MOST ? new Map() : graphPlaces(parts, SHAPE)), [shape]);
  const tip = preferredTip ?? nodes.at(-1)?.nodeId;
  useEffect(() => {
    const seen = nodes.filter(({ isOnPreferredPath }) => isOnPreferredPath).slice(-IN_SIGHT);
    void flow?.fitView({ nodes: seen.map(({ nodeId: id }) => ({ id })), maxZoom: 1, padding: 0.15 });
  }, [flow, shape, tip]);
  if (nodes.length > MOST) {
    return <Empty title={`${nodes.length} places are too many for a picture: the list below has them all`} />;
  }
  const boxes = nodes.map(
    (node): Place => ({
      id: node.nodeId,
      type: 'place',
      position: places.get(node.nodeId) ?? { x: 0, y: 0 },
      measured,
      data: { node, run },
      selected: node.nodeId === current,
      ariaLabel: `${titleOf(node)}, ${placeStanding(node, run).word}`,
    }),
  );
  const known = new Set<string>(nodes.map(({ nodeId }) => nodeId));
  const lines = nodes.flatMap(({ nodeId, parentNodeId, isOnPreferredPath }) =>
    parentNodeId === null || !known.has(parentNodeId)
      ? []
      : [
          {
            id: `${parentNodeId}>${nodeId}`,
            source: parentNodeId,
            target: nodeId,
            className: isOnPreferredPath ? 'line-done' : 'line-skipped',
          },
        ],
  );
  return (
    <div className="graph session-graph">
      <ReactFlow
        nodes={boxes}
        edges={lines}
        nodeTypes={nodeTypes}
        nodesDraggable={false}
        nodesConnectable={false}
        onInit={setFlow}
        onNodeClick={(_, { id }) => onCurrent(id)}
        onNodesChange={changes => {
          for (const change of changes) if (change.type === 'select' && change.selected) onCurrent(change.id);
        }}
        minZoom={0.1}
        proOptions={{ hideAttribution: true }}
      >
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

function Box({ data: { node, run } }: NodeProps<Place>) {
  const { signal } = placeStanding(node, run);
  return (
    <div className={`graph-node session-place node-${signal}`}>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <Lamp signal={signal} />
      <span className="truncate">{titleOf(node)}</span>
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
}
