import type { ErrorEnvelope } from '@signalbox/app';
import type { Result } from '@signalbox/app/host';
import type { Client } from '@signalbox/client';
import type { DefineCommand } from '../command.ts';
import { DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { findAgent, withFleet, withFleetReads } from './fleet-access.ts';
import { describeAgents, describeDetail } from './fleet-report.ts';

interface Global<Flags = DataFlags> {
  optsWithGlobals(): Flags & DataFlags;
}

interface SpawnFlags extends DataFlags {
  readonly plugin: string;
  readonly role?: string;
  readonly workstream?: string;
  readonly description?: string;
  readonly directory?: string;
  readonly model?: string;
}

export const defineFleet: DefineCommand = (command, { terminal, end }) => {
  const list = async (flags: DataFlags) =>
    end(await withFleetReads(terminal, flags, fleet => ({ ok: true, value: fleet.agents() }), describeAgents));

  command
    .description(
      'Shows and controls the agents of the project: what each is doing, whether it waits for you, and its history. "agents" lists ' +
        'what can be installed; "fleet" lists what runs. Acting needs a running server.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one JSON object per line')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox serve --scenario david     in another terminal: sample agents
  $ signalbox fleet ls
  $ signalbox fleet spawn fixer --plugin claude --description "Fix the failing test" --directory packages/api
  $ signalbox fleet kill backend --reason "wrong branch"`,
    )
    .action(list);

  command
    .command('ls')
    .summary('list the agents')
    .action((_: DataFlags, own: Global) => list(own.optsWithGlobals()));

  command
    .command('show <agent>')
    .summary('show an agent: brief, sessions, history')
    .action(async (given: string, _: DataFlags, own: Global) =>
      end(
        await withFleetReads(
          terminal,
          own.optsWithGlobals(),
          fleet => {
            const found = findAgent(fleet.agents(), given);
            return found.ok ? fleet.agent(found.value.id) : found;
          },
          describeDetail,
        ),
      ),
    );

  command
    .command('spawn <name>')
    .summary('spawn an agent')
    .requiredOption('--plugin <plugin>', 'what runs it: an agent of "agents ls", such as claude, or builtin')
    .option('--role <role>', 'its role', 'Agent')
    .option('--workstream <name>', 'the workstream that it works in', 'main')
    .option('--description <text>', 'its brief: what it does', '')
    .option('--directory <path>', "the directory that it works in, below the project's", '.')
    .option('--model <name>', 'the model that it is asked to use')
    .action(async (name: string, _: SpawnFlags, own: Global<SpawnFlags>) => {
      const flags = own.optsWithGlobals();
      const { plugin, role = 'Agent', workstream = 'main', description = '', directory = '.', model } = flags;
      const brief = {
        ...{ role, workstream, description },
        ...(model === undefined ? {} : { modelPreference: model }),
        ...(directory === '.' ? {} : { workspaceRequirements: workIn(directory) }),
      };
      end(await withFleet(terminal, flags, client => client.spawnAgent({ name, plugin, brief }), describeDetail));
    });

  const acting = (word: string, summary: string, act: (client: Client, agent: string, reason?: string) => Acted) =>
    command
      .command(`${word} <agent>`)
      .summary(summary)
      .option('--reason <text>', 'why')
      .action(async (given: string, _: DataFlags, own: Global<{ readonly reason?: string }>) => {
        const flags = own.optsWithGlobals();
        const ask = async (client: Client) => {
          const listed = await client.fleetAgents();
          const found = listed.ok ? findAgent(listed.value.agents, given) : listed;
          return found.ok ? act(client, found.value.id, flags.reason) : found;
        };
        end(await withFleet(terminal, flags, ask, describeDetail));
      });
  acting('pause', 'pause an agent', (client, agent, reason) => client.pauseAgent(agent, reason));
  acting('resume', 'resume an agent', (client, agent) => client.resumeAgent(agent));
  acting('kill', 'kill an agent; its open decisions become orphans', (client, agent, reason) =>
    client.killAgent(agent, reason),
  );
};

/** Agents see the directory at its own path, whatever the sandbox calls it. */
const workIn = (hostPath: string) => ({
  mounts: [{ hostPath, sandboxPath: '/workspace', readOnly: false }],
  capabilities: [],
});

type Acted = Promise<Result<Parameters<typeof describeDetail>[0], ErrorEnvelope>>;
