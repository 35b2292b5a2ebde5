import { type GivenAnswer, type Json, type RunId, type RunStatus, resolutionGiven } from '@signalbox/model';
import { type AnyPlan, type Duration, durationMs, type RunEnd, type TreeNode } from '@signalbox/plan';
import type { DecisionOfRun } from '@signalbox/runs';
import type * as z from 'zod';
import { inputRefused } from '../host/input-refused.ts';
import { type ShownTree, treeAt } from '../host/run-tree.ts';
import type { AgentTurn, ScriptedAgents } from './agent-scripts.ts';
import type { ScriptedCall, ScriptedTools } from './scripted-tools.ts';
import type { TestWorld } from './test-world.ts';

export type TestState<Plan extends AnyPlan> = Partial<z.output<Plan['state']>>;

/** A node of the tree, as a test sees it. */
export interface TestNode {
  readonly id: string;
  readonly kind: string;
  readonly status: string | undefined;
  /** Why it waits, or was left out. */
  readonly reason: string | undefined;
  /** Its props without functions. */
  readonly data: Readonly<Record<string, Json>>;
  readonly children: readonly TestNode[];
}

/** A question to a person. */
export interface TestQuestion {
  readonly id: string;
  readonly node: string;
  readonly kind: string;
  readonly prompt: string;
  readonly options: readonly string[];
  /** Everything that the person is shown. */
  readonly proposal: Json;
}

/** The run at one moment. */
export interface TestView<Plan extends AnyPlan = AnyPlan> {
  readonly frame: number;
  readonly status: RunStatus;
  readonly state: TestState<Plan>;
  readonly tree: TestNode;
  readonly questions: readonly TestQuestion[];
  /** A node by its id; throws with the ids that there are. */
  node(id: string): TestNode;
}

export type TestEnd = Exclude<RunEnd, { readonly status: 'lost' }>;

/** A run of a plan in a test. Time stands still unless the test moves it. */
export interface TestRun<Plan extends AnyPlan = AnyPlan> extends TestView<Plan> {
  /** Every attempt of an agent so far, with what it was asked. */
  readonly turns: readonly AgentTurn[];
  /** Every call of a tool that an agent's script made, in order. */
  readonly calls: readonly ScriptedCall[];
  /** The tree with statuses, one line a node: made for snapshots. */
  outline(): string;
  /** The time of the run. */
  readonly now: Date;
  /** The types of the run's events so far. */
  events(): Promise<readonly string[]>;
  /** An earlier frame. */
  at(frame: number): Promise<TestView<Plan>>;
  /** Waits until nothing more happens without time, an answer or the end of an agent's work. */
  settled(): Promise<void>;
  /** Waits until the run is as asked; looks at it after every commit. */
  until(reached: (view: TestView<Plan>) => boolean): Promise<void>;
  /** Waits until there is another frame. */
  nextFrame(): Promise<void>;
  /** Lets the run come to its end, or to where it waits for a person. Time moves as far as is needed. */
  end(): Promise<TestEnd>;
  /** Moves time: `'30s'`, `'10m'`, `'2h'`, or milliseconds. Timers, retries and timeouts go off on the way. */
  advance(time: Duration): Promise<void>;
  /** Answers the question of a node. */
  answer(node: string, answer: GivenAnswer): Promise<void>;
  /** Ends the work of an agent without a script. */
  finish(node: string, output: Json): Promise<void>;
  /** Fails the work of an agent without a script; `Terminal` and `Retryable` say whether another attempt follows. */
  fail(node: string, error: Error | string): Promise<void>;
  signal(name: string, payload?: Json): Promise<void>;
  retry(node: string): Promise<void>;
  cancel(node: string): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(reason?: string): Promise<void>;
  /** Ends the process as `kill -9` does, and resumes the run in another; with a plan, in that version of it. */
  crashAndResume(plan?: Plan): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface TestRunPorts {
  readonly world: TestWorld;
  readonly agents: ScriptedAgents;
  readonly tools: ScriptedTools;
  readonly patienceMs: number;
  /** Resolves when something changes after this call. */
  readonly nextChange: () => Promise<void>;
  /** How often something changed. */
  readonly changes: () => number;
  /** The scripted answer to a question. */
  readonly answerTo: (question: TestQuestion) => GivenAnswer | undefined;
  readonly changePlan: (plan: AnyPlan) => void;
  readonly closed: () => Promise<void>;
}

const PERSON = 'person';
/** More steps of time than any plan of a test takes. */
const MOST_STEPS = 20_000;

export async function createTestRun<Plan extends AnyPlan>(ports: TestRunPorts): Promise<TestRun<Plan>> {
  const { world, agents, tools, patienceMs, nextChange, changes } = ports;
  const { run, runs } = world;
  const asked = new Set<string>();
  let view = await viewAt<Plan>(world, undefined);

  const look = async () => {
    view = await viewAt<Plan>(world, undefined);
  };

  /** Lets pass what needs neither time nor the outside, and gives the scripted answers. */
  async function breathe(): Promise<void> {
    for (;;) {
      const before = changes();
      for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve));
      if (changes() === before && !(await answerByScript())) break;
    }
    await look();
  }

  async function answerByScript(): Promise<boolean> {
    for (const question of await openQuestions(world)) {
      if (asked.has(question.id)) continue;
      const given = ports.answerTo(question);
      asked.add(question.id);
      if (given === undefined) continue;
      await answered(question, given);
      return true;
    }
    return false;
  }

  async function answered({ id }: TestQuestion, given: GivenAnswer): Promise<void> {
    const answer = await world.decisions.answer(id as never, { resolution: resolutionGiven(given) }, PERSON);
    if (!answer.ok) throw new Error(`${answer.error.message} ${answer.error.suggestion}`);
  }

  /** What goes on in the plan's code or in scripts, by name: it ends by itself. */
  function working(): readonly string[] {
    if (world.end !== undefined) return [];
    const tasks = [...world.lives.values()].flatMap(live => runningTasks(live.tree()));
    return [
      ...tasks.map(id => `task "${id}" is running`),
      ...(agents.working > 0 ? ['the script of an agent is running'] : []),
      ...(world.frames > 0 ? ['a frame is being made'] : []),
    ];
  }

  /** Waits for the next change; what hangs is an error that names it. */
  async function change(what: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(stuck(what))), patienceMs);
    });
    try {
      await Promise.race([nextChange(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  function stuck(what: string): string {
    const open = view.questions.map(({ node, prompt }) => `"${node}" asks: ${prompt}`);
    const held = agents.held.map(({ node }) => `agent "${node}" has no script: use finish() or fail()`);
    const { next } = world.timers;
    const reasons = [...working(), ...held, ...open, ...(next === undefined ? [] : [`a timer goes off in ${next} ms`])];
    return `${what}: the run is ${view.status}${reasons.length === 0 ? ', and nothing goes on' : ''}.${reasons.map(one => `\n  ${one}`).join('')}\n${outlineOf(view.tree)}`;
  }

  async function settled(): Promise<void> {
    for (;;) {
      await breathe();
      if (working().length === 0) return;
      await change('It does not settle');
    }
  }

  async function until(reached: (view: TestView<Plan>) => boolean): Promise<void> {
    for (;;) {
      await look();
      if (reached(view)) return;
      const before = changes();
      await answerByScript();
      if (changes() === before) await change('It does not get there');
    }
  }

  function ended(): TestEnd | undefined {
    const { end } = world;
    if (end?.status === 'lost') throw new Error(`The run was lost: ${end.error.message}`);
    return end;
  }

  async function end(): Promise<TestEnd> {
    for (let step = 0; step < MOST_STEPS; step++) {
      await settled();
      const over = ended();
      if (over !== undefined) return over;
      const { next } = world.timers;
      if (next === undefined) throw new Error(stuck('It does not end'));
      world.timers.advance(next);
    }
    throw new Error(stuck('It does not end'));
  }

  async function advance(time: Duration): Promise<void> {
    let left = durationMs(time);
    for (;;) {
      await breathe();
      const { next } = world.timers;
      if (next === undefined || next > left) break;
      world.timers.advance(next);
      left -= next;
    }
    world.timers.advance(left);
    await breathe();
  }

  function heldAgent(node: string) {
    const found = agents.held.find(agent => agent.node === node);
    if (found !== undefined) return found;
    const known = agents.held.map(agent => agent.node).join(', ') || 'none';
    throw new Error(`No agent "${node}" waits for the test; waiting: ${known}.\n${outlineOf(view.tree)}`);
  }

  async function act(action: Parameters<TestWorld['decisions']['act']>[1]): Promise<void> {
    const done = await world.decisions.act(run, action, PERSON);
    if (!done.ok) throw new Error(`${done.error.message} ${done.error.suggestion}`);
    await breathe();
  }

  await breathe();
  const close = async () => {
    world.close();
    await ports.closed();
  };
  return {
    get frame() {
      return view.frame;
    },
    get status() {
      return view.status;
    },
    get state() {
      return view.state;
    },
    get tree() {
      return view.tree;
    },
    get questions() {
      return view.questions;
    },
    node: id => view.node(id),
    get calls() {
      return tools.calls;
    },
    get turns() {
      return agents.turns;
    },
    outline: () => outlineOf(view.tree),
    get now() {
      return new Date(world.now());
    },
    events: async () => (await runs.events(run, 0, 1_000_000)).map(({ event }) => event.type),
    at: frame => viewAt<Plan>(world, frame),
    settled,
    until,
    async nextFrame() {
      const { frame } = view;
      await until(now => now.frame > frame);
    },
    end,
    advance,
    async answer(node, given) {
      const open = await openQuestions(world);
      const question = open.find(one => one.node === node || one.id === node);
      if (question === undefined) {
        const known = open.map(one => `"${one.node}"`).join(', ') || 'nothing';
        throw new Error(`"${node}" asks nothing; asked: ${known}.\n${outlineOf(view.tree)}`);
      }
      asked.add(question.id);
      await answered(question, given);
      await breathe();
    },
    async finish(node, output) {
      heldAgent(node).finish(output);
      await breathe();
    },
    async fail(node, error) {
      heldAgent(node).fail(typeof error === 'string' ? new Error(error) : error);
      await breathe();
    },
    signal: (name, payload = null) => act({ kind: 'signal', name, payload }),
    retry: node => act({ kind: 'retry', node }),
    cancel: node => act({ kind: 'cancel', node }),
    pause: () => act({ kind: 'pause' }),
    stop: (reason = 'The test stopped it.') => act({ kind: 'stop', reason }),
    async resume() {
      await world.resume();
      await breathe();
    },
    async crashAndResume(plan) {
      if (plan !== undefined) ports.changePlan(plan);
      world.crash();
      await breathe();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The input that a plan takes, or an error with everything that is wrong with it. */
export function checkInput(plan: AnyPlan, input: unknown): void {
  const accepted = plan.input.safeParse(input);
  if (!accepted.success) throw new Error(inputRefused(plan.name, accepted.error.issues).message);
}

async function viewAt<Plan extends AnyPlan>(world: TestWorld, at: number | undefined): Promise<TestView<Plan>> {
  const { run, runs } = world;
  const record = await runs.run(run);
  const frame = at ?? record?.frames ?? 0;
  const open = at === undefined ? await runs.decisions({ run, status: ['open'] }) : [];
  const tree = await treeAt(runs, run, frame, open);
  const shown = tree === undefined ? EMPTY : testNode(tree);
  return {
    frame,
    status: record?.status ?? 'queued',
    state: Object.fromEntries(await runs.at(run, 'state', frame)) as TestState<Plan>,
    tree: shown,
    questions: at === undefined ? await openQuestions(world) : [],
    node(id) {
      const found = findNode(shown, id);
      if (found !== undefined) return found;
      const why = record?.error === undefined ? '' : `\n${record.error.message}`;
      throw new Error(`There is no node "${id}" in frame ${frame}:\n${outlineOf(shown)}${why}`);
    },
  };
}

const EMPTY: TestNode = { id: 'plan', kind: 'plan', status: undefined, reason: undefined, data: {}, children: [] };

function testNode({ id, kind, status, reason, data, children }: ShownTree): TestNode {
  return { id, kind, status, reason, data, children: children.map(testNode) };
}

function findNode(node: TestNode, id: string): TestNode | undefined {
  if (node.id === id) return node;
  for (const child of node.children) {
    const found = findNode(child, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

function outlineOf(node: TestNode, depth = 0): string {
  const { kind, id, data, status } = node;
  // Nodes without an id of their own have one that is made of their place.
  const name = /^[0-9a-f]{16}$/.test(id) ? (kind === 'plan' ? undefined : data.name) : id;
  const own = `${'  '.repeat(depth)}${kind}${name === undefined ? '' : ` ${name}`}${status === undefined ? '' : `: ${status}`}`;
  return [own, ...node.children.map(child => outlineOf(child, depth + 1))].join('\n');
}

function runningTasks(node: TreeNode | undefined): readonly string[] {
  if (node === undefined) return [];
  const own = node.kind === 'task' && node.status === 'running' ? [node.id] : [];
  return [...own, ...node.children.flatMap(runningTasks)];
}

/** Of the run and of its sub-plans. */
async function openQuestions({ runs, run }: TestWorld): Promise<readonly TestQuestion[]> {
  const below = async (parent: RunId): Promise<readonly RunId[]> => {
    const children = await runs.children(parent);
    return [parent, ...(await Promise.all(children.map(({ id }) => below(id)))).flat()];
  };
  const open = await Promise.all((await below(run)).map(async one => runs.decisions({ run: one, status: ['open'] })));
  return open.flat().map(questionOf);
}

function questionOf({ decision }: DecisionOfRun): TestQuestion {
  const { id, node, kind, proposal } = decision;
  const { prompt, options = [] } = proposal as {
    readonly prompt?: string;
    readonly options?: readonly { readonly id: string }[];
  };
  return { id, node, kind, prompt: prompt ?? '', options: options.map(option => option.id), proposal };
}
