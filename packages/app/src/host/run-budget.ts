import type { Clock, RunId } from '@signalbox/model';
import { type Budgeted, checkStop, type RunReader, type StopVerdict } from '@signalbox/runs';
import type { Ceilings } from '../limits/ceilings.ts';

/** What runs may still spend: their own limits, those of the runs above them, and the ceilings over all of these. */
export interface RunBudget {
  /** Whether a run may spend more. Limits that cannot be counted stop it. */
  verdict(run: RunId): Promise<StopVerdict>;
  /** The run, its ancestors and their ceilings, with what was spent. */
  path(run: RunId): Promise<readonly Budgeted[]>;
  /** What only so much may be spent of. */
  limited(run: RunId): Promise<{ readonly tokens: boolean; readonly cost: boolean }>;
}

export interface BudgetPorts {
  readonly reader: Pick<RunReader, 'run' | 'usageOfTree'>;
  readonly clock: Clock;
  readonly ceilings?: Pick<Ceilings, 'over'> | undefined;
}

export function createRunBudget({ reader, clock, ceilings }: BudgetPorts): RunBudget {
  async function path(run: RunId): Promise<readonly Budgeted[]> {
    const found: Budgeted[] = [];
    for (let next: RunId | undefined = run; next !== undefined; ) {
      const record = await reader.run(next);
      if (record === undefined) break;
      const { id, limits, origin, startedAt } = record;
      const isLimited = Object.keys(limits).length > 0;
      found.push({
        run: id,
        limits,
        spent: isLimited ? await reader.usageOfTree(id).catch(() => undefined) : undefined,
        elapsedMs: startedAt === undefined ? undefined : clock.now() - Date.parse(startedAt),
        stopRequested: false,
      });
      next = origin?.kind === 'sub-plan' ? origin.run : undefined;
    }
    const root = found.at(-1)?.run;
    return root === undefined || ceilings === undefined ? found : [...found, ...(await ceilings.over(root))];
  }

  return {
    path,
    verdict: async run => checkStop(await path(run)),
    async limited(run) {
      const all = await path(run);
      return {
        tokens: all.some(({ limits }) => limits.maxTotalTokens !== undefined),
        cost: all.some(({ limits }) => limits.maxCostMicroUsd !== undefined),
      };
    },
  };
}
