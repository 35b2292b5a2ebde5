import { thrownStack } from '@signalbox/app';
import type { FleetDesk } from '@signalbox/app/fleet';
import type { ScenarioChoice } from '@signalbox/app/fleet-demo';
import {
  configOf,
  type GuidedSessions,
  type GuidedTools,
  guidedPreferences,
  recordAppliedConfig,
} from '@signalbox/app/guided';
import {
  type ErrorEnvelope,
  giveBackWhenIdle,
  type Machine,
  openHome,
  type Result,
  type RunHost,
  readNotifyConfig,
  tellNotices,
  thisMachine,
} from '@signalbox/app/host';
import manifest from '../../package.json' with { type: 'json' };
import { tellRecovered } from '../recoveries/recovery-report.ts';
import { tellAhead } from '../storage/tell-ahead.ts';
import { tellStorage } from '../storage/tell-storage.ts';
import type { Terminal } from '../terminal.ts';
import { workflowPlaces } from '../workflow/workflow-places.ts';
import { lazyMeterServer } from './meter-server.ts';
import { ownPlanRoots } from './own-plan-roots.ts';
import { startOwnServer } from './own-server.ts';
import { lazyTurnServer } from './turn-server.ts';

/** A data directory owned by this process, and its server. */
export interface Serving {
  readonly url: string;
  /** A link to the console. The credential is in the fragment, which browsers never send to a server. */
  page(): string;
  readonly host: RunHost;
  readonly guided: GuidedTools;
  readonly sessions: GuidedSessions;
  readonly fleet: FleetDesk;
  /** Pauses active runs, closes every connection, and releases the directory. */
  close(): Promise<void>;
}

export interface ServingOptions {
  readonly directory: string;
  readonly port: number;
  /** Directories that plans may be started from, in addition to the project. */
  readonly planRoots?: readonly string[];
  /** Plays a sample scenario with agents of the plugin `mock`. */
  readonly scenario?: ScenarioChoice | undefined;
  /** Agents answer without models. */
  readonly isRehearsal?: boolean;
}

export async function openServing(
  terminal: Terminal,
  { directory, port, planRoots = [], scenario, isRehearsal = false }: ServingOptions,
): Promise<Result<Serving, ErrorEnvelope>> {
  const machine = thisMachine();
  const fleetOptions = await fleetOptionsOf(machine, scenario);
  const home = await openHome({
    dataDirectory: directory,
    machine,
    env: process.env,
    planRoots: [...ownPlanRoots(), ...planRoots],
    resumeOnAnswer: true,
    isRehearsal,
    fleet: fleetOptions,
    turns: lazyTurnServer(machine.timers),
    meter: lazyMeterServer(),
  });
  if (!home.ok) return home;
  const { host, close } = home.value;
  tellRecovered(terminal, home.value.recovered);
  tellAhead(terminal, directory);
  tellStorage(terminal, host.storage);
  const config = configOf(manifest.version, workflowPlaces(), guidedPreferences(directory));
  const recorded = recordAppliedConfig(directory, config, machine.clock);
  if (!recorded.ok) terminal.complain(recorded.error.message);
  const onFault = (thrown: unknown) => terminal.complain(thrownStack(thrown));
  const fleet = await home.value.fleet(fleetOptions);
  const played = scenario && (await play(fleet, machine, scenario));
  if (played?.ok === false) {
    await close();
    return played;
  }
  const server = await startOwnServer({ home: home.value, directory, machine, port, fleet, onFault });
  if (!server.ok) {
    await close();
    return server;
  }
  const { url, page, guided, sessions } = server.value;
  const notify = readNotifyConfig(directory);
  if (!notify.ok) terminal.complain(`Notices are not sent: ${notify.error}.`);
  const endNotices =
    notify.ok && notify.value !== undefined
      ? tellNotices({
          ...{ feed: host.feed, reader: host.reader, config: notify.value, env: process.env, url },
          ...{ clock: machine.clock, timers: machine.timers },
          onFault: why => home.value.log.say('warn', 'a notice was not sent', { why }),
        })
      : () => {};
  const stopGivingBack = giveBackWhenIdle(host.feed, machine.timers);
  return {
    ok: true,
    value: {
      url,
      page,
      host,
      guided,
      sessions,
      fleet,
      async close() {
        stopGivingBack();
        endNotices();
        await server.value.close();
        await close();
      },
    },
  };
}

/** The fleet of the project that this process was started in. */
async function fleetOptionsOf(machine: Machine, scenario: ScenarioChoice | undefined) {
  const directory = process.cwd();
  if (scenario === undefined) return { directory, plugins: [] };
  const { scenarioPlugins } = await import('@signalbox/app/fleet-demo');
  return { directory, ...scenarioPlugins(machine, scenario) };
}

async function play(fleet: FleetDesk, { clock }: Machine, scenario: ScenarioChoice) {
  const { playScenario } = await import('@signalbox/app/fleet-demo');
  return playScenario(fleet, scenario, clock, 'signalbox');
}
