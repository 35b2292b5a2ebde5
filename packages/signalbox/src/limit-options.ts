import { usageError } from '@signalbox/app';
import type { ErrorEnvelope, Result, StopConditions } from '@signalbox/app/host';
import type { Command } from 'commander';

/** Flags for a run's limits. */
export interface LimitFlags {
  readonly maxCost?: string;
  readonly maxTokens?: string;
  readonly maxCalls?: string;
  readonly maxRetries?: string;
  readonly maxMinutes?: string;
}

export function limitOptions(command: Command): Command {
  return command
    .option('--max-cost <usd>', 'ask before the run costs more')
    .option('--max-tokens <n>', 'ask before the run uses more')
    .option('--max-calls <n>', 'ask before agents make more tool calls')
    .option('--max-retries <n>', 'limit retries per task, whatever the plan says')
    .option('--max-minutes <n>', 'ask when the run takes longer');
}

export function limitsOf(flags: LimitFlags): Result<StopConditions, ErrorEnvelope> {
  const given = [
    ['--max-cost', 'maxCostMicroUsd', flags.maxCost, 1_000_000],
    ['--max-tokens', 'maxTotalTokens', flags.maxTokens, 1],
    ['--max-calls', 'maxToolCalls', flags.maxCalls, 1],
    ['--max-retries', 'maxRetriesPerTask', flags.maxRetries, 1],
    ['--max-minutes', 'maxWallClockMs', flags.maxMinutes, 60_000],
  ] as const;
  const limits: Record<string, number> = {};
  for (const [flag, field, text, unit] of given) {
    if (text === undefined) continue;
    const amount = Math.round(Number(text) * unit);
    const isWhole = unit === 1 ? Number.isInteger(Number(text)) : true;
    if (text.trim() === '' || !Number.isSafeInteger(amount) || amount < 0 || !isWhole) {
      const what = unit === 1 ? 'a whole number, 0 or more' : 'a number, 0 or more';
      return { ok: false, error: usageError(`${flag} must be ${what}; got "${text}".`, `Example: ${flag} 5`) };
    }
    limits[field] = amount;
  }
  return { ok: true, value: limits };
}
