import { type ChildProcess, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createIdSource, ok, type SessionId } from '@signalbox/model';
import type { AgentOutcome, AgentSession, Assignment } from '@signalbox/runs';
import {
  type AnyTool,
  createCheckpointStore,
  createExecutionState,
  createPathLocks,
  createResources,
  createSession,
  createToolRunner,
  filesystem,
  findLayers,
  type HeldChoice,
  heldCall,
  type InnerCalls,
  type LayerEntry,
  layersOrCopies,
  openHostContentStore,
  openHostFilesystem,
  openHostUndoLog,
  resource,
  settleHeldCall,
} from '@signalbox/state';
import { type EchoSetup, type EchoStep, echoAgentProgram, echoPrompt, fakeClock, seededRng } from '@signalbox/testkit';
import { onTestFinished } from 'vitest';
import { type AcpPorts, type AgentProcess, type AgentRow, createAcpRunner } from '../src/acp/index.ts';
import type { AgentTools } from '../src/attempt/agent-tools.ts';
import { assignmentOf, idleTimers } from './builders.ts';
import { createHomes, mac } from './memory-homes.ts';

export const SECRET = 'key-that-nobody-may-see';

const echoRow: AgentRow = {
  id: 'echo',
  title: 'Echo',
  vendor: 'any',
  start: { kind: 'program', file: 'echo', args: [] },
  variables: ['ECHO_KEY', 'ECHO_URL'],
  settings: { ECHO_HOME: '{home}/config in {root}' },
  homeFiles: { '.echo/config.json': '{"home":"{home}"}' },
  asking: { kind: 'settings' },
  unasked: ['read', 'search'],
  reports: { usage: true, cost: true },
  files: 'client',
  quirks: [],
  isTried: true,
};

export interface AcpLifeOptions {
  readonly row?: Partial<AgentRow>;
  readonly setup?: EchoSetup;
  readonly ports?: Partial<AcpPorts>;
  /** The agent works on a layer of the directory, which is not applied. */
  readonly isOnLayer?: boolean;
  /** The machine has no layers: the agent works on a copy, whose changes are applied. */
  readonly isOnCopy?: boolean;
  readonly isUnconfined?: boolean;
  /** Tells its calls apart there. */
  readonly inner?: InnerCalls;
  /** Replaces parts of an attempt's tools. */
  readonly tools?: Partial<AgentTools>;
}

/** A directory, and the echo agent as a process in it, without a sandbox. It outlives attempts. */
export function openAcpLife(options: AcpLifeOptions = {}) {
  const {
    row = {},
    setup,
    ports = {},
    tools = {},
    isOnLayer = false,
    isOnCopy = false,
    isUnconfined = false,
    inner,
  } = options;
  const base = fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-acp-'));
  const root = `${base}/root`;
  fs.mkdirSync(root);
  const clock = fakeClock();
  const ids = createIdSource(clock, seededRng(5));
  const timers = idleTimers();
  const variables: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    ECHO_KEY: SECRET,
    ECHO_URL: 'http://127.0.0.1:1',
    ...(setup && { ECHO_AGENT: JSON.stringify(setup) }),
  };
  const undoLog = openHostUndoLog(`${base}/undo`);
  const store = openHostContentStore(`${base}/blobs`);
  const layers = isOnCopy ? layersOrCopies(`${base}/layers`, home => findLayers(home, [])) : undefined;
  const files = openHostFilesystem({ root, store, undoLog, ...(layers && { layers }) });
  if (!files.ok) throw new Error(files.error.message);
  const checkpoints = createCheckpointStore();
  const resources = createResources([resource(filesystem, files.value)]);
  const session = createSession({ id: ids.mint<SessionId>(), clock });
  const state = createExecutionState({ session, resources, clock, ids, checkpoints });
  const locks = createPathLocks();
  const children: ChildProcess[] = [];
  const homes = createHomes(`${base}/homes`);
  onTestFinished(() => {
    for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    fs.rmSync(base, { recursive: true, force: true });
  });

  /** Where the agent's writes go: below, they cannot be told from those of anybody else. */
  const onLayer = (turn: AnyTool): AnyTool => ({
    ...turn,
    handler(input, context) {
      const directory = fs.mkdtempSync(`${base}/layer-`);
      fs.mkdirSync(`${directory}/upper`);
      return turn.handler(input, { ...context, layer: { directory } as LayerEntry, ...(inner && { inner }) });
    },
  });
  const benchFor = async (_: Assignment, turn: AnyTool) => {
    const own = isOnLayer ? onLayer(turn) : turn;
    const runner = createToolRunner({ state, tools: [own], locks, evaluation: 'task', undoLog });
    return ok({
      runner,
      tools: [own],
      fateOf: async (call: string) => (checkpoints.getPostSnapshot(call) === null ? 'undone' : 'committed'),
      close: async () => {},
      ...(isOnCopy && {
        held: (call: string) => heldCall(state, call),
        fateOf: async (call: string) => (heldCall(state, call) === undefined ? 'undone' : 'held'),
        async settle(callId: string, choice: HeldChoice) {
          const settled = await settleHeldCall({ state, locks, tool: own, callId, choice, by: 'person' });
          return settled.ok ? settled.value : undefined;
        },
      }),
      ...tools,
    } satisfies AgentTools);
  };

  const runner = createAcpRunner({
    agentOf: async () =>
      ok({
        row: { ...echoRow, ...row },
        installed: { program: ['echo'], version: '1.0.0', from: 'command' as const },
        ...{ variables, isUnconfined },
      }),
    start(launch) {
      const { process: started, child } = startEcho(
        launch.variables,
        launch.layer === undefined ? launch.root : `${launch.layer.directory}/upper`,
      );
      children.push(child);
      return ok(started);
    },
    benchFor,
    configHome: homes.configHome,
    ...{ clock, ids, timers, mac },
    ...ports,
  });

  return {
    root,
    variables,
    timers,
    children,
    homes: homes.opened,
    /** Homes that wait for another attempt. */
    keptHomes: homes.kept,
    /** Runs an attempt: its agent does these steps, one list for each prompt. */
    run(
      on: AgentSession,
      steps: readonly EchoStep[] | readonly (readonly EchoStep[])[],
      assignment: Partial<Assignment> = {},
    ): Promise<AgentOutcome> {
      const prompts = (Array.isArray(steps[0]) ? steps : [steps]) as readonly (readonly EchoStep[])[];
      return runner.run(
        assignmentOf({ prompt: echoPrompt(...prompts), directory: root, permissions: 'gated', ...assignment }),
        on,
      );
    },
    read: (file: string) => (fs.existsSync(`${root}/${file}`) ? fs.readFileSync(`${root}/${file}`, 'utf8') : undefined),
    /** Whether any of its processes still runs. */
    isAnyAlive: () => children.some(child => child.exitCode === null && child.signalCode === null),
  };
}

/** Runs a command without a sandbox, where the agent's own writes go. */
export const bareTerminal: NonNullable<AcpPorts['terminal']> =
  () =>
  ({ command: [program = '', ...args], env, root, layer }) => {
    const cwd = layer === undefined ? root : `${layer.directory}/upper`;
    const child = spawn(program, args, { cwd, env: { PATH: process.env.PATH, ...env }, detached: true });
    const kill = () => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // It has ended.
      }
    };
    return {
      onOutput(take) {
        child.stdout.on('data', take);
        child.stderr.on('data', take);
      },
      kill,
      ended: new Promise(resolve => {
        child.on('error', ({ message }) => resolve({ kind: 'not started', reason: message }));
        child.on('close', (exitCode, signal) =>
          resolve(exitCode === null ? { kind: 'killed', signal: String(signal) } : { kind: 'exited', exitCode }),
        );
      }),
    };
  };

/** Starts the echo agent. It is killed where the real one would be after its time to end. */
function startEcho(variables: Readonly<Record<string, string>>, directory: string) {
  const child = spawn(process.execPath, [echoAgentProgram], { cwd: directory, env: variables });
  let errors = '';
  child.stderr.on('data', read => {
    errors = (errors + read).slice(-8_000);
  });
  const ended = new Promise<{ readonly reason: string }>(resolve => {
    child.on('error', thrown => resolve({ reason: `could not be started: ${thrown.message}` }));
    child.on('close', (code, signal) =>
      resolve({ reason: signal === null ? `exited with ${code}` : `was killed by ${signal}` }),
    );
  });
  const started: AgentProcess = {
    stdin: child.stdin,
    stdout: child.stdout,
    stderrTail: () => errors,
    ended,
    kill() {
      child.kill('SIGTERM');
      child.kill('SIGKILL');
    },
    view: () => directory,
  };
  return { process: started, child };
}
