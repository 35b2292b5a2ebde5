import type { NodeDetail, RunDetail, SessionDetail } from '@signalbox/app/guided';
import { type Paint, shown } from '../terminal.ts';
import { answerText } from './waiting-report.ts';

/** A session for people: its health, each run as a tree of places, open gaps and notes. */
export function describeSession(session: SessionDetail, paint: Paint): string {
  const { sessionId, health, defect, events, head, isKept, lastActiveAt, workspace, runs, omittedRuns } = session;
  const good = health === 'healthy' ? paint.good(health) : paint.bad(health);
  const lines = [
    `session ${paint.strong(sessionId)}  ${good}${isKept ? '  kept' : ''}`,
    paint.faint(`  ${events} events, last ${lastActiveAt}, head ${head}`),
  ];
  const where = [workspace.repo_root, workspace.git_branch, workspace.git_head_sha].filter(each => each !== undefined);
  if (where.length > 0) lines.push(paint.faint(`  ${where.map(shown).join('  ')}`));
  if (defect !== undefined) {
    lines.push(
      paint.bad(`  ${defect.code}: ${shown(defect.file)}: ${shown(defect.reason)}`),
      health === 'corrupt_tail'
        ? '  The valid part follows. You can export it, but not continue it.'
        : '  None of it can be trusted. Restore it from a backup or an export.',
    );
  }
  for (const run of runs) lines.push('', ...describeRun(run, sessionId, paint));
  if (omittedRuns > 0) lines.push('', `and ${omittedRuns} more runs`);
  return lines.join('\n');
}

function describeRun(run: RunDetail, sessionId: string, paint: Paint): readonly string[] {
  const { workflow, name, status, preferences, source, nodes, omittedNodes, gaps, recap } = run;
  const title = name === undefined ? '' : `  ${shown(name)}`;
  const lines = [
    `run ${paint.strong(run.runId)}  ${statusText(status, paint)}  ${shown(workflow?.workflowId ?? 'unknown workflow')}${title}`,
    paint.faint(
      `  ${preferences.autonomy}, ${preferences.riskPolicy}; pinned to ${workflow?.workflowHash ?? 'nothing'}`,
    ),
  ];
  if (source.kind !== 'as_pinned') {
    const why = source.kind === 'changed' ? `is ${source.workflowHash} now` : 'is gone or no longer valid';
    lines.push(paint.doubtful(`  Its source ${why}; the run continues with its pinned version.`));
  }
  if (omittedNodes > 0) lines.push(`  (${omittedNodes} earlier places are not shown)`);
  lines.push(...treeLines(run, paint));
  const open = gaps.filter(gap => gap.resolvedBy === undefined);
  if (open.length > 0) lines.push('  gaps');
  for (const gap of open) {
    const { category, detail } = gap.reason;
    lines.push(`    ${gap.gapId}  ${gap.severity}  ${category}:${detail}`, `      ${shown(gap.summary)}`);
    if (category === 'user_only_dependency') {
      lines.push(paint.faint(`      signalbox answer ${sessionId} ${gap.gapId} --approve`));
    }
  }
  const answered = gaps.filter(gap => gap.answer !== undefined);
  for (const gap of answered) lines.push(`  ${paint.good('✓')} ${shown(gap.summary)} ${shown(answerText(gap))}`);
  if (recap !== undefined) lines.push('  notes', ...recap.split('\n').map(line => `    ${shown(line)}`));
  const artifacts = nodes.filter(node => node.isOnPreferredPath).flatMap(node => node.artifacts ?? []);
  if (artifacts.length > 0) lines.push('  artifacts', ...artifacts.map(({ text }) => `    ${shown(text)}`));
  return nodes.length === 0 ? lines.slice(0, 2) : lines;
}

function statusText(status: RunDetail['status'], paint: Paint): string {
  if (status === 'complete') return paint.good(status);
  return status === 'in_progress' ? status : paint.doubtful(status);
}

/** One place per line. A first child continues below its parent; each further child starts an indented branch. */
function treeLines({ nodes, preferredTip }: RunDetail, paint: Paint): readonly string[] {
  const known = new Map(nodes.map(node => [node.nodeId, node]));
  const children = new Map<string, NodeDetail[]>();
  const roots: NodeDetail[] = [];
  for (const node of nodes) {
    const parent = node.parentNodeId === null ? undefined : known.get(node.parentNodeId);
    if (parent === undefined) roots.push(node);
    else children.set(parent.nodeId, [...(children.get(parent.nodeId) ?? []), node]);
  }
  const lines: string[] = [];
  // Not recursive: a walk can be long.
  const open = roots.toReversed().map(node => ({ node, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next;
    lines.push(nodeLine(node, depth, node.nodeId === preferredTip, paint));
    const below = children.get(node.nodeId) ?? [];
    const preferred = below.find(child => child.isOnPreferredPath) ?? below.at(-1);
    if (preferred !== undefined) open.push({ node: preferred, depth });
    for (const other of below.toReversed()) if (other !== preferred) open.push({ node: other, depth: depth + 1 });
  }
  return lines;
}

function nodeLine(node: NodeDetail, depth: number, isTip: boolean, paint: Paint): string {
  const mark = node.nodeKind === 'checkpoint' ? '◇' : isTip ? '●' : '○';
  const step =
    node.step === null ? 'complete' : `${shown(node.step.title)} ${paint.faint(`(${shown(node.step.key)})`)}`;
  const text = `${'  '.repeat(depth + 1)}${mark} ${isTip ? paint.strong(step) : step}`;
  return node.isOnPreferredPath ? text : paint.faint(text);
}
