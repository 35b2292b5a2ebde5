import { usageError } from '@signalbox/app';
import type { Client } from '@signalbox/client';
import type { DefineCommand } from '../command.ts';
import { DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { exitCodes } from '../exit-code.ts';
import { reportError } from '../terminal.ts';
import { findAgent, withFleet, withFleetReads } from './fleet-access.ts';
import { describeBrakes } from './fleet-report.ts';

interface BrakeFlags extends DataFlags {
  readonly agent?: string;
  readonly workstream?: string;
  readonly kill?: boolean;
  readonly release?: string | true;
  readonly for?: string;
}

export const defineBrake: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Stops agents at once: all of them, one, or a workstream. Their decisions are suspended until the brake is released. Without a ' +
        'reason it lists the brakes, with the time that each agent took to fall silent.',
    )
    .option('--agent <agent>', 'only this agent')
    .option('--workstream <name>', 'only this workstream')
    .option('--kill', 'end the agents instead of pausing them')
    .option('--for <seconds>', 'release it after this time')
    .option('--release [brake]', 'release a brake, or all of them')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one JSON object per line')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox brake "they edit the wrong branch"
  $ signalbox brake "look at this first" --workstream backend --for 300
  $ signalbox brake --release`,
    )
    .action(async (reason: string | undefined, flags: BrakeFlags) => {
      const { release } = flags;
      if (release !== undefined) {
        const given = release === true ? {} : { brakeId: release };
        return end(
          await withFleet(terminal, flags, async client => brakesOf(await client.releaseBrake(given)), describeBrakes),
        );
      }
      if (reason === undefined) {
        const read = { ok: true } as const;
        return end(
          await withFleetReads(terminal, flags, fleet => ({ ...read, value: fleet.brakes().brakes }), describeBrakes),
        );
      }
      const seconds = flags.for === undefined ? undefined : Number(flags.for);
      if (seconds !== undefined && !(Number.isFinite(seconds) && seconds > 0)) {
        reportError(
          terminal,
          usageError(`--for must be a number of seconds; got "${flags.for}".`, 'Leave it out.'),
          flags.json ?? false,
        );
        return end(exitCodes.usage);
      }
      const ask = async (client: Client) => {
        const scope = await scopeOf(client, flags);
        if (!scope.ok) return scope;
        return brakesOf(
          await client.brake({
            scope: scope.value,
            reason,
            behavior: flags.kill === true ? 'kill' : 'pause',
            ...(seconds !== undefined && {
              releaseCondition: { type: 'timer' as const, releaseAfterMs: Math.ceil(seconds * 1_000) },
            }),
          }),
        );
      };
      end(await withFleet(terminal, flags, ask, describeBrakes));
    });
};

type Brakes = Awaited<ReturnType<Client['brakes']>>;

const brakesOf = (answered: Brakes) => (answered.ok ? { ok: true as const, value: answered.value.brakes } : answered);

async function scopeOf(client: Client, { agent, workstream }: BrakeFlags) {
  if (workstream !== undefined) return { ok: true, value: { type: 'workstream', workstream } } as const;
  if (agent === undefined) return { ok: true, value: { type: 'all' } } as const;
  const listed = await client.fleetAgents();
  const found = listed.ok ? findAgent(listed.value.agents, agent) : listed;
  return found.ok ? ({ ok: true, value: { type: 'agent', agentId: found.value.id } } as const) : found;
}

const modes = ['orchestrator', 'adaptive', 'ecosystem'] as const;

export const defineMode: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Shows or changes how much agents may do without you: orchestrator asks about everything but reading, adaptive follows trust and ' +
        'risk, ecosystem asks about little. A change counts at once.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox mode adaptive')
    .action(async (given: string | undefined, flags: DataFlags) => {
      const show = ({ mode }: { readonly mode: string }) => [`The control mode is ${mode}.`];
      if (given === undefined) {
        return end(await withFleetReads(terminal, flags, fleet => ({ ok: true, value: { mode: fleet.mode() } }), show));
      }
      const mode = modes.find(one => one === given);
      if (mode === undefined) {
        const wrong = usageError(`There is no control mode "${given}".`, `Choose one of: ${modes.join(', ')}.`);
        reportError(terminal, wrong, flags.json ?? false);
        return end(exitCodes.usage);
      }
      end(await withFleet(terminal, flags, client => client.setControlMode(mode), show));
    });
};
