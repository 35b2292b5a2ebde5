import { canonicalJson, type Json } from '@signalbox/model';
import type { TreeNode } from './tree-json.ts';

/** The tree for people: one element per node, the same text for the same tree. */
export function treeToXml(node: TreeNode, indent = ''): string {
  const { prompt, ...data } = node.data;
  const attributes = [
    ['id', node.id],
    ...(node.key === undefined ? [] : [['key', node.key]]),
    ...(node.status === undefined ? [] : [['status', node.status]]),
    ...(node.iteration === undefined ? [] : [['iteration', String(node.iteration)]]),
    ...Object.keys(data)
      .sort()
      .map(name => [name, textOf(data[name] ?? null)]),
  ];
  const open = `${indent}<${node.kind}${attributes.map(([name, value]) => ` ${name}="${attribute(value ?? '')}"`).join('')}`;
  const inside = [
    ...(typeof prompt === 'string' ? [`${indent}  ${content(prompt)}`] : []),
    ...node.children.map(child => treeToXml(child, `${indent}  `)),
  ];
  return inside.length === 0 ? `${open}/>` : [`${open}>`, ...inside, `${indent}</${node.kind}>`].join('\n');
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}

function attribute(text: string): string {
  return content(text)
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;')
    .replaceAll('\r', '&#13;')
    .replaceAll('\t', '&#9;');
}

/** XML 1.0 cannot represent control characters and lone surrogates; they become the replacement character. */
function content(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
