import type { TreeNode } from '@signalbox/model';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { firstToSee, matching, treeRows } from '../story/tree-rows.ts';
import { type NodeTimes, TreeLine } from './tree-line.tsx';

interface PlanTreeProps {
  readonly nodes: readonly TreeNode[];
  /** Shows only the nodes that match, and their surroundings. */
  readonly query: string;
  /** The handlers that ran, by node. */
  readonly handlers: ReadonlyMap<string, readonly string[]>;
  /** How long each node worked, and since when it does. */
  readonly times: NodeTimes;
  /** The key of the selected node. */
  readonly current: string | undefined;
  onCurrent(node: string): void;
}

const LINE_HEIGHT = 26;

/**
 * The plan as a tree for the arrow keys: up and down, left closes or goes to the parent, right opens or goes in. Only visible lines are
 * drawn: a plan can have thousands.
 */
export const PlanTree = memo(function PlanTree({ nodes, query, handlers, times, current, onCurrent }: PlanTreeProps) {
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const box = useRef<HTMLDivElement>(null);
  /** The line to focus once it is drawn. */
  const wanted = useRef<string>(undefined);
  const rows = useMemo(() => treeRows(matching(nodes, query), chosen), [nodes, query, chosen]);
  const lines = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 12,
  });
  const first = useMemo(() => firstToSee(nodes), [nodes]);
  const at = Math.max(
    0,
    rows.findIndex(({ node }) => node.id === (current ?? first)),
  );
  // A long plan begins where something failed or happens.
  const hasScrolled = useRef(false);
  useEffect(() => {
    if (hasScrolled.current || rows.length === 0) return;
    hasScrolled.current = true;
    if (at > 0) lines.scrollToIndex(at, { align: 'center' });
  }, [rows, at, lines]);

  const go = (index: number) => {
    const to = Math.min(Math.max(index, 0), rows.length - 1);
    const row = rows[to];
    if (row === undefined) return;
    wanted.current = row.node.id;
    lines.scrollToIndex(to);
    onCurrent(row.node.id);
  };
  useEffect(() => {
    if (wanted.current === undefined) return;
    const line = box.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(wanted.current)}"]`);
    if (line === null || line === undefined) return;
    wanted.current = undefined;
    line.focus({ preventScroll: true });
  });
  const setOpen = useCallback(
    (id: string, isOpen: boolean) => setChosen(before => new Map(before).set(id, isOpen)),
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
    <div ref={box} className="tree-box">
      <div role="tree" aria-label="Plan" className="tree" style={{ height: lines.getTotalSize() }} onKeyDown={walk}>
        {lines.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <TreeLine
              key={row.node.id}
              node={row.node}
              depth={row.depth}
              hasChildren={row.hasChildren}
              isOpen={row.isOpen}
              work={row.work}
              turns={row.turns}
              time={times.get(row.node.id)}
              start={start}
              ran={handlers.get(row.node.id)}
              isCurrent={index === at}
              isLooked={row.node.id === current}
              onCurrent={onCurrent}
              onOpen={setOpen}
            />
          );
        })}
      </div>
    </div>
  );
});
