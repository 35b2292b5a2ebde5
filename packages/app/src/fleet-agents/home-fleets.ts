import { realpathSync } from 'node:fs';
import { defaultFleetConfig } from '@signalbox/fleet';
import { type ProjectId, type SecretFilter, thrownText } from '@signalbox/model';
import type { AgentRunner } from '@signalbox/runs';
import type { Store } from '@signalbox/store';
import type { AgentRegister } from '../agent-register/agent-register.ts';
import { type FleetHost, type FleetHostOptions, openFleetHost } from '../fleet/fleet-host.ts';
import { readFleetConfig } from '../fleet/fleet-settings.ts';
import { projectIdOf } from '../fleet/project-id.ts';
import { projectDirectoryOf } from '../host/project-directory.ts';
import type { Log } from '../logs/log.ts';
import type { Machine } from '../machine.ts';
import { agentPlugins } from './agent-plugins.ts';
import { openAgentTranscripts } from './agent-transcript.ts';
import { planAgents } from './plan-agents.ts';

/** A project's directory, and what its agents run on besides the agents of the register. */
export interface FleetOptions extends Pick<FleetHostOptions, 'plugins' | 'services'> {
  readonly directory: string;
}

export interface HomeFleetsPorts {
  readonly dataDirectory: string;
  readonly machine: Machine;
  readonly store: Store;
  readonly register: AgentRegister;
  readonly log: Log;
  readonly filter: SecretFilter;
  /** Does the work of agents, of the fleet's own and of plans. */
  readonly runner: AgentRunner;
}

/**
 * The fleets of a data directory, each opened once.
 *
 * 1. The agents of all runs join the fleet that the process serves, so that one brake reaches everything that works here. In a process that
 *    serves none they join the fleet of their run's project.
 * 2. A run whose fleet cannot be opened goes on without it.
 */
export function homeFleets(ports: HomeFleetsPorts) {
  const { dataDirectory, machine, store, register, log, filter, runner } = ports;
  const hosts = new Map<ProjectId, Promise<FleetHost>>();
  const transcripts = openAgentTranscripts(dataDirectory);
  let served: string | undefined;

  function hostOf({ directory, plugins, services }: FleetOptions): Promise<FleetHost> {
    const project = projectIdOf(directory);
    const open = hosts.get(project) ?? opened({ directory, plugins, services }, project);
    hosts.set(project, open);
    // The next one who asks tries again.
    open.catch(() => hosts.delete(project));
    return open;
  }

  async function opened({ directory, plugins, services }: FleetOptions, project: ProjectId): Promise<FleetHost> {
    const config = readFleetConfig(dataDirectory);
    if (!config.ok) log.say('warn', 'the settings of the fleet are not used', { why: config.error });
    const place = realpathSync(directory);
    const own = agentPlugins({ ...{ runner, register, machine, transcripts }, project: place, clean: filter.data });
    return openFleetHost({
      ...{ plugins: [...plugins, ...own], services, project, log: store, machine, filter },
      config: config.ok ? config.value : defaultFleetConfig,
      onFault: thrown => log.say('error', 'a fleet failed', { error: thrownText(thrown) }),
    });
  }

  const agents = planAgents({
    ...{ runner, register, machine },
    async fleetOf({ run, directory: workingDirectory }) {
      const record = await store.run(run);
      const own = (record && projectDirectoryOf(record)) ?? workingDirectory;
      try {
        const directory = realpathSync(served ?? own);
        const host = await hostOf({ directory, plugins: [] });
        return { host, directory, plan: record?.name ?? 'plan' };
      } catch (thrown) {
        log.say('warn', 'a run goes on without its fleet', { run, error: thrownText(thrown) });
        return undefined;
      }
    },
  });

  return {
    /** The runner of plans: its agents are in the fleet. */
    agents,
    /** The fleet that this process serves. */
    async fleetOf(options: FleetOptions): Promise<FleetHost> {
      const host = await hostOf(options);
      served = options.directory;
      return host;
    },
    fleets: {
      async close(): Promise<void> {
        for (const open of hosts.values()) await open.then(host => host.close()).catch(() => undefined);
      },
    },
  };
}
