import { nodeKindFacts } from '@signalbox/model';
import { type CSSProperties, memo } from 'react';
import { Lamp } from '../shell/lamp.tsx';
import { useNow } from '../shell/use-now.ts';
import { HELD_BELOW } from '../story/held-groups.ts';
import { reasonWords } from '../story/reason-words.ts';
import type { TreeRow } from '../story/tree-rows.ts';
import { lasted, many, nodeStanding, span } from '../story/words.ts';

export type NodeTimes = ReadonlyMap<string, { readonly ms: number; readonly since?: number }>;

interface TreeLineProps extends TreeRow {
  readonly time: { readonly ms: number; readonly since?: number } | undefined;
  /** The line's offset from the top. */
  readonly start: number;
  /** Its handlers that ran. */
  readonly ran: readonly string[] | undefined;
  /** Whether the Tab key reaches it. */
  readonly isCurrent: boolean;
  readonly isLooked: boolean;
  onCurrent(node: string): void;
  onOpen(node: string, isOpen: boolean): void;
}

/** One node on its line. Drawn again only when it changed. */
export const TreeLine = memo(function TreeLine(props: TreeLineProps) {
  const {
    node,
    depth,
    hasChildren,
    isOpen,
    work,
    turns,
    time,
    start,
    ran = [],
    isCurrent,
    isLooked,
    onCurrent,
    onOpen,
  } = props;
  // A round that was not needed does not take back the rounds before it.
  const isSpent = node.status === 'skipped' && turns !== undefined && turns > 0;
  const { signal, word } = nodeStanding(isSpent ? 'succeeded' : node.status, node.reason);
  const isLoop = nodeKindFacts(node.kind)?.role === 'loop';
  const hasTurned = turns !== undefined && (isLoop || isSpent);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the surrounding tree handles the keys
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
      {hasTurned && <span className="turn">{many(turns, 'turn')} ✓</span>}
      {work !== undefined && work.total > 1 && (
        <span className="turn" title={`${work.done} of ${work.total} done`}>
          {work.done}/{work.total}
          {work.isOver && ' ✓'}
        </span>
      )}
      {!isLoop && !isSpent && node.iteration > 0 && <span className="turn">turn {node.iteration + 1}</span>}
      {handlersOf(node.handlers, ran).map(([handler, hasRun]) => (
        <span key={handler} className="handler" data-ran={hasRun} title={hasRun ? `${handler} ran` : `has ${handler}`}>
          {handler}
        </span>
      ))}
      {node.reason !== undefined && node.reason !== HELD_BELOW && (
        <span className="node-reason" aria-hidden="true" title={node.reason}>
          {reasonWords(node.reason)}
        </span>
      )}
      {node.detail !== undefined && !hasTurned && (
        <span className="node-detail" title={node.detail}>
          {node.detail}
        </span>
      )}
      {time !== undefined && <NodeTime {...time} />}
    </div>
  );
});

/** How long a node worked; it counts on while it works. */
function NodeTime({ ms, since }: { readonly ms: number; readonly since?: number }) {
  const now = useNow(since !== undefined);
  const total = ms + (since === undefined ? 0 : Math.max(0, now - since));
  return <span className="node-time mono">{since === undefined ? lasted(total) : span(total)}</span>;
}

/** The node's handlers: those its author wrote and those that ran, each with whether it ran. */
function handlersOf(
  written: readonly string[] = [],
  ran: readonly string[],
): readonly (readonly [handler: string, hasRun: boolean])[] {
  return [...new Set([...written, ...ran])].map(handler => [handler, ran.includes(handler)]);
}
