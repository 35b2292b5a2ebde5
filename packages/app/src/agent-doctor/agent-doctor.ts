import * as fs from 'node:fs';
import * as os from 'node:os';
import path from 'node:path';
import { type AgentRow, withEndpoint } from '@signalbox/adapters/agents';
import { cutAtWord } from '@signalbox/model';
import type { TurnOffer, TurnSurface } from '@signalbox/runs';
import { nodeHostFiles, removeTree } from '@signalbox/state';
import { startModelServer } from '@signalbox/testkit';
import { type AgentRegister, missingKeys } from '../agent-register/agent-register.ts';
import { type Check, failed, passed, warned } from '../doctor/check.ts';
import { openHome } from '../host/open-home.ts';
import { type Machine, thisMachine } from '../machine.ts';
import { readCommandSettings } from '../sandbox/command-config.ts';
import { CONFIG_FILE } from '../settings/config-file.ts';
import type { Launch } from '../threads/plan-worker-start.ts';

export interface AgentDoctorOptions {
  /** Its configuration says whether agents may run unconfined. */
  readonly dataDirectory: string;
  readonly register: AgentRegister;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly launch?: Launch | undefined;
  /** Offers agents the tools of their turns. Without it, nobody checks that they take them. */
  readonly turns?: TurnSurface | undefined;
  /** Ends the check of the agent that is being checked, and with it the agent. */
  readonly signal?: AbortSignal;
  /** How long an agent may take; 5 minutes if left out. */
  readonly limitMs?: number;
}

const LIMIT_MS = 300_000;

/** Starts agents, one after the other: each completes a turn against a model inside this process, without keys and network. */
export async function doctorAgents(rows: readonly AgentRow[], options: AgentDoctorOptions): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const row of rows) checks.push(await checkAgent(row, options));
  return checks;
}

async function checkAgent(row: AgentRow, options: AgentDoctorOptions): Promise<Check> {
  const { register, env } = options;
  const found = register.installed(row);
  if (found === undefined) return failed(row.id, `${row.title} is not installed`, adviceFor(row));
  const what = `${row.title} ${found.version} (${found.from})`;
  const offers: TurnOffer[] = [];
  const problem = await problemOf(row, options, offers);
  if (problem !== undefined) {
    const advice = problem.isSandboxMissing ? 'See what is missing with: signalbox doctor' : adviceFor(row);
    return failed(row.id, `${what} did not complete a turn: ${problem.why}`, advice);
  }
  if (options.turns !== undefined && !offers.some(offer => offer.wasListed())) {
    const how =
      offers.length === 0 ? 'does not connect to MCP servers over HTTP' : 'did not ask for the tools of its turn';
    return warned(
      row.id,
      `${what} completed a turn, but ${how}: its model cannot ask you with request_decision`,
      row.offering ?? 'It still asks before it acts. Give it tasks that it can do without questions.',
    );
  }
  const keys = missingKeys(row, env);
  if (keys !== undefined)
    return warned(row.id, `${what} completed a turn; no key for its models is set`, `Set ${keys}.`);
  return passed(row.id, `${what} completed a turn${row.isTried ? '' : '; no test of Signalbox runs it'}`);
}

function adviceFor({ id, package: of, start }: AgentRow): string {
  return of === undefined
    ? `Check its command in config.json: ${start.file} must speak ACP on its standard streams.`
    : `Install the pinned version with: signalbox agents add ${id}`;
}

const PROMPT = 'Answer with the one word: ready.';

interface Problem {
  /** Why an agent does not complete a turn, in one sentence. */
  readonly why: string;
  readonly isSandboxMissing: boolean;
}

const because = (why: string, code?: string): Problem => ({ why, isSandboxMissing: code === 'sandbox-missing' });

async function problemOf(
  row: AgentRow,
  options: AgentDoctorOptions,
  offers: TurnOffer[],
): Promise<Problem | undefined> {
  const { register, env, launch, turns, signal, limitMs = LIMIT_MS } = options;
  const machine = thisMachine();
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-agent-doctor-')));
  const server = await startModelServer(() => ({ text: 'ready' }));
  try {
    const dataDirectory = path.join(folder, 'data');
    fs.mkdirSync(dataDirectory, { mode: 0o700 });
    const settings = readCommandSettings(options.dataDirectory);
    if (settings.ok)
      fs.writeFileSync(path.join(dataDirectory, CONFIG_FILE), JSON.stringify({ commands: settings.value }));
    const own = withEndpoint(row, { url: server.url, key: 'no-key-is-needed' }) ?? row;
    const installed = register.installed(own);
    if (installed === undefined) return because('it is not installed');
    const home = await openHome({
      dataDirectory,
      machine,
      ...{ env, launch, threads: { threads: 1 } },
      ...(turns && { turns: watched(turns, offers) }),
      register: { ...register, installed: () => installed, choose: () => ({ kind: 'installed', row: own, installed }) },
    });
    if (!home.ok) return because(home.error.message);
    try {
      const file = path.join(folder, 'turn.tsx');
      const work = path.join(folder, 'work');
      fs.mkdirSync(work);
      fs.writeFileSync(file, planOf(row.id));
      const started = await home.value.host.start({ file, anyFile: true, input: {}, directory: work });
      if (!started.ok) return because(started.error.message);
      const ended = Promise.resolve(home.value.host.finished(started.value));
      const cut = await firstOf(ended, { machine, signal, limitMs });
      if (cut !== undefined) return because(cut);
      const [task] = await home.value.host.reader.tasks(started.value);
      if (task?.status === 'done') return undefined;
      return because(firstSentences(task?.lastError?.message ?? 'it asked a person'), task?.lastError?.code);
    } finally {
      await home.value.close();
    }
  } finally {
    await server.close();
    // Layers and agents leave directories that are closed even to us.
    removeTree(nodeHostFiles, folder);
  }
}

/** The same surface, whose offers are seen. Closing it is left to its owner. */
function watched(turns: TurnSurface, offers: TurnOffer[]) {
  return {
    async offer(tools: Parameters<TurnSurface['offer']>[0]) {
      const offer = await turns.offer(tools);
      offers.push(offer);
      return offer;
    },
    close: async () => {},
  };
}

/** Why the turn was not waited for; undefined if it ended. Closing its home ends what is still running. */
async function firstOf(
  ended: Promise<unknown>,
  {
    machine,
    signal,
    limitMs,
  }: { readonly machine: Machine; readonly signal?: AbortSignal | undefined; readonly limitMs: number },
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const cancel = () => resolve('the check was canceled');
  const stop = machine.timers.after(limitMs, () => resolve(`it took longer than ${limitMs / 1000} seconds`));
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted === true) cancel();
  try {
    return await Promise.race([ended.then(() => undefined), promise]);
  } finally {
    stop();
    signal?.removeEventListener('abort', cancel);
  }
}

function planOf(plugin: string): string {
  return `import { Agent, definePlan } from 'signalbox';
export default definePlan({
  name: 'agents-doctor',
  render: () => <Agent id="turn" plugin=${JSON.stringify(plugin)} retries={0} prompt=${JSON.stringify(PROMPT)} />,
});
`;
}

const MOST = 400;

function firstSentences(text: string): string {
  return cutAtWord(text.replaceAll(/\s+/g, ' ').trim(), MOST);
}
