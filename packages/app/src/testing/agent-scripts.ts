import { type Json, type JsonObject, thrownMessage } from '@signalbox/model';
import { Retryable, Terminal } from '@signalbox/plan';
import type { AgentOutcome, AgentRunner, AgentSession, Assignment } from '@signalbox/runs';
import * as z from 'zod';
import type { ScriptedTools } from './scripted-tools.ts';

/** The output of an agent, or a function that works as the agent would. */
export type AgentScript = Json | ((turn: AgentTurn) => unknown);

/** One attempt of a scripted agent. */
export interface AgentTurn {
  /** The id of its node. */
  readonly node: string;
  readonly prompt: string;
  readonly system: string | undefined;
  readonly model: string | undefined;
  /** 1 for the first. */
  readonly attempt: number;
  /** The iteration of the loop around it, from 0. */
  readonly iteration: number;
  /** The JSON Schema of the output that the plan asks for. */
  readonly schema: JsonObject | undefined;
  /** Where it works. */
  readonly directory: string;
  /** Aborted when the work is canceled or out of time. */
  readonly signal: AbortSignal;
  /** Calls a tool that its plan gives it, and returns its answer; rejects with what a model would read. */
  call(tool: string, input?: Json): Promise<Json>;
  /** Streams text, as an agent that thinks aloud does. */
  say(text: string): void;
  /** Records what a call of a model cost, which counts against the limits of the run. Throws once a limit is reached. */
  spend(spent: Spent): Promise<void>;
}

export interface Spent {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costUsd?: number;
}

/** An agent without a script: it works until the test says how its work ends. */
export interface HeldAgent {
  readonly node: string;
  readonly turn: AgentTurn;
  finish(output: Json): void;
  fail(error: Error): void;
}

/** Uses the next script for each attempt, and the last one from then on. */
export function inTurn(...scripts: readonly [AgentScript, ...AgentScript[]]): AgentScript {
  let used = 0;
  return turn => {
    const next = scripts[Math.min(used++, scripts.length - 1)];
    return typeof next === 'function' ? next(turn) : next;
  };
}

export interface ScriptedAgents {
  readonly runner: AgentRunner;
  /** Every attempt so far, in order. */
  readonly turns: readonly AgentTurn[];
  readonly held: readonly HeldAgent[];
  /** How many scripts run now. */
  readonly working: number;
  /** Forgets the work under way, as the end of a process does. */
  drop(): void;
}

/** Agents that do what the test says. `changed` is called whenever one begins or ends. */
export function scriptedAgents(
  scripts: Readonly<Record<string, AgentScript>>,
  tools: ScriptedTools,
  changed: () => void,
): ScriptedAgents {
  const turns: AgentTurn[] = [];
  let held: HeldAgent[] = [];
  let working = 0;

  /** Holds the work until the test ends it, or it is canceled. */
  function hold(turn: AgentTurn): Promise<Json> {
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    const end = (settle: () => void) => () => {
      held = held.filter(one => one !== agent);
      settle();
      changed();
    };
    const agent: HeldAgent = {
      node: turn.node,
      turn,
      finish: output => end(() => resolve(output))(),
      fail: error => end(() => reject(error))(),
    };
    turn.signal.addEventListener(
      'abort',
      end(() => reject(new Error('canceled'))),
      { once: true },
    );
    held = [...held, agent];
    changed();
    return promise;
  }

  async function work(assignment: Assignment, turn: AgentTurn): Promise<unknown> {
    const script = scriptFor(scripts, assignment.node);
    if (script === undefined) return hold(turn);
    working += 1;
    try {
      return typeof script === 'function' ? await script(turn) : script;
    } finally {
      working -= 1;
      changed();
    }
  }

  return {
    runner: {
      async run(assignment, session): Promise<AgentOutcome> {
        const turn = turnOf(assignment, session, tools);
        turns.push(turn);
        try {
          const output = (await work(assignment, turn)) ?? null;
          return checked(assignment, output as Json);
        } catch (thrown) {
          return thrown instanceof LimitReached ? thrown.outcome : failedWith(thrown);
        }
      },
    },
    turns,
    get held() {
      return held;
    },
    get working() {
      return working;
    },
    drop() {
      held = [];
      working = 0;
    },
  };
}

/** The script of a node: by its id, by a beginning of it and `*`, or for all of them. */
function scriptFor(scripts: Readonly<Record<string, AgentScript>>, node: string): AgentScript | undefined {
  if (Object.hasOwn(scripts, node)) return scripts[node];
  const [pattern] = Object.keys(scripts)
    .filter(name => name.endsWith('*') && node.startsWith(name.slice(0, -1)))
    .toSorted((a, b) => b.length - a.length);
  return pattern === undefined ? undefined : scripts[pattern];
}

function turnOf(assignment: Assignment, session: AgentSession, tools: ScriptedTools): AgentTurn {
  const { node, prompt, system, model, attempt, iteration, schema, directory } = assignment;
  let calls = 0;
  return {
    ...{ node, prompt, system, model, attempt, iteration, schema, directory },
    signal: session.signal,
    call: (tool, input = {}) => tools.call(assignment, session.signal, tool, input),
    say: text => session.stream('token', text),
    async spend({ inputTokens = 0, outputTokens = 0, costUsd = 0 }) {
      const admitted = await session.admit({ provider: 'scripted', model: model ?? 'script' });
      if (admitted.kind === 'stop') throw new LimitReached(admitted);
      calls += 1;
      await session.spend({
        call: `${attempt}-${calls}`,
        ...{ inputTokens, outputTokens, cachedTokens: 0, toolCalls: 0, wallMs: 0 },
        costMicroUsd: Math.round(costUsd * 1_000_000),
      });
      admitted.release();
    },
  };
}

/** A script that ignores it ends as blocked all the same: the limit is a question to a person. */
class LimitReached extends Error {
  override readonly name = 'LimitReached';
  readonly outcome: AgentOutcome;

  constructor({ reason, waits }: { readonly reason: string; readonly waits?: string }) {
    super(reason);
    this.outcome =
      waits === undefined
        ? { kind: 'failed', error: { class: 'terminal', code: 'stopped', message: reason } }
        : { kind: 'blocked', reason: waits };
  }
}

/** An output that the plan's schema would never let a real agent give is a mistake of the test. */
function checked({ node, schema }: Assignment, output: Json): AgentOutcome {
  const fit = schema === undefined ? undefined : z.fromJSONSchema(schema as never).safeParse(output);
  if (fit === undefined || fit.success) return { kind: 'done', output };
  const message = `The scripted output of ${node} does not fit its schema: ${z.prettifyError(fit.error)}`;
  return { kind: 'failed', error: { class: 'terminal', code: 'output-invalid', message } };
}

/** What a script throws counts as a failure of its model, which another attempt may overcome, unless it is `Terminal`. */
function failedWith(thrown: unknown): AgentOutcome {
  const message = thrownMessage(thrown);
  if (thrown instanceof Terminal) return { kind: 'failed', error: { class: 'terminal', code: 'Terminal', message } };
  const after = thrown instanceof Retryable ? thrown.afterMs : undefined;
  return {
    kind: 'failed',
    error: { class: 'retryable', code: 'agent-failed', message, ...(after !== undefined && { retryAfterMs: after }) },
  };
}
