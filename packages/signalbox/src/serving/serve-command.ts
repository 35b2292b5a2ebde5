import { usageError } from '@signalbox/app';
import { type ErrorEnvelope, takeUp } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { asked } from '../end-signals.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { reportError, type Terminal } from '../terminal.ts';
import { openServing } from './open-serving.ts';
import { portOf } from './port.ts';

interface ServeFlags extends DataFlags {
  readonly port: string;
  readonly scenario?: string;
  readonly speed: string;
}

const DEFAULT_PORT = '4280';
const LINK_NOTE = '\nThe link works once, within ten minutes; "signalbox link" prints another.';

export const defineServe: DefineCommand = (command, { terminal, signals, end }) => {
  command
    .description(
      'Owns the data directory until it is stopped: resumes interrupted runs, drives the runs that other commands start, and serves ' +
        'the console. Ctrl-C, SIGTERM and SIGHUP pause active runs, roll back tool calls under way and exit; the next start resumes the ' +
        'runs. A second signal exits immediately.',
    )
    .option('--port <n>', 'port to listen on, on 127.0.0.1 only; 0 picks a free one', DEFAULT_PORT)
    .option(
      '--scenario <name>',
      'also play a sample scenario of agents: maya, david, priya, rosa or sam; "david:malformed" adds failures, "david@claude" limits the plugin',
    )
    .option('--speed <n>', 'how fast a scenario plays: 1 or 10', '1')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the address as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  $ signalbox serve\n  $ signalbox run plan.tsx --detach     from another terminal',
    )
    .action(async (flags: ServeFlags) => {
      const outcome = await serve(terminal, flags, signals.ending());
      if (typeof outcome === 'number') return end(outcome);
      reportError(terminal, outcome, flags.json ?? false);
      end(exitCodeOf(outcome));
    });
};

async function serve(
  terminal: Terminal,
  { port: given, dataDir, json = false, ...flags }: ServeFlags,
  ending: AbortSignal,
): Promise<ExitCode | ErrorEnvelope> {
  const port = portOf(given);
  if (port === undefined) {
    return usageError(`--port must be a number up to 65535; got "${given}".`, 'Leave it out for 4280.');
  }
  const directory = askedDataDirectory(dataDir);
  const scenario = await chosenScenario(flags);
  if (scenario?.ok === false) return scenario.error;
  const serving = await openServing(terminal, { directory, port, scenario: scenario?.value });
  if (!serving.ok) return serving.error;
  const { url, host, close } = serving.value;
  const takenUp = await takeUp(host);
  const page = serving.value.page();
  terminal.print(
    json
      ? JSON.stringify({ url, page, takenUp })
      : `Signalbox is running. Open ${page}${page.includes('#code=') ? LINK_NOTE : ''}`,
  );
  if (!json && takenUp.length > 0) terminal.print(describeTakenUp(takenUp));
  await asked(ending);
  if (!json) terminal.print('Pausing active runs.');
  await close();
  return exitCodes.done;
}

async function chosenScenario({ scenario, speed }: Pick<ServeFlags, 'scenario' | 'speed'>) {
  if (scenario === undefined) return undefined;
  if (speed !== '1' && speed !== '10') {
    return { ok: false as const, error: usageError(`--speed must be 1 or 10; got "${speed}".`, 'Leave it out for 1.') };
  }
  const { scenarioChoice } = await import('@signalbox/app/fleet-demo');
  return scenarioChoice(scenario, speed === '1' ? 1 : 10);
}

/** As many ids as fit on a screen, then a count. */
const SHOWN_RUNS = 10;

function describeTakenUp(runs: readonly string[]): string {
  const more = runs.length > SHOWN_RUNS ? ` and ${runs.length - SHOWN_RUNS} more` : '';
  return `Resuming interrupted runs: ${runs.slice(0, SHOWN_RUNS).join(' ')}${more}`;
}
