import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import path from 'node:path';
import { AGENT_ROWS, type AgentRow, installedIn } from '@signalbox/adapters/acp';
import { openAgentRegister } from '@signalbox/app/agents';
import { openHome, type RunId, type StopConditions, thisMachine } from '@signalbox/app/host';
import { createMeterServer, createTurnServer } from '@signalbox/server';
import { echoAgentProgram } from '@signalbox/testkit';
import { agentsCache, cachedAgent } from '../../../scripts/agents-cache.ts';
import { patientTimers } from '../../adapters/test/patient-timers.ts';
import { BUILTIN, ECHO } from './real-host.ts';

/** The user's own key, which no agent may see, and which is in no file of anybody else. */
export const REAL_KEY = `sk-real-${randomBytes(9).toString('hex')}`;

export interface MeteredHostOptions {
  /** A folder with `work`. `data` is made in it. */
  readonly folder: string;
  readonly agent: string;
  /** The address of its model. */
  readonly model: string;
}

/** A data directory in this process, whose agents reach their model through the meter. */
export async function openMeteredHost({ folder, agent, model }: MeteredHostOptions) {
  const { timers, ...clockwork } = thisMachine();
  const machine = { ...clockwork, timers: patientTimers(timers) };
  const dataDirectory = path.join(folder, 'data');
  const row = agent === ECHO ? echoRow() : withModel(AGENT_ROWS.find(({ id }) => id === agent));
  const env = { PATH: process.env.PATH, HOME: path.join(folder, 'home'), ...userVariables(row, model) };
  const known = openAgentRegister({ dataDirectory, env });
  const home = await openHome({
    ...{ dataDirectory, machine, env, resumeOnAnswer: true, threads: { threads: 1 } },
    ...{ turns: createTurnServer({ timers: machine.timers }), meter: createMeterServer() },
    ...(row !== undefined && { register: { ...known, ...(await cached(row)) } }),
  });
  if (!home.ok) throw new Error(home.error.message);
  const { host, owned, close } = home.value;
  // A person who allows everything but more money.
  owned.store.subscribe('all', ({ events }) => {
    for (const { event } of events) if (event.type === 'decision.asked') void allow(event.decision);
  });
  async function allow(id: Parameters<typeof host.answer>[0]): Promise<void> {
    const asked = await owned.store.decision(id);
    if (asked === undefined || asked.decision.call.startsWith('limit:')) return;
    const resolution = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;
    await host.answer(id, { resolution }, 'ada');
  }
  return {
    ...{ host, close, store: owned.store, dataDirectory },
    async start(plan: string, limits: StopConditions): Promise<RunId> {
      const file = path.join(folder, 'plan.tsx');
      fs.writeFileSync(file, plan);
      const started = await host.start({ file, anyFile: true, input: {}, directory: folder, limits });
      if (!started.ok) throw new Error(`${started.error.code}: ${started.error.message}`);
      return started.value;
    },
  };
}

/** What a user sets to use a model of one's own. */
function userVariables(row: AgentRow | undefined, model: string): Readonly<Record<string, string>> {
  if (row === undefined) return { ANTHROPIC_API_KEY: REAL_KEY, ANTHROPIC_BASE_URL: model };
  const { variable = '', addressVariable = '' } = row.meter?.keys[0] ?? {};
  return { [variable]: REAL_KEY, [addressVariable]: model, ...MORE[row.id] };
}

/** The scripted model speaks as Codex's older models do, and opencode would wait for a list of models that is not to be had. */
function withModel(row: AgentRow | undefined): AgentRow | undefined {
  if (row?.id === 'opencode') return { ...row, settings: { ...row.settings, OPENCODE_DISABLE_MODELS_FETCH: '1' } };
  const config = row?.meter?.settings.CODEX_CONFIG;
  if (row?.meter === undefined || config === undefined) return row;
  const CODEX_CONFIG = JSON.stringify({ ...JSON.parse(config), model: 'gpt-5.5' });
  return { ...row, meter: { ...row.meter, settings: { ...row.meter.settings, CODEX_CONFIG } } };
}

/** What else a user chooses: a model, where the agent has none. */
const MORE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  goose: { GOOSE_PROVIDER: 'openai', GOOSE_MODEL: 'gpt-4o' },
  copilot: { COPILOT_MODEL: 'model' },
  gemini: { GEMINI_MODEL: 'gemini-2.5-flash' },
};

/** The agent of testkit, which calls its model as its prompt says. */
function echoRow(): AgentRow {
  const claude = AGENT_ROWS.find(({ id }) => id === 'claude');
  if (claude?.meter === undefined) throw new Error('Claude Code has no meter');
  return {
    ...{ id: ECHO, title: 'Echo', vendor: 'any', start: { kind: 'program', file: 'echo', args: [] }, homeFiles: {} },
    ...{ variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'], settings: {}, asking: { kind: 'settings' } },
    ...{ unasked: [], reports: { usage: false, cost: false }, files: 'own', quirks: [], isTried: true },
    meter: claude.meter,
  };
}

async function cached(row: AgentRow) {
  if (row.id === ECHO) {
    const program = [process.execPath, echoAgentProgram];
    const installed = { program, version: '1', from: 'command' } as const;
    return { installed: () => installed, choose: () => ({ kind: 'installed', row, installed }) as const };
  }
  const found = await cachedAgent(row, agentsCache());
  const installed = found?.directory === undefined ? undefined : installedIn(row, found.directory);
  if (installed === undefined) throw new Error(`${row.id} is not in the cache`);
  return { installed: () => installed, choose: () => ({ kind: 'installed', row, installed }) as const };
}

/** The files below a directory whose bytes have a text. */
export function filesWith(directory: string, text: string): readonly string[] {
  return fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.join(entry.parentPath, entry.name))
    .filter(file => fs.readFileSync(file).includes(text));
}

export { BUILTIN, ECHO };
