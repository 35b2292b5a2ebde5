import type { TreeNode } from '@signalbox/model';

/** A node on its line of the tree. */
export interface TreeRow {
  readonly node: TreeNode;
  readonly depth: number;
  readonly hasChildren: boolean;
  readonly isOpen: boolean;
}

/** The lines that show, top to bottom: what is under a closed node does not. */
export function treeRows(nodes: Iterable<TreeNode>, closed: ReadonlySet<string>): readonly TreeRow[] {
  const children = Map.groupBy(nodes, node => node.parent);
  const rows: TreeRow[] = [];
  const visit = (parent: string | undefined, depth: number): void => {
    for (const node of (children.get(parent) ?? []).toSorted((a, b) => a.index - b.index)) {
      const hasChildren = children.has(node.id);
      const isOpen = !closed.has(node.id);
      rows.push({ node, depth, hasChildren, isOpen });
      if (isOpen) visit(node.id, depth + 1);
    }
  };
  visit(undefined, 0);
  return rows;
}
