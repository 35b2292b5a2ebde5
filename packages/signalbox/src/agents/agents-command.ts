import type { ErrorEnvelope } from '@signalbox/app';
import {
  addAgent,
  agentsToTry,
  doctorAgents,
  findAgent,
  type KnownAgent,
  listAgents,
  openAgentRegister,
  removeAgent,
} from '@signalbox/app/agents';
import { type Result, thisMachine } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import {
  askedDataDirectory,
  DATA_DIR_OPTION,
  type DataFlags,
  writableDataDirectory,
} from '../data-directory-option.ts';
import { describeChecks } from '../doctor-command.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { lazyTurnServer } from '../serving/turn-server.ts';
import { paintOf, reportError, shown } from '../terminal.ts';

interface Global {
  optsWithGlobals(): DataFlags;
}

export const defineAgents: DefineCommand = (command, { terminal, launch, end }) => {
  const deskIn = (dataDirectory: string) => {
    const { env } = process;
    return { dataDirectory, env, register: openAgentRegister({ dataDirectory, env }) };
  };
  const tell = <T>({ json = false }: DataFlags, outcome: Result<T, ErrorEnvelope>, print: (value: T) => void) => {
    if (outcome.ok) {
      print(outcome.value);
      return end(exitCodes.done);
    }
    reportError(terminal, outcome.error, json);
    end(exitCodeOf(outcome.error));
  };
  const list = (flags: DataFlags) =>
    tell(flags, listAgents(deskIn(askedDataDirectory(flags.dataDir))), agents => {
      for (const agent of agents) terminal.print(flags.json ? JSON.stringify(agent) : describeAgent(agent));
    });

  command
    .description(
      'Manages agents of other vendors that can do the work of a plan\'s agent nodes: <Agent plugin="opencode">, or <Claude>, <Codex> and <Gemini> ' +
        'once they are installed here. They run confined, with a home of their own; their network is open. Commands of your own are ' +
        'named in `agents` of config.json in the data directory.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one JSON object per line')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox agents ls
  $ signalbox agents add claude
  $ signalbox agents doctor claude

Exit codes: 0 done, 1 an agent does not work or was not installed, 2 usage.`,
    )
    .action((flags: DataFlags) => list(flags));

  command
    .command('ls')
    .summary('list known agents, and where each is installed')
    .action((_: DataFlags, own: Global) => list(own.optsWithGlobals()));

  command
    .command('add <name>')
    .summary('install an agent at its pinned version in the data directory')
    .description(
      'Installs an agent with npm, at the versions and integrity that Signalbox pins, below the data directory. No install script runs.',
    )
    .action(async (name: string, _: DataFlags, own: Global) => {
      const flags = own.optsWithGlobals();
      const desk = deskIn(writableDataDirectory(flags.dataDir));
      const row = findAgent(desk, name);
      if (row.ok && flags.json !== true && row.value.package !== undefined)
        terminal.complain(`Installing ${row.value.title} (${row.value.package.name} ${row.value.package.version}) …`);
      tell(flags, await addAgent(desk, name), agent =>
        terminal.print(
          flags.json ? JSON.stringify(agent) : `${describeAgent(agent)}\nTry it with: signalbox agents doctor ${name}`,
        ),
      );
    });

  command
    .command('remove <name>')
    .summary('remove an agent that was installed in the data directory')
    .action((name: string, _: DataFlags, own: Global) => {
      const flags = own.optsWithGlobals();
      tell(flags, removeAgent(deskIn(writableDataDirectory(flags.dataDir)), name), agent =>
        terminal.print(flags.json ? JSON.stringify(agent) : `Removed ${name}.`),
      );
    });

  command
    .command('doctor [name]')
    .summary('start agents, and say what is missing')
    .description(
      'Starts an agent, or every installed one, and completes a turn against a model inside this program: no key is used and nothing is sent. ' +
        'Says in one sentence what is missing.',
    )
    .action(async (name: string | undefined, _: DataFlags, own: Global) => {
      const flags = own.optsWithGlobals();
      const { dataDirectory, register, env } = deskIn(askedDataDirectory(flags.dataDir));
      const asked = agentsToTry({ register }, name);
      if (!asked.ok) return tell(flags, asked, () => {});
      const turns = lazyTurnServer(thisMachine().timers);
      const checks = await doctorAgents(asked.value, {
        dataDirectory,
        register,
        env,
        turns,
        ...(launch && { launch }),
      });
      await turns.close();
      if (flags.json) terminal.print(JSON.stringify({ checks }));
      else if (checks.length === 0)
        terminal.print('No agent is installed. Install one with: signalbox agents add NAME');
      else terminal.print(describeChecks(checks, paintOf(terminal)).join('\n'));
      end(checks.every(({ status }) => status !== 'fail') ? exitCodes.done : exitCodes.failed);
    });
};

export function describeAgent({ id, title, package: of, installed, isTried }: KnownAgent): string {
  const missing =
    of === undefined
      ? 'its program was not found; check its command in config.json'
      : `not installed; signalbox agents add ${id} installs ${of.version}`;
  const place = installed?.from === 'data directory' ? 'the data directory' : `the ${installed?.from}`;
  const where = installed === undefined ? missing : `${installed.version} from ${place}`;
  const pinned =
    installed !== undefined && of !== undefined && installed.version !== of.version ? `, pinned ${of.version}` : '';
  return `${id.padEnd(10)}  ${shown(title).padEnd(18)}  ${where}${pinned}${isTried ? '' : '  (untried)'}`;
}
