import { nodeHasher } from '@signalbox/journal';
import {
  createIdSource,
  type ErrorEnvelope,
  err,
  failure,
  type Json,
  ok,
  type Result,
  type RunId,
  timestampOf,
} from '@signalbox/model';
import { type AnyPlan, type PlanFiles, type PlanRun, type RunEnd, runPlan, signalFault } from '@signalbox/plan';
import { type Commit, type MemoryRuns, memoryRuns, type OwnerId, ownerId, type StopConditions } from '@signalbox/runs';
import { type FakeTimers, fakeClock, fakeTimers, seededRng } from '@signalbox/testkit';
import { createAgentInbox } from '../agents/agent-inbox.ts';
import { createActivity } from '../agents/host-activity.ts';
import { createRateLimitDesk } from '../agents/rate-limit-desk.ts';
import { createDecisionDesk } from '../decisions/decision-desk.ts';
import { createAnswers } from '../host/answers.ts';
import { changeUndriven } from '../host/change-undriven.ts';
import { createTrust } from '../host/foreign-plan.ts';
import { createHostExecutor } from '../host/host-executor.ts';
import { createRaise } from '../host/raise-limits.ts';
import { createRunActs } from '../host/run-acts.ts';
import { createRunBudget } from '../host/run-budget.ts';
import type { RunHost } from '../host/run-host.ts';
import type { Machine } from '../machine.ts';
import { createReservations } from '../meter/reservations.ts';
import { obey } from '../threads/obey.ts';
import type { ScriptedAgents } from './agent-scripts.ts';
import type { ScriptedTools } from './scripted-tools.ts';

/**
 * The engine, its desk for decisions and its budget, as a host has them, on memory and in this thread.
 *
 * 1. A process is a `Life`: when it crashes, nothing that it does afterwards is stored, and its timers never go off.
 * 2. Time moves only when `timers` are advanced.
 */
export interface TestWorld {
  readonly run: RunId;
  readonly runs: MemoryRuns;
  now(): number;
  /** The timers of the current life. */
  readonly timers: FakeTimers;
  readonly decisions: Pick<RunHost, 'answer' | 'act'>;
  /** The end of the run in this life; undefined while it is driven. */
  readonly end: RunEnd | undefined;
  /** The runs that are driven now, sub-plans included. */
  readonly lives: ReadonlyMap<RunId, PlanRun>;
  /** How many frames are being made. */
  readonly frames: number;
  resume(): Promise<Result<RunId, ErrorEnvelope>>;
  crash(): void;
  close(): void;
}

export interface TestWorldOptions {
  readonly plan: AnyPlan;
  readonly name: string;
  readonly input: Json;
  readonly limits: StopConditions;
  readonly seed: number;
  readonly startAt: number;
  readonly directory: string;
  readonly files: PlanFiles | undefined;
  readonly agents: ScriptedAgents;
  readonly tools: ScriptedTools;
  /** Something changed. */
  readonly changed: () => void;
  /** The plan to go on with; asked for at each resume. */
  readonly current: () => AnyPlan;
}

interface Life {
  readonly owner: OwnerId;
  readonly timers: FakeTimers;
  readonly lives: Map<RunId, PlanRun>;
  isOver: boolean;
  frames: number;
  end?: RunEnd;
  finished?: Promise<RunEnd>;
}

export function openTestWorld(options: TestWorldOptions): TestWorld {
  const { seed, changed, agents, tools } = options;
  const clock = fakeClock(options.startAt);
  const rng = seededRng(seed);
  const ids = createIdSource(clock, rng);
  const runs = memoryRuns(nodeHasher);
  const run = ids.mint<RunId>();
  const unsubscribe = runs.subscribe('all', changed);
  function newLife(): Life {
    return {
      owner: ownerId.parse(ids.mint<RunId>()),
      timers: fakeTimers(clock),
      lives: new Map(),
      isOver: false,
      frames: 0,
    };
  }

  const machineOf = ({ timers }: Life): Machine => ({ clock, rng, timers, ids });

  /** What the process that ended would still commit is refused. */
  const commitOf = (own: Life): Commit => ({
    commit: async (writes, guard) => (own.isOver ? err(gone(guard.run)) : runs.commit(writes, guard)),
  });

  let life: Life = newLife();
  let desks = desksOf(life);

  function desksOf(own: Life) {
    const machine = machineOf(own);
    const commit = commitOf(own);
    const store = { ...runs, ...commit };
    const decisions = createDecisionDesk({ commit, reader: runs, machine });
    const budget = createRunBudget({ reader: runs, clock });
    const threads = {
      command: async (asked: RunId, command: Parameters<typeof obey>[1]) => {
        const live = own.lives.get(asked);
        return live && obey(live, command);
      },
      limit() {},
      signalFault: async (asked: RunId, { name, payload }: { readonly name: string; readonly payload: Json }) =>
        ok(own.lives.get(asked)?.signalFault(name, payload) ?? signalFault(options.current(), name, payload)),
    };
    const finished = (asked: RunId) => (asked === run && own.end === undefined ? own.finished : undefined);
    const raise = createRaise({ store, machine, threads, decisions, budget, finished });
    const base = { store, machine, threads, decisions, options: { resumeOnAnswer: true } };
    const act: RunHost['act'] = createRunActs({
      ...{ store, machine, threads, finished, resume },
      trust: createTrust(store, machine),
      interventions: { edit: async () => err(notHere()), reset: async () => err(notHere()) },
      change: changeUndriven(commit, runs, machine),
    });
    const { answer } = createAnswers(base, { raise, finished, stop: (...args) => act(...args), resume });
    const executor = createHostExecutor({
      ...{ commit, reader: runs, machine, decisions, budget },
      inbox: createAgentInbox({ commit, reader: runs, machine }),
      rateLimits: createRateLimitDesk(machine),
      reservations: createReservations(),
      activity: createActivity(),
      storage: { room: async () => false },
      agents: agents.runner,
      onVerdict() {},
    });
    return { answer, act, executor };
  }

  function drive(own: Life, start: Pick<Parameters<typeof runPlan>[0], 'create' | 'formerOwner' | 'claim'>): void {
    const { executor } = desks;
    const machine = machineOf(own);
    const live = runPlan({
      ...machine,
      ...start,
      plan: options.current(),
      run,
      owner: own.owner,
      commit: commitOf(own),
      reader: runs,
      blobs: runs,
      executor: {
        execute(request) {
          const { code } = request.node;
          tools.offer(request.task, 'tools' in code ? code.tools : undefined);
          return executor.execute(request, request.signal, request.progress);
        },
        allow: executor.allow,
        timeOver: executor.timeOver,
      },
      mayStart: asked => createRunBudget({ reader: runs, clock }).verdict(asked),
      onRun(child, childLive) {
        own.lives.set(child, childLive);
        const forget = () => void own.lives.delete(child);
        childLive.finished.then(forget, forget);
      },
      onFrame() {
        own.frames += 1;
        return () => {
          own.frames -= 1;
          changed();
        };
      },
      // Time stands still while a plan works: waiting for more news to show would wait for ever.
      minFrameIntervalMs: 0,
      keepVolatile: true,
      ...(options.files && { files: options.files }),
    });
    own.lives.set(run, live);
    delete own.end;
    own.finished = live.finished.then(end => {
      own.end = end;
      own.lives.delete(run);
      changed();
      return end;
    });
    own.finished.catch(() => undefined);
  }

  async function resume(): Promise<Result<RunId, ErrorEnvelope>> {
    if (life.lives.has(run)) return ok(run);
    drive(life, { claim: true });
    return ok(run);
  }

  drive(life, {
    create: {
      name: options.name,
      tags: [],
      mode: 'AUTO',
      globalMode: 'IMPLEMENTATION',
      input: options.input,
      limits: options.limits,
      seed,
      owner: life.owner,
      workingDirectory: options.directory,
    },
  });

  return {
    run,
    runs,
    now: clock.now,
    get timers() {
      return life.timers;
    },
    decisions: {
      answer: (...args) => desks.answer(...args),
      act: (...args) => desks.act(...args),
    },
    get end() {
      return life.end;
    },
    get lives() {
      return life.lives;
    },
    get frames() {
      return life.frames;
    },
    resume,
    crash() {
      const former = life;
      former.isOver = true;
      agents.drop();
      // It lets go of its work at the commit that is refused.
      for (const live of former.lives.values()) void live.pause('crash', { now: true });
      life = newLife();
      desks = desksOf(life);
      drive(life, { claim: true, formerOwner: { id: former.owner, seenAt: timestampOf(clock) } });
    },
    close() {
      life.isOver = true;
      unsubscribe();
      agents.drop();
      for (const live of life.lives.values()) void live.pause('close', { now: true });
    },
  };
}

function gone(run: RunId) {
  return failure('store/outcome-unknown', {
    message: `The process that drove run ${run} ended.`,
    suggestion: 'Nothing: the test ended it.',
    details: { run },
  });
}

function notHere() {
  return failure('command/usage', {
    message: 'The run rests.',
    suggestion: 'Edit the state of a run in a test while it is driven.',
  });
}
