import path from 'node:path';
import { usageError } from '@signalbox/app';
import {
  type AmountChange,
  type ErrorEnvelope,
  type LimitScope,
  type LimitsView,
  openLimitSettings,
  openLimits,
  type Result,
  type RunReader,
  thisMachine,
  viewOfLimits,
} from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { describeCost } from '../cost.ts';
import {
  askedDataDirectory,
  DATA_DIR_OPTION,
  type DataFlags,
  writableDataDirectory,
} from '../data-directory-option.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { reportError, shown } from '../terminal.ts';
import { ownerClient } from '../users/owner-client.ts';
import { withReader } from '../with-reader.ts';

interface SetFlags extends DataFlags {
  readonly maxTokens?: string;
  readonly maxCost?: string;
}

const SCOPES = ['run', 'day', 'project', 'project-day'] as const;

export const defineLimits: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Limits what all runs together may spend on a day (UTC), and the runs of a project in all or on a day. Calls of models that would ' +
        'pass a limit are refused before they are made, and their runs wait: for a person who raises it, or for the next day.',
    )
    .addHelpText(
      'after',
      `
Scopes:
  run           each run that is started without limits of its own
  day           all runs together, on one day
  project       the runs of a directory and everything below it
  project-day   the same, on one day

Examples:
  $ signalbox limits
  $ signalbox limits set day --max-cost 20
  $ signalbox limits set project-day . --max-tokens 2000000
  $ signalbox limits set day --max-cost none`,
    );

  command
    .command('ls', { isDefault: true })
    .summary('print the limits, what was spent, and which runs wait')
    .description('Prints the limits, what was spent below each, and the runs that wait for one.')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print JSON')
    .action(async (flags: DataFlags) => {
      const print = (view: LimitsView) =>
        terminal.print(flags.json ? JSON.stringify(view) : describeLimits(view).join('\n'));
      const directory = askedDataDirectory(flags.dataDir);
      const owner = await ownerClient(directory);
      const told = await owner?.limits();
      if (told?.ok === true) {
        print(told.value);
        return end(exitCodes.done);
      }
      const { clock } = thisMachine();
      const view = async (reader: Pick<RunReader, 'run' | 'spentByRun' | 'decisions'>) => {
        print(await viewOfLimits(openLimits({ dataDirectory: directory, reader, clock }), reader));
        return exitCodes.done;
      };
      end(
        await withReader(
          terminal,
          flags,
          reader => view(reader),
          // Limits can be set before the first run.
          () => view({ run: async () => undefined, spentByRun: async () => [], decisions: async () => [] }),
        ),
      );
    });

  command
    .command('set <scope> [directory]')
    .summary('change a limit')
    .description(
      'Writes a limit to config.json of the data directory. It holds from the next call on; runs that wait for it go on if they can. ' +
        'The directory is that of a project, the current one by default.',
    )
    .option('--max-tokens <n>', 'the most tokens, or "none"')
    .option('--max-cost <usd>', 'the most dollars, or "none"')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the limits as JSON')
    .action(async (given: string, place: string | undefined, flags: SetFlags) => {
      const refuse = (error: ErrorEnvelope) => {
        reportError(terminal, error, flags.json ?? false);
        end(exitCodeOf(error));
      };
      const scope = scopeOf(given, place);
      if (!scope.ok) return refuse(scope.error);
      const amounts = amountsOf(flags);
      if (!amounts.ok) return refuse(amounts.error);
      const directory = writableDataDirectory(flags.dataDir);
      const owner = await ownerClient(directory);
      if (owner !== undefined) {
        const changed = await owner.changeLimits({ ...scope.value, ...amounts.value });
        if (!changed.ok) return refuse(changed.error);
      } else {
        const written = openLimitSettings(directory).change(scope.value, amounts.value);
        if (!written.ok) {
          const message = `The limit was not changed: config.json cannot be used: ${written.error}.`;
          return refuse(usageError(message, `Correct ${path.join(directory, 'config.json')}, then try again.`));
        }
      }
      const read = openLimitSettings(directory).read();
      terminal.print(flags.json ? JSON.stringify({ ...scope.value, ...amounts.value }) : describeChange(scope.value));
      end(read.ok ? exitCodes.done : exitCodes.failed);
    });
};

function scopeOf(given: string, place: string | undefined): Result<LimitScope, ErrorEnvelope> {
  const scope = SCOPES.find(one => one === given);
  if (scope === undefined) {
    const message = `The scope of a limit must be one of ${SCOPES.join(', ')}; got "${given}".`;
    return { ok: false, error: usageError(message, 'Example: signalbox limits set day --max-cost 20') };
  }
  if (scope === 'project' || scope === 'project-day')
    return { ok: true, value: { scope, directory: path.resolve(place ?? '.') } };
  if (place === undefined) return { ok: true, value: { scope } };
  const message = `A limit of a ${scope} has no directory; got "${place}".`;
  return { ok: false, error: usageError(message, 'Give the directory to project or project-day.') };
}

function amountsOf({ maxTokens, maxCost }: SetFlags): Result<AmountChange, ErrorEnvelope> {
  if (maxTokens === undefined && maxCost === undefined) {
    return { ok: false, error: usageError('No limit was given.', 'Give --max-tokens, --max-cost or both.') };
  }
  const amounts: { maxTotalTokens?: number | null; maxCostMicroUsd?: number | null } = {};
  for (const [flag, field, text, unit] of [
    ['--max-tokens', 'maxTotalTokens', maxTokens, 1],
    ['--max-cost', 'maxCostMicroUsd', maxCost, 1_000_000],
  ] as const) {
    if (text === undefined) continue;
    const amount = text === 'none' ? null : Math.round(Number(text) * unit);
    const isWhole = unit !== 1 || text === 'none' || Number.isInteger(Number(text));
    if (text.trim() === '' || !isWhole || (amount !== null && !(Number.isSafeInteger(amount) && amount >= 0))) {
      const what = unit === 1 ? 'a whole number, 0 or more' : 'a number, 0 or more';
      const message = `${flag} must be ${what}, or "none"; got "${text}".`;
      return { ok: false, error: usageError(message, `Example: ${flag} 5`) };
    }
    amounts[field] = amount;
  }
  return { ok: true, value: amounts };
}

function describeChange(scope: LimitScope): string {
  const where = 'directory' in scope ? ` ${shown(scope.directory)}` : '';
  return `Changed the limit of ${scope.scope}${where}. It holds from the next call on.`;
}

function describeLimits({ run, ceilings, problem }: LimitsView): readonly string[] {
  const lines = problem === undefined ? [] : [`config.json cannot be used: ${shown(problem)}`];
  const runLimits = describeAmounts(run);
  if (runLimits !== '') lines.push(`Each run without limits of its own: ${runLimits}`);
  for (const { scope, directory = '', day = '', configured, limits, spent, reserved, waiting } of ceilings) {
    const name = {
      day: `All runs on ${day}`,
      project: shown(directory),
      'project-day': `${shown(directory)} on ${day}`,
    };
    const parts: string[] = [];
    if (limits.maxTotalTokens !== undefined) parts.push(`${spent.tokens} of ${limits.maxTotalTokens} tokens`);
    if (limits.maxCostMicroUsd !== undefined)
      parts.push(`${describeCost(spent.costMicroUsd)} of ${describeCost(limits.maxCostMicroUsd)}`);
    if (reserved.tokens > 0) parts.push(`${reserved.tokens} tokens reserved`);
    const isRaised =
      limits.maxTotalTokens !== configured.maxTotalTokens || limits.maxCostMicroUsd !== configured.maxCostMicroUsd;
    if (isRaised) parts.push('raised for this day');
    lines.push(`${name[scope]}: ${parts.join(', ')}`);
    for (const id of waiting) lines.push(`  ${id} waits`);
  }
  return lines.length === 0 ? ['No limits. Set one with: signalbox limits set day --max-cost 20'] : lines;
}

function describeAmounts({ maxTotalTokens, maxCostMicroUsd }: LimitsView['run']): string {
  return [
    ...(maxTotalTokens === undefined ? [] : [`${maxTotalTokens} tokens`]),
    ...(maxCostMicroUsd === undefined ? [] : [describeCost(maxCostMicroUsd)]),
  ].join(', ');
}
