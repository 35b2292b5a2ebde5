import path from 'node:path';
import { usageError } from '@signalbox/app';
import { type KnownAgent, listAgents, openAgentRegister } from '@signalbox/app/agents';
import type { ErrorEnvelope } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { DATA_DIR_OPTION, type DataFlags, namedDataDirectory } from '../data-directory-option.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { ownMcpProgram } from '../install/own-mcp-program.ts';
import { quoted, reportError, shown, type Terminal } from '../terminal.ts';
import { CHECKOUT, mcpSnippet } from './first-files.ts';
import { type Initialised, writeFirstFiles } from './write-first-files.ts';

interface InitFlags extends DataFlags {
  readonly force?: boolean;
  readonly agent?: string;
}

export const defineInit: DefineCommand = (command, { terminal, signals, end }) => {
  command
    .description(
      'Creates a small plan that runs without keys or a network, and a tsconfig.json so that editors can check plans. Existing ' +
        'files are not overwritten unless you pass --force. Names the agents that are installed here; with --agent, or if you ' +
        'choose one at the terminal, the plan gives that agent a task.',
    )
    .option('--agent <name>', 'an installed agent for the first plan, or builtin')
    .option('--force', 'overwrite existing files')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print what was written as one line of JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox init
  $ signalbox init plans
  $ signalbox init plans --agent claude

Exit codes: 0 done, 2 usage, or a file already exists.`,
    )
    .action(async (given: string | undefined, flags: InitFlags) => {
      const { force = false, json = false } = flags;
      const agents = installedIn(namedDataDirectory(flags.dataDir));
      const isAsked = flags.agent === undefined && !json && terminal.ask !== undefined && agents.length > 0;
      const agent = isAsked ? await chooseAgent(terminal, agents, signals.ending()) : flags.agent;
      const fault = agent === undefined ? undefined : faultOf(agent, agents);
      const done =
        fault === undefined
          ? writeFirstFiles(path.resolve(given ?? '.'), { force, agent })
          : { ok: false as const, error: fault };
      if (!done.ok) {
        reportError(terminal, done.error, json);
        return end(exitCodeOf(done.error));
      }
      const told = { ...done.value, ...(agent !== undefined && { agent }), agents: agents.map(({ id }) => id) };
      const report = () =>
        describeInit(done.value, given ?? '.', [
          ...(isAsked ? [] : describeAgents(agents)),
          ...describeUse(agent, agents[0]?.id),
        ]);
      terminal.print(json ? JSON.stringify(told) : report());
      end(exitCodes.done);
    });
};

/** The agents that can be used here. A configuration that cannot be read has none: "signalbox agents" says why. */
function installedIn(dataDirectory: string): readonly KnownAgent[] {
  const known = listAgents({ register: openAgentRegister({ dataDirectory, env: process.env }) });
  return known.ok ? known.value.filter(({ installed }) => installed !== undefined) : [];
}

/** Offers the installed agents to the person at the terminal; undefined for a plan without one. */
async function chooseAgent(
  { ask, print }: Terminal,
  agents: readonly KnownAgent[],
  ending: AbortSignal,
): Promise<string | undefined> {
  print(describeAgents(agents).join('\n'));
  const names = agents.map(({ id }) => id);
  for (;;) {
    const said = (await ask?.(`Agent for the first plan (${names.join(', ')}; Enter for none): `, ending))?.trim();
    if (said === undefined || said === '') return undefined;
    if (faultOf(said, agents) === undefined) return said;
  }
}

function faultOf(name: string, agents: readonly KnownAgent[]): ErrorEnvelope | undefined {
  if (name === 'builtin' || agents.some(({ id }) => id === name)) return undefined;
  const names = ['builtin', ...agents.map(({ id }) => id)].join(', ');
  return usageError(
    `The agent ${JSON.stringify(name)} is not installed here; nothing was written. Installed: ${names}.`,
    'Install one with "signalbox agents add NAME"; "signalbox agents ls" lists them.',
  );
}

function describeAgents(agents: readonly KnownAgent[]): readonly string[] {
  if (agents.length === 0)
    return [
      'No agent is installed; plans use the built-in one. Add one:',
      '  signalbox agents add claude',
      '  signalbox agents ls',
    ];
  return [
    'Agents on this machine:',
    ...agents.map(({ id, title, installed }) => {
      const from =
        installed?.from === 'command' ? 'config.json' : installed?.from === 'PATH' ? 'the PATH' : 'the data directory';
      return `  ${id.padEnd(10)}  ${shown(title)} ${shown(installed?.version ?? '')}, from ${from}`;
    }),
  ];
}

function describeUse(agent: string | undefined, first: string | undefined): readonly string[] {
  if (first === undefined) return [];
  return [
    ...(agent === undefined ? ['Use one in a plan:', '  signalbox init --agent NAME'] : []),
    'Without a plan:',
    `  signalbox do "fix the failing test" --with ${agent ?? first}`,
  ];
}

/** The files that were written, and what to do next. */
function describeInit({ written, typesInstalled }: Initialised, folder: string, agents: readonly string[]): string {
  const place = (name: string) => shown(path.join(folder, name));
  const install = written.includes('package.json')
    ? 'npm install'
    : `npm install --save-dev ${CHECKOUT === undefined ? 'signalbox' : shown(quoted(CHECKOUT))} typescript zod`;
  const prefix = folder === '.' ? '' : `cd ${shown(quoted(folder))} && `;
  return [
    ...written.map(name => `wrote ${place(name)}`),
    '',
    'Run it:',
    `  signalbox run ${shown(quoted(path.join(folder, 'plan.tsx')))}`,
    'Work on it, with a check and a preview at every save:',
    `  signalbox dev ${shown(quoted(path.join(folder, 'plan.tsx')))}`,
    ...(typesInstalled
      ? []
      : ['', 'For the types in your editor, and to check them with "npx tsc":', `  ${prefix}${install}`]),
    '',
    ...agents,
    '',
    'For an MCP client ("signalbox mcp install CLIENT" writes it for you):',
    ...mcpSnippet(ownMcpProgram())
      .split('\n')
      .map(line => `  ${line}`),
  ].join('\n');
}
