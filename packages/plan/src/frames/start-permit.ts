import type { StopVerdict } from '@signalbox/runs';
import type { RunnableNode } from '../nodes/plan-node.ts';
import type { PlanRunOptions } from './engine-options.ts';
import type { Operator } from './operator.ts';
import type { SubPlans } from './sub-plans.ts';

/** Says which of the nodes that are ready may start. A limit that is reached stops the run: nothing new starts then. */
export interface StartPermit {
  of(ready: readonly RunnableNode[]): Promise<readonly RunnableNode[]> | readonly RunnableNode[];
}

export function createStartPermit(
  { run, mayStart }: PlanRunOptions,
  operator: Operator,
  subPlans: SubPlans,
): StartPermit {
  /** Where nobody can say whether work may start, it may not. */
  const verdict = async (): Promise<Pick<StopVerdict, 'kind'> & { readonly reason?: string }> => {
    try {
      return (await mayStart?.(run)) ?? { kind: 'go' };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { kind: 'stop', reason: `Nobody could say whether work may start: ${why}` };
    }
  };
  const ifAllowed = async (ready: readonly RunnableNode[], times: number) => {
    for (let asked = 0; asked < times; asked++) {
      const { kind, reason = 'a limit was reached' } = await verdict();
      if (kind === 'go') continue;
      operator.stop(reason);
      return [];
    }
    return ready;
  };
  return {
    of(ready) {
      if (operator.stopping !== undefined || operator.isPausing) return [];
      // A child that was stopped by a limit has its parent stopped by it, not failed.
      const times = ready.length + (subPlans.takeStopped() ? 1 : 0);
      return mayStart === undefined || times === 0 ? ready : ifAllowed(ready, times);
    },
  };
}
