import * as fs from 'node:fs';
import path from 'node:path';
import { AGENT_ROWS, type AgentRow, installedIn, withEndpoint } from '@signalbox/adapters/acp';
import { openAgentRegister } from '@signalbox/app/agents';
import { openHome, type RunId, thisMachine } from '@signalbox/app/host';
import { createTurnServer } from '@signalbox/server';
import { agentsCache, cachedAgent } from '../../../scripts/agents-cache.ts';
import { patientTimers } from '../../adapters/test/patient-timers.ts';
import { echoTask } from './echo-task.ts';

/** The agent that comes along, whose tools are ours. */
export const BUILTIN = 'builtin';
/** The agent of testkit, which does the task without a model. Its program is given as the model's address. */
export const ECHO = 'echo';
const KEY = 'sk-scripted';

export interface RealHostOptions {
  /** A folder with `work`, the directory that the agent works in. `data` is made in it. */
  readonly folder: string;
  /** The name of an agent in the cache, or `builtin`. */
  readonly agent: string;
  /** The address of its model. */
  readonly model: string;
  readonly parkMs?: number;
}

/** A folder for an agent. Not below the directory for temporary files: agents have their own, and some refuse a home there. */
export function realFolder(): string {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(agentsCache(), '.life-')));
  fs.mkdirSync(path.join(folder, 'work'));
  return folder;
}

/** The data directory of a folder in this process, with an agent of the cache that talks to a model of one's own. */
export async function openRealHost({ folder, agent, model, parkMs }: RealHostOptions) {
  const { timers, ...clockwork } = thisMachine();
  const machine = { ...clockwork, timers: patientTimers(timers) };
  const dataDirectory = path.join(folder, 'data');
  const env = {
    ...{ PATH: process.env.PATH, HOME: path.join(folder, 'home') },
    ...(agent === BUILTIN && { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: model }),
  };
  const known = openAgentRegister({ dataDirectory, env });
  const turns = createTurnServer({ timers: machine.timers });
  const home = await openHome({
    ...{ dataDirectory, machine, env, turns, resumeOnAnswer: true, threads: { threads: 1 } },
    ...(parkMs !== undefined && { parkMs }),
    ...(agent !== BUILTIN && { register: { ...known, ...(await cached(agent, model)) } }),
    fleet: { directory: folder, plugins: [] },
  });
  if (!home.ok) throw new Error(home.error.message);
  const { host, owned, close } = home.value;
  return {
    ...{ host, close, store: owned.store, recovered: home.value.recovered },
    fleet: await home.value.fleet({ directory: folder, plugins: [] }),
    async start(plan: string): Promise<RunId> {
      const file = path.join(folder, 'plan.tsx');
      fs.writeFileSync(file, plan);
      const started = await host.start({ file, anyFile: true, input: {}, directory: folder });
      if (!started.ok) throw new Error(`${started.error.code}: ${started.error.message}`);
      return started.value;
    },
  };
}

async function cached(agent: string, model: string) {
  if (agent === ECHO) {
    const program = { program: [process.execPath, model], version: '1', from: 'command' } as const;
    return {
      installed: () => program,
      choose: () => ({ kind: 'installed', row: echoRow, installed: program }) as const,
    };
  }
  const row = AGENT_ROWS.find(({ id }) => id === agent);
  const given = row && withEndpoint(row, { url: model, key: KEY });
  const found = row && (await cachedAgent(row, agentsCache()));
  const installed =
    given && found?.directory === undefined ? undefined : given && installedIn(given, found?.directory ?? '');
  if (given === undefined || installed === undefined) throw new Error(`${agent} is not in the cache`);
  return { installed: () => installed, choose: () => ({ kind: 'installed', row: given, installed }) as const };
}

const echoRow: AgentRow = {
  ...{ id: ECHO, title: 'Echo', vendor: 'any', start: { kind: 'program', file: 'echo', args: [] }, variables: [] },
  ...{ settings: { ECHO_AGENT: JSON.stringify(echoTask) }, homeFiles: {}, asking: { kind: 'settings' } },
  ...{ continues: ['resume'], unasked: ['read', 'search'], reports: { usage: false, cost: false }, files: 'own' },
  ...{ quirks: [], isTried: true },
};

/** Processes that use a home of an agent of this folder: agents, and everything that they started. */
export function livingIn(folder: string): readonly number[] {
  const mark = `HOME=${path.join(folder, 'data', 'agent-homes')}/`;
  return fs.readdirSync('/proc').flatMap(name => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return fs.readFileSync(`/proc/${name}/environ`, 'utf8').includes(mark) ? [Number(name)] : [];
    } catch {
      // It ended meanwhile, or is somebody else's.
      return [];
    }
  });
}
