import type { TreeNode } from '@signalbox/model';
import { useMemo, useState } from 'react';
import { Lamp } from '../shell/lamp.tsx';
import { type FlowPart, planFlow, shownParts } from '../story/plan-flow.ts';
import { many, nodeStanding } from '../story/words.ts';

interface PlanGraphProps {
  readonly nodes: readonly TreeNode[];
  readonly current: string | undefined;
  onCurrent(node: string): void;
}

/** More parts of one group are counted until somebody asks for them. */
const SHOWN = 12;
const MORE = 200;

/** The plan as it flows: from top to bottom what comes after another, side by side what runs together or instead of each other. */
export function PlanGraph({ nodes, current, onCurrent }: PlanGraphProps) {
  const parts = useMemo(() => planFlow(nodes), [nodes]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide plan is scrolled with the keyboard
    <section className="graph flow" aria-label="Plan as a graph" tabIndex={0}>
      {parts.map(part => (
        <Part key={part.node.id} part={part} current={current} onCurrent={onCurrent} />
      ))}
    </section>
  );
}

interface PartProps extends Pick<PlanGraphProps, 'current' | 'onCurrent'> {
  readonly part: FlowPart;
}

function Part({ part, current, onCurrent }: PartProps) {
  const { node, shape, isLoop, parts } = part;
  const [most, setMost] = useState(SHOWN);
  const box = <Box node={node} isLoop={isLoop} isCurrent={node.id === current} onCurrent={onCurrent} />;
  if (shape === 'work') return box;
  const { shown, rest } = shownParts(parts, most);
  return (
    <div
      className={`flow-group flow-${shape}`}
      data-loop={isLoop || undefined}
      data-skipped={node.status === 'skipped' || undefined}
    >
      {box}
      <ol className="flow-parts">
        {shown.map(inner => (
          <li key={inner.node.id}>
            <Part part={inner} current={current} onCurrent={onCurrent} />
          </li>
        ))}
        {rest.size > 0 && (
          <li>
            <button type="button" className="flow-rest" onClick={() => setMost(most + MORE)}>
              {[...rest].map(([status, count]) => `${count} ${nodeStanding(status).word}`).join(', ')}
              <span className="text-working">Show more</span>
            </button>
          </li>
        )}
      </ol>
    </div>
  );
}

interface BoxProps extends Pick<PlanGraphProps, 'onCurrent'> {
  readonly node: TreeNode;
  readonly isLoop: boolean;
  readonly isCurrent: boolean;
}

function Box({ node, isLoop, isCurrent, onCurrent }: BoxProps) {
  const { signal, word } = nodeStanding(node.status, node.reason);
  return (
    <button
      type="button"
      className={`graph-node flow-node node-${signal}`}
      aria-pressed={isCurrent}
      title={node.label}
      onClick={() => onCurrent(node.id)}
    >
      <Lamp signal={signal} />
      <span className="truncate">{node.label}</span>
      {node.kind !== node.label && <span className="kind">{node.kind}</span>}
      {isLoop && node.iteration > 0 && <span className="turn">↻ {many(node.iteration, 'turn')}</span>}
      <span className="sr-only"> {word}</span>
    </button>
  );
}
