import * as os from 'node:os';
import path from 'node:path';
import type { AgentRow } from '@signalbox/adapters/agents';
import { Bug, err, ok, type RunId } from '@signalbox/model';
import {
  type AgentRunner,
  type Assignment,
  type RunReader,
  type TaskError,
  type TurnSurface,
  taskId,
} from '@signalbox/runs';
import type { CommandSandbox } from '@signalbox/state';
import { type AgentRegister, openAgentRegister } from '../agent-register/agent-register.ts';
import { pathEntries } from '../agent-register/installed-agents.ts';
import type { Meter, MeteredTurn } from '../meter/meter.ts';
import { readCommandSettings } from '../sandbox/command-config.ts';
import { UNCONFINED_HINT } from '../sandbox/unconfined-hint.ts';
import type { Secrets } from '../secrets/open-secrets.ts';
import type { AgentHomes } from './agent-homes.ts';
import { startAgent, startBeside } from './agent-launcher.ts';
import { type BuiltinAgentsOptions, builtinAgents } from './builtin-agents.ts';

export interface AcpAgentsOptions extends BuiltinAgentsOptions {
  readonly dataDirectory: string;
  readonly homes: AgentHomes;
  readonly secrets: Pick<Secrets, 'mac'>;
  /** How long an agent's process waits for a person. */
  readonly parkMs: number;
  readonly register?: AgentRegister;
  /** Offers agents the tools of their turns. */
  readonly turns?: TurnSurface | undefined;
  /** Counts the calls of agents' models. Without it, they pass uncounted. */
  readonly meter?: Meter | undefined;
}

/**
 * The agents of a data directory: those that are installed, over ACP, and the one that comes along for everything else. Which of the
 * two did the work is in the transcript (`begun`).
 */
export function acpAgents(options: AcpAgentsOptions): AgentRunner {
  const { machine, tools, store, env, dataDirectory, homes, parkMs } = options;
  const { register = openAgentRegister({ dataDirectory, env }) } = options;
  const builtin = builtinAgents(options);
  const closed = [dataDirectory, os.homedir()];
  const costLimited = new Set<string>();
  /** By task: one attempt of it at a time. */
  const metered = new Map<string, MeteredTurn>();
  let loading: Promise<AgentRunner> | undefined;
  let sandbox: CommandSandbox | 'unconfined' | undefined;

  async function findSandbox(row: AgentRow): Promise<TaskError | undefined> {
    if (sandbox !== undefined) return undefined;
    const found = await tools.sandbox();
    if (found.ok) {
      sandbox = found.value;
      return undefined;
    }
    const settings = readCommandSettings(dataDirectory);
    if (settings.ok && settings.value.allowUnconfined) {
      sandbox = 'unconfined';
      return undefined;
    }
    const { message, suggestion } = found.error;
    const text = `${row.title} was not started: ${message}. ${suggestion} ${UNCONFINED_HINT}`;
    return { class: 'terminal', code: 'sandbox-missing', message: text };
  }

  async function load(): Promise<AgentRunner> {
    const { createAcpRunner } = await import('@signalbox/adapters/acp');
    return createAcpRunner({
      async agentOf(assignment) {
        const choice = register.choose(assignment);
        if (choice.kind !== 'installed') throw new Bug(`node ${assignment.node} has no agent over ACP`);
        const { row, installed } = choice;
        const refusal = await findSandbox(row);
        if (refusal !== undefined) return err(refusal);
        const meter = metered.get(assignment.task);
        const given = { ...env, ...meter?.keys };
        return ok({
          ...{ installed, isUnconfined: sandbox === 'unconfined', variables: variablesOf(row, given), meter },
          row: meter === undefined ? row : { ...row, settings: { ...row.settings, ...meter.settings } },
        });
      },
      start(launch) {
        if (sandbox === undefined) throw new Bug('an agent is started before its sandbox is known');
        return startAgent(launch, sandbox === 'unconfined' ? undefined : sandbox, { homes, closed });
      },
      terminal() {
        const confined = sandbox;
        if (confined === undefined || confined === 'unconfined') return undefined;
        return ({ layer, ...command }) => startBeside(command, layer, confined);
      },
      async benchFor(assignment, turn) {
        const bench = await tools.open(assignment, [turn]);
        if (bench.ok) return bench;
        return err({ class: 'terminal', code: bench.error.code, message: bench.error.message });
      },
      async configHome(assignment, mayContinue) {
        await homes.sweep(taskOverIn(store));
        return homes.open(assignment, mayContinue);
      },
      mac: options.secrets.mac,
      costLimited: ({ run }) => costLimited.has(run),
      clock: machine.clock,
      ids: machine.ids,
      timers: machine.timers,
      parkMs,
      turns: options.turns,
    });
  }

  return {
    async run(assignment, session) {
      const choice = register.choose(assignment);
      const isHeld = (assignment.apply ?? 'auto') !== 'auto' || assignment.check !== undefined;
      if (choice.kind === 'builtin' && isHeld) return { kind: 'failed', error: notHeld(assignment) };
      if (choice.kind === 'builtin') return builtin.run(assignment, session);
      if (choice.kind === 'missing') return { kind: 'failed', error: notInstalled(assignment, choice.message) };
      const limited = await options.budget.limited(assignment.run);
      if (limited.cost) costLimited.add(assignment.run);
      loading ??= load();
      const runner = await loading;
      const meter = await options.meter?.open({ row: choice.row, assignment, session, env, limited });
      if (meter === undefined) return runner.run(assignment, session);
      metered.set(assignment.task, meter);
      try {
        return await runner.run(assignment, session);
      } finally {
        metered.delete(assignment.task);
        await meter.close();
      }
    },
  };
}

/** Whether a task needs nothing any more. */
export function taskOverIn(store: Pick<RunReader, 'task'>): (run: string, task: string) => Promise<boolean> {
  return async (run, task) => {
    const known = taskId.safeParse(task);
    const found = known.success ? await store.task(run as RunId, known.data) : undefined;
    return found === undefined || found.status === 'done' || found.status === 'error' || found.status === 'canceled';
  };
}

/** Whether nobody needs the held changes of a task any more. A `Keep` may need those of a turn that is done, until its run is completed. */
export function changesOverIn(store: Pick<RunReader, 'task' | 'run'>): (run: string, task: string) => Promise<boolean> {
  const isOver = taskOverIn(store);
  return async (run, task) => {
    if (!(await isOver(run, task))) return false;
    const known = taskId.safeParse(task);
    const found = known.success ? await store.task(run as RunId, known.data) : undefined;
    return found?.status !== 'done' || (await store.run(run as RunId))?.status === 'completed';
  };
}

function notInstalled({ node }: Assignment, why: string): TaskError {
  return { class: 'terminal', code: 'agent-missing', message: `The agent of node ${node} cannot be used. ${why}` };
}

function notHeld({ node, apply = 'auto' }: Assignment): TaskError {
  const what = apply === 'auto' ? 'a check' : `apply="${apply}"`;
  const message = `Node ${node} has ${what}, and its agent is the built-in one, whose tools write files at once. Name an installed agent as its plugin (signalbox agents ls), or use apply="auto" without a check.`;
  return { class: 'terminal', code: 'apply-refused', message };
}

const LOCALE = ['LANG', 'LC_ALL', 'LC_CTYPE', 'TZ'];

/** What an agent sees of our variables: those that its row names, the locale, and the PATH with our own Node. */
function variablesOf(
  row: AgentRow,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const seen = [...LOCALE, ...row.variables].flatMap(name => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const PATH = [...new Set([path.dirname(process.execPath), ...pathEntries(env)])].join(':');
  return { LANG: 'C.UTF-8', ...Object.fromEntries(seen), PATH };
}
