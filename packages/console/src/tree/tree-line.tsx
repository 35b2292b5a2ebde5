import { nodeKindFacts } from '@signalbox/model';
import { type CSSProperties, memo } from 'react';
import { Lamp } from '../shell/lamp.tsx';
import { reasonWords } from '../story/reason-words.ts';
import type { TreeRow } from '../story/tree-rows.ts';
import { nodeStanding } from '../story/words.ts';

interface TreeLineProps extends TreeRow {
  /** Where the line is, from the top. */
  readonly start: number;
  /** Those of its handlers that ran. */
  readonly ran: readonly string[] | undefined;
  /** Whether the Tab key comes here. */
  readonly isCurrent: boolean;
  readonly isLooked: boolean;
  onCurrent(node: string): void;
  onOpen(node: string, isOpen: boolean): void;
}

/** One node on its line. Drawn again only when something of it changed. */
export const TreeLine = memo(function TreeLine(props: TreeLineProps) {
  const { node, depth, hasChildren, isOpen, start, ran = [], isCurrent, isLooked, onCurrent, onOpen } = props;
  const { signal, word } = nodeStanding(node.status, node.reason);
  const isLoop = nodeKindFacts(node.kind)?.role === 'loop';
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it has the keys
    <div
      role="treeitem"
      aria-level={depth + 1}
      aria-expanded={hasChildren ? isOpen : undefined}
      aria-selected={isLooked}
      tabIndex={isCurrent ? 0 : -1}
      className={`node node-${signal}`}
      data-node={node.id}
      data-status={node.status}
      data-leaf={hasChildren ? undefined : ''}
      style={{ '--depth': depth, transform: `translateY(${start}px)` } as CSSProperties}
      onClick={() => onCurrent(node.id)}
    >
      <span className="guides" />
      <button
        type="button"
        className="fold"
        tabIndex={-1}
        aria-hidden="true"
        disabled={!hasChildren}
        onClick={() => onOpen(node.id, !isOpen)}
      >
        {hasChildren ? (isOpen ? '▾' : '▸') : ''}
      </button>
      <Lamp signal={signal} />
      <span className="node-label">{node.label}</span>
      {node.kind !== node.label && <span className="kind">{node.kind}</span>}
      <span className="sr-only">
        {word}
        {node.reason !== undefined && `: ${reasonWords(node.reason)}`}
      </span>
      {!isLoop && node.iteration > 0 && <span className="turn">turn {node.iteration + 1}</span>}
      {handlersOf(node.handlers, ran).map(([handler, hasRun]) => (
        <span key={handler} className="handler" data-ran={hasRun} title={hasRun ? `${handler} ran` : `has ${handler}`}>
          {handler}
        </span>
      ))}
      {node.reason !== undefined && (
        <span className="node-reason" aria-hidden="true" title={node.reason}>
          {reasonWords(node.reason)}
        </span>
      )}
      {node.detail !== undefined && (
        <span className="node-detail" title={node.detail}>
          {node.detail}
        </span>
      )}
    </div>
  );
});

/** What its author wrote for it, and what ran though it is not known to be written: each with whether it ran. */
function handlersOf(
  written: readonly string[] = [],
  ran: readonly string[],
): readonly (readonly [handler: string, hasRun: boolean])[] {
  return [...new Set([...written, ...ran])].map(handler => [handler, ran.includes(handler)]);
}
