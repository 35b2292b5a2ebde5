import type { CeilingView, LimitsView } from '@signalbox/model';
import { money, tokens } from '../story/words.ts';

/** One scope of limits, as the settings show and change it. */
export interface LimitLine {
  readonly scope: 'run' | CeilingView['scope'];
  readonly directory?: string;
  readonly title: string;
  readonly maxTotalTokens?: number | undefined;
  readonly maxCostMicroUsd?: number | undefined;
  /** Undefined for new runs. */
  readonly spent?: string;
  readonly raised?: string;
  readonly waiting: CeilingView['waiting'];
}

/** Every scope of the whole directory, with limits or without, and those of projects that have some. */
export function limitLines({ run, ceilings }: LimitsView): readonly LimitLine[] {
  const day = ceilings.find(({ scope }) => scope === 'day');
  return [
    { scope: 'run', title: 'Each run without limits of its own', ...run, waiting: [] },
    day === undefined ? { scope: 'day', title: 'All runs on one day', waiting: [] } : lineOf(day),
    ...ceilings.filter(({ scope }) => scope !== 'day').map(lineOf),
  ];
}

function lineOf({ scope, directory = '', configured, limits, spent, reserved, waiting }: CeilingView): LimitLine {
  const isRaised =
    limits.maxTotalTokens !== configured.maxTotalTokens || limits.maxCostMicroUsd !== configured.maxCostMicroUsd;
  const open = reserved.tokens > 0 ? `, ${tokens(reserved.tokens)} tokens reserved` : '';
  const titles = { day: 'All runs on one day', project: directory, 'project-day': `${directory}, on one day` };
  return {
    scope,
    ...(scope !== 'day' && { directory }),
    title: titles[scope],
    ...configured,
    spent: `${money(spent.costMicroUsd)} · ${tokens(spent.tokens)} tokens${open}`,
    ...(isRaised && { raised: amountWords(limits) }),
    waiting,
  };
}

function amountWords({ maxTotalTokens, maxCostMicroUsd }: LimitsView['run']): string {
  return [
    ...(maxCostMicroUsd === undefined ? [] : [money(maxCostMicroUsd)]),
    ...(maxTotalTokens === undefined ? [] : [`${tokens(maxTotalTokens)} tokens`]),
  ].join(', ');
}

/** What was typed as a limit; null if it was emptied, undefined if it is invalid. */
export function typedLimit(text: string, unit: number): number | null | undefined {
  if (text.trim() === '') return null;
  const amount = Math.round(Number(text) * unit);
  return Number.isSafeInteger(amount) && amount >= 0 && (unit > 1 || Number.isInteger(Number(text)))
    ? amount
    : undefined;
}
