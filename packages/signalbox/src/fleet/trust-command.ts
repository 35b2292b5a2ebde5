import { usageError } from '@signalbox/app';
import type { FleetReads } from '@signalbox/app/fleet';
import type { DefineCommand } from '../command.ts';
import { DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { exitCodes } from '../exit-code.ts';
import { reportError, shown } from '../terminal.ts';
import { findAgent, withFleetReads } from './fleet-access.ts';

interface TrustFlags extends DataFlags {
  readonly recompute?: boolean;
  readonly simulate?: string;
}

const profiles = ['conservative', 'balanced', 'permissive'] as const;

export const defineTrust: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      "Shows an agent's trust and what changed it. --recompute computes every change again from the log and compares; --simulate replays " +
        'the history with another profile and lists the tool calls that would have been asked, or not.',
    )
    .option('--recompute', 'compute the score again from the log, and compare')
    .option('--simulate <profile>', 'replay the history with conservative, balanced or permissive')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ signalbox trust backend\n  $ signalbox trust backend --recompute\n\nExit codes: 0 done, 1 the computed score differs, 2 usage.',
    )
    .action(async (given: string, flags: TrustFlags) => {
      const profile = profiles.find(one => one === flags.simulate);
      if (flags.simulate !== undefined && profile === undefined) {
        const wrong = usageError(`There is no profile "${flags.simulate}".`, `Choose one of: ${profiles.join(', ')}.`);
        reportError(terminal, wrong, flags.json ?? false);
        return end(exitCodes.usage);
      }
      let differs = false;
      const read = <T>(look: (fleet: FleetReads, agent: string) => Looked<T>, show: (value: T) => readonly string[]) =>
        withFleetReads(
          terminal,
          flags,
          fleet => {
            const found = findAgent(fleet.agents(), given);
            return found.ok ? look(fleet, found.value.id) : found;
          },
          show,
        );
      if (profile !== undefined) {
        return end(await read((fleet, agent) => fleet.simulateTrust(agent, profile), describeSimulation));
      }
      if (flags.recompute !== true) return end(await read((fleet, agent) => fleet.trust(agent), describeTrust));
      const code = await read((fleet, agent) => {
        const proof = fleet.proveTrust(agent);
        differs = proof.ok && !proof.value.ok;
        return proof;
      }, describeProof);
      end(differs ? exitCodes.failed : code);
    });
};

type Looked<T> = { readonly ok: true; readonly value: T } | Extract<ReturnType<FleetReads['trust']>, { ok: false }>;
type Value<Name extends 'trust' | 'proveTrust' | 'simulateTrust'> = Extract<
  ReturnType<FleetReads[Name]>,
  { ok: true }
>['value'];

function describeTrust({
  score,
  hypotheticalScore,
  calibrationMode,
  samples,
  history,
  profile,
}: Value<'trust'>): readonly string[] {
  return [
    `Trust ${score} (${profile}, ${samples} outcomes)${calibrationMode ? `, would be ${hypotheticalScore} without calibration mode` : ''}`,
    ...history.map(
      ({ at, previousScore, newScore, cause, reason }) =>
        `  ${at}  ${previousScore} → ${newScore}  ${cause}: ${reason}`,
    ),
  ].map(shown);
}

function describeProof({ ok, score, computed, changes, facts, difference }: Value<'proveTrust'>): readonly string[] {
  if (ok) return [`Trust ${score}: the same, computed again from ${facts} facts with ${changes} changes.`];
  return [
    `Trust differs: the log says ${score}, the facts lead to ${computed}.`,
    ...(difference === undefined ? [] : [`First difference: ${JSON.stringify(difference)}`]),
  ].map(shown);
}

function describeSimulation({ profile, actual, simulated, differences }: Value<'simulateTrust'>): readonly string[] {
  return [
    `With the ${profile} profile, trust would be ${simulated} instead of ${actual}.`,
    ...(differences.length === 0 ? ['The same calls would have been asked.'] : []),
    ...differences.map(
      ({ toolName, tick, wouldBeAsked, reason }) =>
        `  tick ${tick}  ${toolName} would ${wouldBeAsked ? 'have been asked' : 'not have been asked'}: ${reason}`,
    ),
  ].map(shown);
}
