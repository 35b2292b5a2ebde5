import type { SourcePosition } from '../plan-error.ts';
import { isAgentKind, isLoopKind, isRunnableKind } from './node-kind.ts';
import { DEFAULT_MAX_ITERATIONS } from './structure-kinds.ts';
import type { TreeNode } from './tree-json.ts';
import { DEFAULT_MAX_TURNS } from './work-kinds.ts';

/** A finding about a plan that works, but may not be what its author wants. */
export interface PlanLintFinding {
  readonly rule: 'runnable-needs-id' | 'loop-needs-max' | 'agent-needs-max-turns';
  readonly severity: 'warning' | 'info';
  readonly node: string;
  readonly source?: SourcePosition;
  readonly message: string;
}

/** Finds what makes plans hard to resume or to bound. A list item without a key is an error, not a finding. */
export function lintTree(tree: TreeNode): readonly PlanLintFinding[] {
  return [...findingsOf(tree), ...tree.children.flatMap(lintTree)];
}

function findingsOf({ kind, id, source, data }: TreeNode): readonly PlanLintFinding[] {
  const found: PlanLintFinding[] = [];
  const find = (rule: PlanLintFinding['rule'], severity: PlanLintFinding['severity'], message: string) =>
    found.push({ rule, severity, node: id, ...(source === undefined ? {} : { source }), message });
  if (isRunnableKind(kind) && /^[0-9a-f]{16}$/.test(id)) {
    find('runnable-needs-id', 'warning', `A ${kind} has no id: it becomes another node when it moves in the plan.`);
  }
  if (isLoopKind(kind) && data.maxIterations === DEFAULT_MAX_ITERATIONS) {
    find('loop-needs-max', 'warning', `A ${kind} ends after ${DEFAULT_MAX_ITERATIONS} iterations, the default.`);
  }
  if (isAgentKind(kind) && data.maxTurns === DEFAULT_MAX_TURNS) {
    find('agent-needs-max-turns', 'info', `A ${kind} may take ${DEFAULT_MAX_TURNS} turns, the default.`);
  }
  return found;
}
