import { findPlanRun } from '@signalbox/app/all-runs';
import { type ErrorEnvelope, runSpend, type Spending } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { describeCost } from '../cost.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { exitCodes } from '../exit-code.ts';
import { shown } from '../terminal.ts';
import { withReader } from '../with-reader.ts';

type Spend = Awaited<ReturnType<typeof runSpend>>;
type Amounts = Pick<Spending, 'calls' | 'inputTokens' | 'outputTokens' | 'cachedTokens' | 'costMicroUsd'>;

export const defineUsage: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Prints what was spent. Without a run: by day and model, the latest day first. Of a run: what is left of its limits, what each node ' +
        'spent, and its calls that were refused, cut or lost.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print JSON; of a run with its latest calls')
    .addHelpText('after', '\nExamples:\n  $ signalbox usage\n  $ signalbox usage 019b8d62')
    .action(async (given: string | undefined, flags: DataFlags) => {
      end(
        await withReader(terminal, flags, async (reader): Promise<0 | ErrorEnvelope> => {
          if (given === undefined) {
            const spending = await reader.spending();
            if (flags.json) terminal.print(JSON.stringify({ spending }));
            else
              terminal.print(spending.length === 0 ? 'Nothing was spent yet.' : spending.map(describeDay).join('\n'));
            return exitCodes.done;
          }
          const run = await findPlanRun(reader, askedDataDirectory(flags.dataDir), given);
          if (!run.ok) return run.error;
          const spend = await runSpend(reader, run.value);
          terminal.print(flags.json ? JSON.stringify(spend) : describeSpend(spend).join('\n'));
          return exitCodes.done;
        }),
      );
    });
};

function describeDay({ day, provider = '', model = '', ...amounts }: Spending): string {
  return `${day}  ${shown(`${provider}:${model}`)}  ${describeAmounts(amounts)}`;
}

function describeAmounts({ calls, inputTokens, outputTokens, cachedTokens, costMicroUsd }: Amounts): string {
  const cached = cachedTokens === 0 ? '' : ` (${cachedTokens} cached)`;
  const counted = calls === 1 ? '1 call' : `${calls} calls`;
  return `${counted}, ${inputTokens} tokens in${cached}, ${outputTokens} out, ${describeCost(costMicroUsd)}`;
}

function describeSpend({ total, limits, nodes, subagents, calls }: Spend): readonly string[] {
  const tokens = total.inputTokens + total.outputTokens;
  const { maxTotalTokens, maxCostMicroUsd } = limits;
  const rows = nodes.flatMap(({ node, models }) => [
    shown(node),
    ...subagents.flatMap(({ node: of, subagent, ...amounts }) =>
      of !== node || subagent === null
        ? []
        : [`  of this, subagent ${shown(subagent.id)}: ${describeAmounts(amounts)}`],
    ),
    ...models.map(
      ({ provider = '', model = '', ...amounts }) => `  ${shown(`${provider}:${model}`)}  ${describeAmounts(amounts)}`,
    ),
  ]);
  return [
    `Spent: ${describeAmounts(total)}`,
    ...(maxTotalTokens === undefined
      ? []
      : [`Tokens: ${tokens} of ${maxTotalTokens}, ${Math.max(0, maxTotalTokens - tokens)} left`]),
    ...(maxCostMicroUsd === undefined
      ? []
      : [`Cost: ${describeCost(total.costMicroUsd)} of ${describeCost(maxCostMicroUsd)}`]),
    ...rows,
    ...describeOdd(calls),
  ];
}

/** Calls that did not go as they should, and how many are estimated. */
function describeOdd(calls: Spend['calls']): readonly string[] {
  const counts = Map.groupBy(calls, ({ outcome }) => outcome);
  const lines = (['under way', 'refused at a limit', 'refused', 'cut', 'lost'] as const).flatMap(outcome => {
    const found = counts.get(outcome)?.length ?? 0;
    return found === 0 ? [] : [`${found} ${outcome}`];
  });
  const ended = calls.flatMap(({ endedAfterMs }) => (endedAfterMs === undefined ? [] : [endedAfterMs]));
  if (ended.length > 0) lines.push(`the node ended ${Math.max(...ended)} ms after a refusal at most`);
  const estimated = calls.filter(({ unknown }) => unknown.length > 0).length;
  if (estimated > 0) lines.push(`${estimated} estimated in part: the provider did not tell`);
  return lines.length === 0 ? [] : [`Calls: ${lines.join(', ')}`];
}
