import { nodeKindFacts, type TreeNode } from '@signalbox/app/host';
import { describeDuration } from '../duration.ts';
import { markOf, reasonWords, titleOf } from '../run-tree.ts';
import { type Paint, shown } from '../terminal.ts';
import type { LiveFacts, NodeFacts } from './live-facts.ts';
import { fitted, widthOf } from './text-width.ts';

export interface ScreenSize {
  readonly width: number;
  readonly height: number;
}

/** A line before it is cut and painted. */
interface Row {
  readonly depth: number;
  readonly status: string;
  readonly title: string;
  readonly notes: string;
  /** A task or an agent, not a container. */
  readonly isWork: boolean;
}

/** Levels of decreasing detail, tried until the tree fits; each also omits what the previous levels omit. */
const LEVELS = [
  'all',
  'finished inside hidden',
  'finished siblings together',
  'coming siblings together',
  'no sayings',
];

/**
 * The current tree of a run, at most `height` lines of `width` columns: working and failed nodes stay; finished and coming
 * ones are grouped if there is too little room. Once nothing drives the run, no node is shown as working: those without a
 * recorded end were cut off.
 */
export function liveScreen(
  tree: TreeNode,
  facts: LiveFacts,
  { width, height }: ScreenSize,
  now: number,
  paint: Paint,
  isOver = false,
): readonly string[] {
  const room = Math.max(1, height - 1);
  let rows: readonly Row[] = [];
  for (let level = 0; level < LEVELS.length; level += 1) {
    rows = rowsOf(tree, facts, now, level, 0);
    if (rows.length <= room) break;
  }
  const kept = rows.length <= room ? rows : rows.slice(0, room - 1);
  const lines = kept.map(row => lineOf(isOver ? atRest(row) : row, width, now, paint));
  if (kept.length < rows.length) lines.push(paint.faint(fitted(`… ${rows.length - kept.length} more`, width)));
  return [...lines, paint.faint(fitted(footer(facts, now, !isOver && tree.status === 'running'), width))];
}

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

function lineOf({ depth, status, title, notes }: Row, width: number, now: number, paint: Paint): string {
  const indent = '  '.repeat(depth);
  const room = width - indent.length - 2;
  if (room < 1) return fitted(indent, width);
  const head = fitted(title, room);
  const tail = notes === '' ? '' : fitted(`  ${notes}`, room - widthOf(head));
  const spinner = SPINNER[Math.floor(now / 100) % SPINNER.length] ?? '';
  const mark = status === 'running' ? paint.strong(spinner) : status === 'said' ? ' ' : markOf(status, paint);
  const body = status === 'said' ? paint.faint(head) : head;
  return `${indent}${mark} ${body}${tail === '' ? '' : paint.faint(tail)}`;
}

function atRest(row: Row): Row {
  if (row.status !== 'running') return row;
  return { ...row, status: 'blocked', notes: row.isWork ? 'cut off' : row.notes };
}

function rowsOf(node: TreeNode, facts: LiveFacts, now: number, level: number, depth: number): readonly Row[] {
  if (node.kind === 'branch' || node.kind === 'component') return childRows(node, facts, now, level, depth);
  const { status = 'idle' } = node;
  const known = facts.nodes.get(node.id);
  const hidden = level >= 1 && depth > 0 && isFinished(node) && node.children.length > 0;
  const notes = [
    ...(hidden ? [`${leavesOf(node)} inside`] : []),
    ...loopNotes(node, facts),
    ...(known === undefined ? [] : notesOf(status, known, now)),
  ].join(' · ');
  const row = { depth, status, title: shown(titleOf(node)), notes, isWork: known !== undefined };
  const saying =
    level < 4 && status === 'running' && known?.said !== undefined
      ? [{ depth: depth + 1, status: 'said', title: shown(lastLine(known.said)), notes: '', isWork: false }]
      : [];
  return [row, ...saying, ...(hidden ? [] : childRows(node, facts, now, level, depth + 1))];
}

function childRows(node: TreeNode, facts: LiveFacts, now: number, level: number, depth: number): readonly Row[] {
  const rows: Row[] = [];
  const children = node.children;
  for (let index = 0; index < children.length; index += 1) {
    const child = children[index] as TreeNode;
    const alike = level >= 2 && isFinished(child) ? isFinished : level >= 3 && isComing(child) ? isComing : undefined;
    let end = index + 1;
    while (alike !== undefined && end < children.length && alike(children[end] as TreeNode)) end += 1;
    if (end - index >= 2) {
      const words = alike === isFinished ? 'done' : 'to come';
      rows.push({
        depth,
        status: alike === isFinished ? 'succeeded' : 'idle',
        title: `${end - index} ${words}`,
        notes: '',
        isWork: false,
      });
      index = end - 1;
    } else rows.push(...rowsOf(child, facts, now, level, depth));
  }
  return rows;
}

/** A loop's round is the round of the work inside it. */
function loopNotes(node: TreeNode, { nodes }: LiveFacts): readonly string[] {
  if (nodeKindFacts(node.kind)?.role !== 'loop') return [];
  const rounds = idsIn(node).flatMap(id => nodes.get(id)?.round ?? []);
  if (rounds.length === 0) return [];
  const { maxIterations } = node.data;
  return [`round ${Math.max(...rounds) + 1}${typeof maxIterations === 'number' ? ` of ${maxIterations}` : ''}`];
}

function idsIn({ id, children }: TreeNode): readonly string[] {
  return [id, ...children.flatMap(idsIn)];
}

function notesOf(status: string, facts: NodeFacts, now: number): readonly string[] {
  const { startedAt, endedAt, attempt, retryAt, error, blocked } = facts;
  const took = startedAt === undefined ? [] : [describeDuration((endedAt ?? now) - startedAt)];
  const tries = attempt > 1 ? [`attempt ${attempt}`] : [];
  if (status === 'running' && retryAt !== undefined && retryAt > now)
    return [`again in ${describeDuration(retryAt - now)}`, ...(error === undefined ? [] : [shown(error)])];
  if (status === 'running' || status === 'succeeded') return [...took, ...tries];
  if (status === 'blocked') return [shown(reasonWords(blocked ?? 'blocked'))];
  if (status === 'failed') return [...tries, ...(error === undefined ? [] : [shown(error)])];
  if (status === 'scheduled' && retryAt !== undefined)
    return [`again in ${describeDuration(retryAt - now)}`, ...(error === undefined ? [] : [shown(error)])];
  return [];
}

function footer({ startedAt, done, failed, retries }: LiveFacts, now: number, goesOn: boolean): string {
  return [
    ...(startedAt === undefined ? [] : [describeDuration(now - startedAt)]),
    `${done} done`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(retries === 0 ? [] : [`${retries} retried`]),
    ...(goesOn ? ['Ctrl-C pauses'] : []),
  ].join(' · ');
}

function lastLine(text: string): string {
  return text.trim().split(/\r?\n/).at(-1)?.trim() ?? '';
}

function isFinished({ status, children }: TreeNode): boolean {
  if (status === 'succeeded' || status === 'skipped') return true;
  return status === undefined && children.length > 0 && children.every(isFinished);
}

function isComing({ status = 'idle', children }: TreeNode): boolean {
  return (status === 'idle' || status === 'scheduled') && children.every(isComing);
}

function leavesOf({ children }: TreeNode): number {
  return children.reduce((sum, child) => sum + (child.children.length === 0 ? 1 : leavesOf(child)), 0);
}
