import type { TreeNode } from '@signalbox/model';
import { allOpen, treeRows } from '../story/tree-rows.ts';

/** The plan as XML: tags are kinds, attributes are facts about the node. */
export function planXml(nodes: readonly TreeNode[]): string {
  const rows = treeRows(nodes, allOpen);
  const lines: string[] = [];
  const open: { readonly depth: number; readonly tag: string }[] = [];
  const close = (depth: number) => {
    for (let last = open.at(-1); last !== undefined && last.depth >= depth; last = open.at(-1)) {
      lines.push(`${'  '.repeat(last.depth)}</${last.tag}>`);
      open.pop();
    }
  };
  for (const { node, depth, hasChildren } of rows) {
    close(depth);
    const tag = /^[A-Za-z_][\w.-]*$/.test(node.kind) ? node.kind : 'node';
    const start = `${'  '.repeat(depth)}<${tag}${attributesOf(node)}`;
    lines.push(hasChildren ? `${start}>` : `${start}/>`);
    if (hasChildren) open.push({ depth, tag });
  }
  close(0);
  return lines.join('\n');
}

/** Labels and source locations, indented. */
export function planOutline(nodes: readonly TreeNode[]): string {
  return treeRows(nodes, allOpen)
    .map(({ node: { label, kind, status, source, detail }, depth }) => {
      const place = source === undefined ? '' : `  ${source.file.split('/').at(-1)}:${source.line}`;
      const more = detail === undefined ? '' : `  ${detail}`;
      return `${'  '.repeat(depth)}${label}${kind === label ? '' : ` <${kind}>`} ${status}${place}${more}`;
    })
    .join('\n');
}

function attributesOf({ id, label, status, iteration, reason, detail }: TreeNode): string {
  const given = { id, label, status, iteration: iteration === 0 ? undefined : iteration, reason, detail };
  return Object.entries(given)
    .flatMap(([name, value]) => (value === undefined ? [] : [` ${name}="${escaped(String(value))}"`]))
    .join('');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll('\n', '&#10;');
}
