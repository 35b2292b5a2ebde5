import * as fs from 'node:fs';
import path from 'node:path';
import { pipeline, Transform } from 'node:stream';
import { createIdSource, ok, type SessionId } from '@signalbox/model';
import type { AgentOutcome, AgentSession, Assignment } from '@signalbox/runs';
import {
  AGENT_LIMITS,
  type AnyTool,
  type CommandEnd,
  createCheckpointStore,
  createExecutionState,
  createPathLocks,
  createResources,
  createSession,
  createToolRunner,
  detectSandbox,
  filesystem,
  findLayers,
  type InteractiveProcess,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  resource,
  type Timers,
} from '@signalbox/state';
import { fakeClock, type ModelScript, type ModelServer, seededRng, startModelServer } from '@signalbox/testkit';
import { onTestFailed, onTestFinished } from 'vitest';
import { agentsCache } from '../../../scripts/agents-cache.ts';
import { type AgentProcess, type AgentRow, createAcpRunner, installedIn, withEndpoint } from '../src/acp/index.ts';
import type { AgentTools } from '../src/attempt/agent-tools.ts';
import { assignmentOf } from './builders.ts';
import { createHomes, mac } from './memory-homes.ts';
import { patientTimers } from './patient-timers.ts';

const sandbox = await detectSandbox();
/** Whether agents can be confined and work on layers here. */
export const hasLayers = sandbox.ok && sandbox.value.name === 'bubblewrap' && findLayers('/tmp').ok;

export interface RealLifeOptions {
  readonly row: AgentRow;
  /** Where npm installed the agent. */
  readonly directory: string;
  readonly script: ModelScript;
  /** Files of the user's home, which the agent can read. */
  readonly userHome?: Readonly<Record<string, string>>;
  /** Whether the agent is made to ask; otherwise its row is used as it is. */
  readonly change?: (row: AgentRow) => AgentRow;
  /** The runner's own. */
  readonly timers?: Timers;
}

export type RealLife = Awaited<ReturnType<typeof openRealLife>>;

/** A directory, a model that is scripted, and a real agent between them: confined, on layers of the directory. It outlives attempts. */
export async function openRealLife(options: RealLifeOptions) {
  const { row, directory, script, userHome = {}, change = same, timers = realTimers } = options;
  // Not below the directory for temporary files: agents have their own, and some refuse a home there.
  const base = fs.realpathSync(fs.mkdtempSync(path.join(agentsCache(), '.life-')));
  const [root, data, user] = [`${base}/root`, `${base}/data`, `${base}/user`];
  for (const one of [root, `${data}/layers`, `${data}/homes`, user]) fs.mkdirSync(one, { recursive: true });
  for (const [file, content] of Object.entries(userHome)) {
    fs.mkdirSync(path.dirname(`${user}/${file}`), { recursive: true });
    fs.writeFileSync(`${user}/${file}`, content);
  }
  if (directory === '') throw new Error(`${row.title} is not in the cache: run npm run agents`);
  const model = await startModelServer(script);
  const given = withEndpoint(change(row), { url: model.url, key: 'sk-scripted' });
  const installed = given && installedIn(given, directory);
  if (installed === undefined || !sandbox.ok) throw new Error(`${row.id} cannot be started here`);
  const confined = sandbox.value;
  const layers = findLayers(`${data}/layers`);
  if (!layers.ok) throw new Error(layers.error.message);

  const clock = fakeClock();
  const ids = createIdSource(clock, seededRng(5));
  const undoLog = openHostUndoLog(`${data}/undo`);
  const store = openHostContentStore(`${data}/blobs`);
  const files = openHostFilesystem({ root, store, undoLog, dataDirectory: data, layers: layers.value });
  if (!files.ok) throw new Error(files.error.message);
  const checkpoints = createCheckpointStore();
  const state = createExecutionState({
    session: createSession({ id: ids.mint<SessionId>(), clock }),
    resources: createResources([resource(filesystem, files.value)]),
    ...{ clock, ids, checkpoints },
  });
  const locks = createPathLocks();
  const started: InteractiveProcess[] = [];
  const processes: HeardProcess[] = [];
  const outcomes: AgentOutcome[] = [];
  const node = fs.realpathSync(process.execPath);
  onTestFinished(async () => {
    for (const agent of started) agent.stop();
    await Promise.all(started.map(agent => agent.ended));
    await model.close();
    fs.rmSync(base, { recursive: true, force: true, maxRetries: 20 });
  });

  onTestFailed(() => {
    const errors = processes.map(
      (one, index) => `start ${index + 1} wrote to its errors:\n${one.stderrTail()}\nand said last:\n${one.wireTail()}`,
    );
    const asked = model.requests.map(requestWords);
    console.error([`${row.title}:`, ...errors, ...asked, ...outcomes.map(one => JSON.stringify(one))].join('\n'));
  });

  const runner = createAcpRunner({
    agentOf: async () =>
      ok({ row: given as AgentRow, installed, variables: { PATH: PATH_OF(node), HOME: user, LANG: 'C.UTF-8' } }),
    start(launch) {
      const agent = confined.open({
        ...{ command: launch.installed.program, root: launch.root, refused: launch.refused, limits: AGENT_LIMITS },
        ...{ home: launch.configHome, readable: [directory, node, user], variables: launch.variables },
        ...(launch.layer && { layer: launch.layer }),
      });
      started.push(agent);
      const opened = processOf(agent, () => launch.layer?.view());
      processes.push(opened);
      return ok(opened);
    },
    async benchFor(_: Assignment, turn: AnyTool) {
      const tools = createToolRunner({ state, tools: [turn], locks, evaluation: 'task', undoLog });
      const fateOf = async (call: string) => (checkpoints.getPostSnapshot(call) === null ? 'undone' : 'committed');
      return ok({ runner: tools, tools: [turn], fateOf, close: async () => {} } satisfies AgentTools);
    },
    configHome: createHomes(`${data}/homes`).configHome,
    ...{ clock, ids, timers, mac },
  });

  return {
    root,
    model,
    /** Contains the directory, our data and the user's home. */
    base,
    /** How many of its processes were started. */
    starts: () => started.length,
    /** The outcome of an attempt. It is an error if the model refused a request: that explains more than what came of it. */
    async run(on: AgentSession): Promise<AgentOutcome> {
      const outcome = await runner.run(assignmentOf({ prompt: 'Do it.', directory: root, permissions: 'gated' }), on);
      outcomes.push(outcome);
      const refused = model.requests.filter(({ status }) => status !== 200).map(requestWords);
      if (refused.length > 0) throw new Error(`the model refused:\n${refused.join('\n')}`);
      return outcome;
    },
    /** Kills the agent from outside, with everything it started. */
    async kill(): Promise<void> {
      for (const pid of living(`${data}/homes/`)) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It ended with another one.
        }
      }
      await started.at(-1)?.ended;
    },
    /** Whether anything of its agents still runs. */
    isAnyAlive: () => living(`${data}/homes/`).length > 0,
    /** Ports on which its agents listen, on this machine. */
    ports: () => listening(living(`${data}/homes/`)),
    /** Everything in the directory. */
    tree: (): Record<string, string> =>
      Object.fromEntries(fs.readdirSync(root).map(name => [name, fs.readFileSync(`${root}/${name}`, 'utf8')])),
  };
}

const same = (row: AgentRow) => row;
/** Our Node comes first: agents start their own programs by name. */
const PATH_OF = (node: string) => `${path.dirname(node)}:/usr/local/bin:/usr/bin:/bin`;

const realTimers = patientTimers({
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
});

/** Processes whose home is there: an agent's own, and what it started. */
function living(homes: string): readonly number[] {
  return fs.readdirSync('/proc').flatMap(name => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return fs.readFileSync(`/proc/${name}/environ`, 'utf8').includes(`HOME=${homes}`) ? [Number(name)] : [];
    } catch {
      // It ended meanwhile, or is somebody else's.
      return [];
    }
  });
}

/** TCP ports on which these processes listen. */
function listening(pids: readonly number[]): readonly number[] {
  const sockets = new Set(pids.flatMap(pid => linksIn(`/proc/${pid}/fd`)));
  return ['tcp', 'tcp6'].flatMap(kind =>
    fs
      .readFileSync(`/proc/net/${kind}`, 'utf8')
      .split('\n')
      .flatMap(line => {
        const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
        const isOwn = state === LISTENS && sockets.has(`socket:[${inode}]`);
        return isOwn ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
      }),
  );
}

const LISTENS = '0A';

function linksIn(directory: string): readonly string[] {
  try {
    return fs.readdirSync(directory).map(name => fs.readlinkSync(`${directory}/${name}`));
  } catch {
    // It ended meanwhile.
    return [];
  }
}

/** The agent's process, with what both sides sent last. */
interface HeardProcess extends AgentProcess {
  wireTail(): string;
}

function processOf(agent: InteractiveProcess, view: () => string | undefined): HeardProcess {
  let errors = '';
  let wire = '';
  agent.stderr.setEncoding('utf8').on('data', read => {
    errors = (errors + read).slice(-8_000);
  });
  const heard = (side: string) =>
    new Transform({
      transform(chunk: Buffer, _, done) {
        wire = `${wire}${side} ${chunk.toString('utf8').slice(0, MOST_HEARD)}`.slice(-10 * MOST_HEARD);
        done(null, chunk);
      },
    });
  const stdin = heard('→');
  // An agent that is gone is known by its end.
  pipeline(stdin, agent.stdin, () => undefined);
  const stdout = heard('←');
  pipeline(agent.stdout, stdout, () => undefined);
  return {
    ...{ stdin, stdout, stderrTail: () => errors, wireTail: () => wire, kill: () => agent.stop(), view },
    ended: agent.ended.then(end => ({ reason: inWords(end) })),
  };
}

const MOST_HEARD = 2_000;

function inWords(end: CommandEnd): string {
  switch (end.kind) {
    case 'exited':
      return `exited with ${end.exitCode}`;
    case 'killed':
      return `was killed by ${end.signal}`;
    case 'not started':
    case 'no layer':
      return `could not be started: ${end.reason}`;
    case 'limit':
      return `exceeded its limit of ${end.limit}`;
    case 'other layer':
      return 'needs another layer';
  }
}

const SHOWN = 1_000;

/** A request to the model in one line: what it was told, and why it was refused, if it was. */
function requestWords({ method, path: at, status, refusal, asked, body }: ModelServer['requests'][number]): string {
  const head = `${method} ${at}: ${status}`;
  if (asked === undefined) return `${head} ${refusal ?? ''} ${JSON.stringify(body).slice(0, SHOWN)}`;
  const { turn, tools, since } = asked;
  return `${head} ${refusal ?? ''} turn ${turn}, ${tools.length} tools, told ${JSON.stringify(since).slice(-SHOWN)}`;
}
