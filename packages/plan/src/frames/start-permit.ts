import { thrownMessage } from '@signalbox/model';
import type { StopVerdict } from '@signalbox/runs';
import type { RunnableNode } from '../nodes/plan-node.ts';
import type { EngineBase } from './engine.ts';
import type { Operator } from './operator.ts';
import type { SubPlans } from './sub-plans.ts';

/**
 * Decides which of the ready nodes may start. A run that was asked to stop, or whose permission cannot be determined, is stopped. So is one
 * that reached a limit if nobody can be asked to raise it; otherwise its work waits for the answer.
 */
export interface StartPermit {
  /** A limit is reached: work asks a person before it starts. */
  readonly isLimited: boolean;
  of(ready: readonly RunnableNode[]): Promise<readonly RunnableNode[]> | readonly RunnableNode[];
}

export function createStartPermit({ options }: EngineBase, operator: Operator, subPlans: SubPlans): StartPermit {
  const { run, mayStart, executor } = options;
  /** If permission cannot be determined, nothing may start. */
  let isLimited = false;
  const verdict = async (): Promise<StopVerdict | { readonly kind: 'stop'; readonly reason: string }> => {
    try {
      return (await mayStart?.(run)) ?? { kind: 'go' };
    } catch (error) {
      const why = thrownMessage(error);
      return { kind: 'stop', reason: `Nobody could say whether work may start: ${why}` };
    }
  };
  const ifAllowed = async (ready: readonly RunnableNode[], times: number) => {
    for (let asked = 0; asked < times; asked++) {
      const asked = await verdict();
      if (asked.kind === 'go') continue;
      isLimited = 'reached' in asked && asked.reached !== undefined && executor.allow !== undefined;
      if (isLimited) return ready;
      operator.stop(asked.reason);
      return [];
    }
    return ready;
  };
  return {
    get isLimited() {
      return isLimited;
    },
    of(ready) {
      isLimited = false;
      if (operator.stopping !== undefined || operator.isPausing) return [];
      // A child stopped by a limit stops its parent too, instead of failing it.
      const times = ready.length + (subPlans.takeStopped() ? 1 : 0);
      return mayStart === undefined || times === 0 ? ready : ifAllowed(ready, times);
    },
  };
}
