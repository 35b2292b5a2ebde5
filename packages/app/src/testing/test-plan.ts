import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GivenAnswer, Json } from '@signalbox/model';
import { type AnyPlan, loadPlan, type PlanInput } from '@signalbox/plan';
import { hostPlanFiles } from '../workspaces/host-plan-files.ts';
import { type AgentScript, scriptedAgents } from './agent-scripts.ts';
import { scriptedTools, type ToolScript } from './scripted-tools.ts';
import { checkInput, createTestRun, type TestQuestion, type TestRun } from './test-run.ts';
import { openTestWorld } from './test-world.ts';

/** What a person says to a question; a function that returns nothing leaves it open. */
export type PersonScript = GivenAnswer | ((question: TestQuestion) => GivenAnswer | undefined);

export interface TestPlanOptions<Plan extends AnyPlan> {
  readonly input?: PlanInput<Plan>;
  /** What agents do, by the id of their node, by its beginning and `*`, or for all of them by `*`. Without a script the test ends their work. */
  readonly agents?: Readonly<Record<string, AgentScript>>;
  /** What tools answer to scripted agents, by name. A tool of the plan without a script runs its own code on the directory of the run. */
  readonly tools?: Readonly<Record<string, ToolScript>>;
  /** What people answer, by the id of the node that asks, or `*`. Without a script the question waits. */
  readonly people?: Readonly<Record<string, PersonScript>>;
  /** Files of a temporary directory in which the run works, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** The directory in which the run works, instead of `files`. */
  readonly directory?: string | URL;
  /** Limits of the run. */
  readonly limits?: {
    readonly maxCostUsd?: number;
    readonly maxTokens?: number;
    readonly maxMinutes?: number;
  };
  /** The time at which it starts; 2026-01-01 by default. */
  readonly startAt?: Date;
  /** For everything random: the same seed makes the same ids. */
  readonly seed?: number;
  /** How long a wait may hang, in real milliseconds, before it fails and says why. */
  readonly patienceMs?: number;
}

const START = Date.UTC(2026, 0, 1);
const PATIENCE_MS = 10_000;

/**
 * Runs a plan in memory on the real engine, with agents and people of the test and a clock that stands still. The plan is what a
 * module exports, or the file of one, which then needs no transformation by the test runner.
 */
export async function testPlan<Plan extends AnyPlan>(
  given: Plan | string | URL,
  options: TestPlanOptions<Plan> = {},
): Promise<TestRun<Plan>> {
  let plan: AnyPlan = typeof given === 'string' || given instanceof URL ? await loaded(given) : given;
  // Without a declared input a plan is started with nothing, as by the program.
  const input = (options.input ?? {}) as Json;
  checkInput(plan, input);
  let changes = 0;
  let ring = Promise.withResolvers<void>();
  const changed = () => {
    changes += 1;
    ring.resolve();
    ring = Promise.withResolvers<void>();
  };
  const place = placeOf(options);
  const tools = scriptedTools(options.tools ?? {});
  const agents = scriptedAgents(options.agents ?? {}, tools, changed);
  const people = options.people ?? {};
  const world = openTestWorld({
    plan,
    name: plan.name,
    input,
    limits: limitsOf(options.limits),
    seed: options.seed ?? 1,
    startAt: options.startAt?.getTime() ?? START,
    directory: place.directory,
    files: place.isReal ? hostPlanFiles({ root: place.directory, refused: [], now: () => world.now() }) : undefined,
    agents,
    tools,
    changed,
    current: () => plan,
  });
  return createTestRun<Plan>({
    world,
    agents,
    tools,
    patienceMs: options.patienceMs ?? PATIENCE_MS,
    nextChange: () => ring.promise,
    changes: () => changes,
    answerTo(question) {
      const script = people[question.node] ?? people['*'];
      return typeof script === 'function' ? script(question) : script;
    },
    changePlan(next) {
      plan = next;
    },
    closed: async () => place.remove(),
  });
}

async function loaded(file: string | URL): Promise<AnyPlan> {
  const named = file instanceof URL || file.startsWith('file:') ? fileURLToPath(file) : path.resolve(file);
  const known = plans.get(named);
  if (known?.isCurrent()) return known.plan;
  const found = await loadPlan(named);
  if (!found.ok) throw new Error(`${found.error.message} ${found.error.suggestion}`);
  const { plan, closure } = found.value;
  const files = closure.files.map(one => path.resolve(closure.root, one.path));
  const marks = () => files.map(one => statSync(one, { throwIfNoEntry: false })?.mtimeMs).join();
  const loadedAs = marks();
  plans.set(named, { plan, isCurrent: () => marks() === loadedAs });
  return plan;
}

/** Plans by file, as a test runner keeps modules: loading one takes longer than running it. */
const plans = new Map<string, { readonly plan: AnyPlan; isCurrent(): boolean }>();

function placeOf({ files, directory }: Pick<TestPlanOptions<AnyPlan>, 'files' | 'directory'>) {
  if (directory !== undefined) {
    const named = directory instanceof URL ? fileURLToPath(directory) : path.resolve(directory);
    return { directory: named, isReal: true, remove() {} };
  }
  if (files === undefined) return { directory: process.cwd(), isReal: false, remove() {} };
  const folder = mkdtempSync(path.join(tmpdir(), 'signalbox-test-'));
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return { directory: folder, isReal: true, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function limitsOf({ maxCostUsd, maxTokens, maxMinutes }: NonNullable<TestPlanOptions<AnyPlan>['limits']> = {}) {
  return {
    ...(maxCostUsd !== undefined && { maxCostMicroUsd: Math.round(maxCostUsd * 1_000_000) }),
    ...(maxTokens !== undefined && { maxTotalTokens: maxTokens }),
    ...(maxMinutes !== undefined && { maxWallClockMs: Math.round(maxMinutes * 60_000) }),
  };
}
