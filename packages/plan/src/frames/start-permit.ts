import type { RunnableNode } from '../nodes/plan-node.ts';
import type { PlanRunOptions } from './engine-options.ts';
import type { Operator } from './operator.ts';
import type { SubPlans } from './sub-plans.ts';

/** Says which of the nodes that are ready may start. A limit that is reached stops the run: nothing new starts then. */
export interface StartPermit {
  of(ready: readonly RunnableNode[]): readonly RunnableNode[];
}

export function createStartPermit(
  { run, mayStart }: PlanRunOptions,
  operator: Operator,
  subPlans: SubPlans,
): StartPermit {
  const isStopped = (): boolean => {
    if (mayStart === undefined) return false;
    const verdict = asked(() => mayStart(run));
    if (verdict.kind === 'stop') operator.stop(verdict.reason);
    return verdict.kind === 'stop';
  };
  return {
    of(ready) {
      if (operator.stopping !== undefined || operator.isPausing) return [];
      // A child that was stopped by a limit has its parent stopped by it, not failed.
      if (subPlans.takeStopped() && isStopped()) return [];
      return ready.some(isStopped) ? [] : ready;
    },
  };
}

/** Where nobody can say whether work may start, it may not. */
function asked<Verdict>(ask: () => Verdict): Verdict | { readonly kind: 'stop'; readonly reason: string } {
  try {
    return ask();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'stop', reason: `Nobody could say whether work may start: ${why}` };
  }
}
