import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defaultFleetConfig, type Effect, type FleetConfig, type FleetState } from '@signalbox/fleet';
import {
  type AgentId,
  Bug,
  createSecretFilter,
  type FleetMessage,
  knownSecretOf,
  type ProjectId,
} from '@signalbox/model';
import { openStore, type Store } from '@signalbox/store';
import { type CapabilityProfile, loadScenario, type MockScenario, type ScenarioName } from '@signalbox/testkit';
import { onTestFinished } from 'vitest';
import { mockFleet, mockServices } from '../../src/demo/fleet/mock-fleet.ts';
import { playScenario } from '../../src/demo/fleet/scenario.ts';
import type { Undated } from '../../src/fleet/agent-calls.ts';
import { createFleetDesk, type FleetDesk } from '../../src/fleet/fleet-desk.ts';
import { type FleetHost, openFleetHost } from '../../src/fleet/fleet-host.ts';
import type { FleetPlugin, OpenPlugin } from '../../src/fleet/fleet-plugin.ts';
import { type ManualMachine, manualMachine } from '../support/run-builders.ts';

const PROJECT = '00000000-0000-7000-8000-0000000000f1' as ProjectId;
const STEP_MS = 50;

/** A call that a plugin received, with what it was given. */
interface PluginCallSeen {
  readonly call: string;
  readonly given: readonly unknown[];
}

/** A fleet whose agents play a scenario, in time that a test moves. */
export interface FleetStage {
  readonly scenario: MockScenario;
  readonly machine: ManualMachine;
  readonly store: Store;
  readonly home: string;
  host: FleetHost;
  desk: FleetDesk;
  readonly messages: FleetMessage[];
  /** Everything that left for agents. */
  readonly calls: PluginCallSeen[];
  readonly faults: unknown[];
  state(): FleetState;
  /** The id of an agent of the scenario. */
  agent(name: string): AgentId;
  happen(fact: Undated): Promise<readonly Effect[]>;
  /** Lets time pass, and everything come to rest in between. */
  pass(ms: number): Promise<void>;
  /** Lets time pass until something is there. */
  until<T>(look: () => T | undefined, mostMs?: number): Promise<T>;
  /** Ends the process without its doing anything, and opens the next one. */
  restart(): Promise<void>;
  /** Ends as asked, and opens the next one. */
  reopen(): Promise<void>;
}

export interface StageOptions {
  readonly scenario?: ScenarioName;
  readonly load?: Parameters<typeof loadScenario>[1];
  readonly profile?: CapabilityProfile;
  /** Whether the script answers its own decisions. */
  readonly answers?: boolean;
  readonly config?: Partial<FleetConfig>;
  /** Whether the agents of the scenario are started. */
  readonly plays?: boolean;
  readonly secrets?: readonly string[];
  /** Changes what the plugin does. */
  readonly wrap?: (plugin: FleetPlugin) => FleetPlugin;
}

export async function fleetStage(options: StageOptions = {}): Promise<FleetStage> {
  const { scenario: name = 'david', load, profile = 'all', answers = true, config = {}, plays = true } = options;
  const home = mkdtempSync(path.join(tmpdir(), 'signalbox-fleet-'));
  const opened = openStore({ path: path.join(home, 'db.sqlite') });
  if (!opened.ok) throw new Bug(opened.error.message);
  const store = opened.value;
  const machine = manualMachine();
  const scenario = loadScenario(name, load);
  const messages: FleetMessage[] = [];
  const calls: PluginCallSeen[] = [];
  const faults: unknown[] = [];
  const mac = (text: string) => createHash('sha256').update(text).digest('hex');
  const known = (options.secrets ?? []).map((value, n) => knownSecretOf(`SECRET_${n}`, value, mac));
  const filter = createSecretFilter({ known, mac });
  let life = { isOver: false };

  const open = async (): Promise<FleetHost> => {
    const own = { isOver: false };
    life = own;
    // A process that is dead commits nothing, and is told nothing.
    const log: Store = {
      ...store,
      commitToProject: (...commit) => (own.isOver ? new Promise(() => {}) : store.commitToProject(...commit)),
    };
    const plugin: OpenPlugin = ports =>
      seen(calls, (options.wrap ?? (one => one))(mockFleet({ scenario, machine, profile, answers })(ports)));
    const host = await openFleetHost({
      project: PROJECT,
      log,
      machine,
      filter,
      plugins: [plugin],
      services: mockServices(scenario),
      config: { ...defaultFleetConfig, ticks: { intervalMs: 1000, mode: 'manual' }, ...config },
      onFault: thrown => faults.push(thrown),
    });
    host.subscribe(message => messages.push(message));
    return host;
  };

  const stage: FleetStage = {
    ...{ scenario, machine, store, home, messages, calls, faults },
    host: undefined as unknown as FleetHost,
    desk: undefined as unknown as FleetDesk,
    state: () => stage.host.state(),
    agent(of) {
      const found = scenario.agents.find(agent => agent.name === of);
      if (found === undefined) throw new RangeError(`There is no agent ${of} in the scenario.`);
      return found.agentId;
    },
    async happen(fact) {
      const happened = await stage.host.happen(fact);
      if (!happened.ok) throw new Bug(happened.error.message);
      return happened.value;
    },
    async pass(ms) {
      for (let left = ms; left > 0; left -= STEP_MS) {
        machine.pass(Math.min(left, STEP_MS));
        await stage.host.idle();
      }
      await stage.host.idle();
    },
    async until(look, mostMs = 600_000) {
      for (let passed = 0; passed <= mostMs; passed += STEP_MS) {
        const found = look();
        if (found !== undefined) return found;
        await stage.pass(STEP_MS);
      }
      throw new Bug(`it is not there after ${mostMs} ms of the scenario`);
    },
    async restart() {
      life.isOver = true;
      await renew();
    },
    async reopen() {
      await stage.host.close();
      await renew();
    },
  };
  const renew = async () => {
    stage.host = await open();
    stage.desk = createFleetDesk(stage.host, store, machine);
    await stage.host.idle();
  };
  await renew();
  onTestFinished(async () => {
    const closed = stage.host.close();
    // For plugins that do not answer.
    machine.pass(20_000);
    await closed;
    store.close();
    rmSync(home, { recursive: true, force: true });
  });
  if (plays) {
    const played = await playScenario(stage.desk, { scenario }, machine.clock, 'ada');
    if (!played.ok) throw new Bug(played.error.message);
    if (options.wrap === undefined) await stage.host.idle();
  }
  return stage;
}

/** Notes every call, and what it is given. */
function seen(calls: PluginCallSeen[], fleetPlugin: FleetPlugin): FleetPlugin {
  const { plugin } = fleetPlugin;
  const noted = Object.fromEntries(
    Object.entries(plugin).map(([call, member]) => [
      call,
      typeof member === 'function'
        ? (...given: unknown[]) => {
            calls.push({ call, given });
            return (member as (...args: unknown[]) => unknown)(...given);
          }
        : member,
    ]),
  );
  return { ...fleetPlugin, plugin: noted as unknown as FleetPlugin['plugin'] };
}
