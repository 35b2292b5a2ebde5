import { type BriefChanges, type ErrorEnvelope, err, ok, type Result } from '@signalbox/model';
import {
  type CapabilityProfile,
  capabilityProfiles,
  loadScenario,
  type MockScenario,
  type ScenarioName,
  scenarioBrief,
  scenarioNames,
  scenarioVariants,
} from '@signalbox/testkit';
import { usageError } from '../../command-error.ts';
import type { FleetDesk } from '../../fleet/fleet-desk.ts';
import type { FleetHostOptions } from '../../fleet/fleet-host.ts';
import type { Machine } from '../../machine.ts';
import { mockFleet, mockServices } from './mock-fleet.ts';

/** A sample scenario to be played: which, how fast, and what the plugin can do. */
export interface ScenarioChoice {
  readonly scenario: MockScenario;
  readonly profile: CapabilityProfile;
  readonly speed: 1 | 10;
  /** The script answers its own decisions; otherwise they wait for a person. */
  readonly answers: boolean;
}

/** Parses `david`, `david:malformed` or `david@claude`: a scenario, a variant of it with failures, and a profile. */
export function scenarioChoice(given: string, speed: 1 | 10): Result<ScenarioChoice, ErrorEnvelope> {
  const [, name = '', variant, profile = 'all'] = /^(\w+)(?::([\w-]+))?(?:@(\w+))?$/.exec(given) ?? [];
  const isKnown = scenarioNames.some(one => one === name);
  if (!isKnown) {
    return err(usageError(`There is no scenario "${given}".`, `Choose one of: ${scenarioNames.join(', ')}.`));
  }
  const known = name as ScenarioName;
  if (variant !== undefined && !scenarioVariants(known).includes(variant)) {
    const variants = scenarioVariants(known).join(', ');
    return err(usageError(`Scenario ${name} has no variant "${variant}".`, `Choose one of: ${variants}.`));
  }
  if (!Object.hasOwn(capabilityProfiles, profile)) {
    const profiles = Object.keys(capabilityProfiles).join(', ');
    return err(usageError(`There is no profile "${profile}".`, `Choose one of: ${profiles}.`));
  }
  const scenario = loadScenario(known, variant === undefined ? {} : { variant });
  return ok({ scenario, profile: profile as CapabilityProfile, speed, answers: false });
}

/** The plugin and the services that play it. */
export function scenarioPlugins(
  machine: Pick<Machine, 'clock' | 'timers'>,
  choice: ScenarioChoice,
): Pick<FleetHostOptions, 'plugins' | 'services'> {
  return { plugins: [mockFleet({ machine, ...choice })], services: mockServices(choice.scenario) };
}

/** Starts the agents of a scenario that the fleet does not know yet. */
export async function playScenario(
  fleet: Pick<FleetDesk, 'agents' | 'spawn' | 'setMode'>,
  { scenario }: Pick<ScenarioChoice, 'scenario'>,
  clock: Machine['clock'],
  by: string,
): Promise<Result<undefined, ErrorEnvelope>> {
  const known = fleet.agents().map(({ id }) => id);
  const missing = scenario.agents.filter(({ agentId }) => !known.includes(agentId));
  if (missing.length === 0) return ok(undefined);
  const set = await fleet.setMode(scenario.controlMode, by);
  if (!set.ok) return set;
  for (const { name, agentId } of missing) {
    const brief = briefOf(scenario, name, clock);
    const spawned = await fleet.spawn({ name, plugin: 'mock', brief, agentId }, by);
    if (!spawned.ok) return spawned;
  }
  return ok(undefined);
}

/** Without what the fleet adds. */
function briefOf(scenario: MockScenario, name: string, clock: Machine['clock']): BriefChanges {
  const {
    agentId: _agent,
    controlMode: _mode,
    projectBrief: _project,
    knowledgeSnapshot: _snapshot,
    ...brief
  } = scenarioBrief(scenario, name, clock);
  return brief;
}
