import { issuesText } from '@signalbox/model';
import { type ArtifactBook, createArtifactBook } from '../artifacts/artifact-book.ts';
import type { TreeNode } from '../nodes/tree-json.ts';
import { type ErrorContext, PlanError } from '../plan-error.ts';
import { type ActionQueue, createActionQueue } from '../state/action-queue.ts';
import { frozen } from '../state/frozen.ts';
import type { NodeRecord } from '../structure/node-record.ts';
import { createStructure, type Structure } from '../structure/structure.ts';
import { createFileBook, type FileBook } from '../workspaces/file-book.ts';
import type { Command, CommandBox } from './command.ts';
import { type CommitsAhead, createCommitsAhead } from './commits-ahead.ts';
import { createEffectRound, type EffectRound } from './effects-and-flush.ts';
import type { DrivenRun, PlanRunOptions, RunEnd } from './engine-options.ts';
import { createFrames } from './frame.ts';
import { createFramePhases, type FramePhases } from './frame-phase.ts';
import type { TriggerKind } from './frame-scheduler.ts';
import { createIntake, type Intake } from './intake.ts';
import { createOperator, type Operator } from './operator.ts';
import { createPlanContext, frameRandom } from './plan-context.ts';
import { createPlanQueries, type PlanQueries } from './plan-queries.ts';
import { createPlanView, type PlanView } from './plan-view.ts';
import { createRunCommit, isUntouched, type RunCommit } from './run-commit.ts';
import { createEnding, type Ending, failedWith } from './run-end.ts';
import { lastFrame, type RunMemory } from './run-memory.ts';
import { createSignals, type Signals } from './signals.ts';
import { createStartPermit, type StartPermit } from './start-permit.ts';
import { createSubPlans, type SubPlans } from './sub-plans.ts';
import { createTaskDesk, type TaskDesk } from './task-desk.ts';

/** Makes the frames of one run; see `frame.ts`. This file creates and connects its parts. */
export interface Engine {
  /** Takes in everything since the last step and makes a frame of it. Returns the end, if the run ended. */
  step(triggers: readonly TriggerKind[]): Promise<RunEnd | undefined>;
  tree(): TreeNode | undefined;
  /** Releases everything; resolves when the child runs have ended. */
  close(): Promise<void>;
}

/** The engine's connections to its driver. */
export interface EngineLinks {
  /** Requests a step. */
  request(trigger: TriggerKind): void;
  readonly commands: CommandBox;
  readonly depth: number;
  startChild(options: PlanRunOptions, depth: number): DrivenRun;
}

/** Shared by all parts. */
export interface EngineBase extends EngineLinks {
  readonly options: PlanRunOptions;
  readonly memory: RunMemory;
  /** Decides which nodes may run. */
  readonly structure: Structure;
  /** Writes of the plan's code that are not flushed yet. */
  readonly queue: ActionQueue;
  /** Replaces the record of a node. */
  remember(node: string, record: NodeRecord): void;
  /** Sends a command to the run itself, and requests a step. */
  later(command: Command, trigger: TriggerKind): void;
  /** The context of an error. */
  moment(): ErrorContext;
}

export interface EngineParts {
  readonly base: EngineBase;
  readonly phases: FramePhases;
  readonly time: FrameTime;
  readonly view: PlanView;
  readonly code: PlanCode;
  readonly work: RunWork;
  readonly ahead: CommitsAhead;
  readonly book: RunCommit;
  readonly ending: Ending;
}

/** Values that do not change during a frame. */
interface FrameTime {
  readonly seed: number;
  at: number;
  random: () => number;
}

/** The plan's own code besides renders: its callers, its reads, and where its writes go. */
export interface PlanCode {
  readonly signals: Signals;
  readonly intake: Intake;
  readonly effects: EffectRound;
  readonly queries: PlanQueries;
  readonly files: FileBook;
  readonly artifacts: ArtifactBook;
}

/** The work of nodes, and outside decisions about it. */
interface RunWork {
  readonly desk: TaskDesk;
  readonly subPlans: SubPlans;
  readonly operator: Operator;
  readonly permit: StartPermit;
}

export function createEngine(options: PlanRunOptions, memory: RunMemory, links: EngineLinks): Engine {
  const { plan, run, clock } = options;
  const base = baseOf(options, memory, links);
  const { queue, moment, later } = base;
  const { ledger } = memory;
  const ahead = createCommitsAhead(base);
  const input = plan.input.safeParse(memory.record?.input ?? memory.clean(options.create?.input ?? null));
  const seed = memory.record?.seed ?? options.create?.seed ?? 0;
  const time: FrameTime = { seed, at: clock.now(), random: frameRandom(seed, memory.nextFrame) };

  const place = { queue, ledger, moment, frame: () => lastFrame(memory) };
  const files = createFileBook({
    ...place,
    files: options.files,
    onChange: () => later({ kind: 'files' }, 'file_changed'),
    onWritten: () => base.request('late_write'),
    catchUp: ahead.catchUp,
  });
  const { artifacts: known } = memory;
  const artifacts = createArtifactBook({ ...place, run, known, readFile: files.bytes, secrets: options.secrets });
  const queries = createPlanQueries(options.query, moment, ahead.catchUp);
  const context = createPlanContext({
    plan,
    input: deepFrozen(input.data),
    state: memory.state,
    volatile: memory.volatile,
    queue,
    db: queries.access,
    fs: files.access,
    workspace: options.workspace,
    artifact: artifacts.access,
    now: () => ledger.stamp(time.at),
    random: () => time.random(),
    moment,
  });

  const subPlans = createSubPlans(base);
  const desk = createTaskDesk(base, subPlans, files, ahead);
  const operator = createOperator(base, desk, subPlans);
  const work: RunWork = { desk, subPlans, operator, permit: createStartPermit(base, operator, subPlans) };

  const signals = createSignals(base, context);
  const intake = createIntake(base, desk, operator);
  const effects = createEffectRound(base);
  const code: PlanCode = { signals, intake, effects, queries, files, artifacts };

  const phases = createFramePhases(run, clock, options.trace);
  const view = createPlanView(base, context, code);
  const book = createRunCommit(base, code, ahead);
  const parts = { base, phases, time, view, code, work, ahead, book };
  const ending = createEnding(parts);
  const step = createFrames({ ...parts, ending });

  options.recorded?.attach(queue.push);
  if (memory.record !== undefined && !isUntouched(memory.record, options.owner)) {
    const last = memory.nextFrame === 0 ? {} : { frame: memory.nextFrame - 1 };
    ledger.event('run.resumed', { ...last, changed: options.changed ?? [], ...book.planVersion });
    desk.recover();
    operator.takeUp();
  }

  return {
    step(triggers) {
      if (input.success) return step(triggers);
      const what = issuesText(input.error.issues, 'the input');
      return ending.finish(failedWith(new PlanError('plan/input-invalid', what, { context: { run } }), memory.clean));
    },
    tree: view.shown,
    async close() {
      ending.cancelWait();
      operator.close();
      const childrenEnded = subPlans.end('abandon', 'the run above it was let go');
      desk.abandon();
      effects.close();
      files.close();
      view.renderer.close();
      await childrenEnded;
      await ahead.durable();
    },
  };
}

function baseOf(options: PlanRunOptions, memory: RunMemory, links: EngineLinks): EngineBase {
  const { records } = memory;
  const structure = createStructure({
    recordOf: id => (records.get(id)?.gone === true ? undefined : records.get(id)),
    ...(options.environment === undefined ? {} : { environment: options.environment }),
  });
  return {
    ...links,
    options,
    memory,
    structure,
    queue: createActionQueue(
      () => lastFrame(memory),
      () => links.request('late_write'),
    ),
    remember(node, record) {
      records.set(node, record);
      structure.touch(node);
    },
    later(command, trigger) {
      void links.commands.ask(command);
      links.request(trigger);
    },
    moment: () => ({ run: options.run, frame: memory.nextFrame, lastChanges: memory.lastChanges }),
  };
}

/** The plan's input, frozen: plain data cannot be changed. */
function deepFrozen(value: unknown): unknown {
  const plain = frozen(value);
  return plain.ok ? plain.value : value;
}
