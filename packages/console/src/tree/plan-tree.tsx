import type { TreeNode } from '@signalbox/model';
import { type KeyboardEvent, memo, useCallback, useMemo, useRef, useState } from 'react';
import { treeRows } from '../story/tree-rows.ts';
import { TreeLine } from './tree-line.tsx';

interface PlanTreeProps {
  readonly nodes: readonly TreeNode[];
  /** The node that is looked at, by its key. */
  readonly current: string | undefined;
  onCurrent(node: string): void;
}

/** The plan as a tree that the arrow keys walk: up and down, left closes or goes to the parent, right opens or goes in. */
export const PlanTree = memo(function PlanTree({ nodes, current, onCurrent }: PlanTreeProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const list = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => treeRows(nodes, closed), [nodes, closed]);
  const at = Math.max(
    0,
    rows.findIndex(({ node }) => node.id === current),
  );

  const go = (index: number) => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (row === undefined) return;
    onCurrent(row.node.id);
    (list.current?.children[rows.indexOf(row)] as HTMLElement | undefined)?.focus();
  };
  const setOpen = useCallback(
    (id: string, isOpen: boolean) =>
      setClosed(before => {
        const after = new Set(before);
        if (isOpen) after.delete(id);
        else after.add(id);
        return after;
      }),
    [],
  );

  const walk = (event: KeyboardEvent) => {
    const row = rows[at];
    if (row === undefined) return;
    const moves: Record<string, () => void> = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      ArrowRight: () =>
        row.hasChildren && !row.isOpen ? setOpen(row.node.id, true) : go(row.hasChildren ? at + 1 : at),
      ArrowLeft: () =>
        row.hasChildren && row.isOpen
          ? setOpen(row.node.id, false)
          : go(rows.findIndex(({ node }) => node.id === row.node.parent)),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  };

  return (
    <div ref={list} role="tree" aria-labelledby="plan-title" className="tree" onKeyDown={walk}>
      {rows.map(({ node, depth, hasChildren, isOpen }, index) => (
        <TreeLine
          key={node.id}
          node={node}
          depth={depth}
          hasChildren={hasChildren}
          isOpen={isOpen}
          isCurrent={index === at}
          onCurrent={onCurrent}
          onOpen={setOpen}
        />
      ))}
    </div>
  );
});
