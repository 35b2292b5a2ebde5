import { planVersionOf } from '@signalbox/runs';
import { createArtifactBook } from '../artifacts/artifact-book.ts';
import type { EffectCall } from '../effects/effect-registry.ts';
import type { PlanNode } from '../nodes/plan-node.ts';
import type { TreeNode } from '../nodes/tree-json.ts';
import { asPlanError, type ErrorContext, PlanError } from '../plan-error.ts';
import { createRenderer } from '../render/renderer.ts';
import { createReadable } from '../render/tracked.ts';
import { createActionQueue } from '../state/action-queue.ts';
import { frozen } from '../state/frozen.ts';
import { iterationOf } from '../structure/node-record.ts';
import { type Activity, createStructure } from '../structure/structure.ts';
import { createFileBook } from '../workspaces/file-book.ts';
import { taskTools } from '../workspaces/task-tools.ts';
import type { Command, CommandAnswer, CommandBox } from './command.ts';
import { createEffectRound } from './effect-round.ts';
import { DEFAULT_IDLE_MS, type DrivenRun, type PlanRunOptions, type RunEnd } from './engine-options.ts';
import { createPhaseGuard, type FramePhase } from './frame-phase.ts';
import { frameRandom } from './frame-random.ts';
import { putStatusRows } from './frame-rows.ts';
import type { TriggerKind } from './frame-scheduler.ts';
import { createFrameTrace } from './frame-trace.ts';
import { triggerOf } from './frame-trigger.ts';
import { createIntake } from './intake.ts';
import { createOperator } from './operator.ts';
import { createPlanContext } from './plan-context.ts';
import { createPlanQueries } from './plan-queries.ts';
import { createReadBook, LOOP } from './read-book.ts';
import { putRestRows } from './rest.ts';
import { createRunCommit, newSourceOf } from './run-commit.ts';
import { createRunInputs } from './run-inputs.ts';
import { isUntouched, type RunMemory } from './run-memory.ts';
import { failedWith, heldOutcome, outcomeOf } from './run-outcome.ts';
import { type Settled, settle } from './settle.ts';
import { createSignalRound } from './signal-round.ts';
import { createStartPermit } from './start-permit.ts';
import { flushState } from './state-flush.ts';
import { createStormGuard } from './storm-guard.ts';
import { createSubPlans } from './sub-plans.ts';
import { createTaskDesk, type TaskNews } from './task-desk.ts';
import { createTreeKeeper } from './tree-keeper.ts';

/**
 * Makes the frames of one run.
 *
 * 1. Work begins only after the frame that starts it is committed.
 * 2. The end of a task, the fact that its handlers ran and what they wrote are in one commit: the one of the next frame.
 *    So a step takes one commit, and after a crash a task either ended with its handlers or did not end.
 * 3. State changes in the flush and nowhere else.
 * 4. Only commits, reads of input, permission to start and the end of child runs are awaited.
 */
export interface Engine {
  /** Takes in what came since the last step and makes a frame of it. Returns the end, if this is it. */
  step(triggers: readonly TriggerKind[]): Promise<RunEnd | undefined>;
  tree(): TreeNode | undefined;
  /** Lets go of everything; resolves when the child runs have ended. */
  close(): Promise<void>;
}

/** How the engine is connected to what drives it. */
export interface EngineLinks {
  request(trigger: TriggerKind): void;
  readonly commands: CommandBox;
  readonly depth: number;
  startChild(options: PlanRunOptions, depth: number): DrivenRun;
}

export function createEngine(options: PlanRunOptions, memory: RunMemory, links: EngineLinks): Engine {
  const { plan, run, clock, timers } = options;
  const { request, commands } = links;
  const { ledger, records } = memory;
  const seed = memory.record?.seed ?? options.create?.seed ?? 0;
  const input = plan.input.safeParse(memory.record?.input ?? memory.clean(options.create?.input ?? null));
  const moment = (): ErrorContext => ({ run, frame: memory.nextFrame, lastChanges: memory.lastChanges });
  const later = (command: Command, trigger: TriggerKind) => {
    void commands.ask(command);
    request(trigger);
  };

  const guard = createPhaseGuard();
  const trace = createFrameTrace(run, clock, options.trace);
  const enter = (phase: FramePhase, frame = Math.max(0, memory.nextFrame - 1)) => {
    guard.enter(phase);
    trace.enter(phase, frame);
  };
  const storm = createStormGuard(options.storm);
  const inbox: TaskNews[] = [];
  const queue = createActionQueue(
    () => Math.max(0, memory.nextFrame - 1),
    () => request('late_write'),
  );
  const loops = [...records].filter(([, record]) => record.loop !== undefined);
  const frameNow = () => Math.max(0, memory.nextFrame - 1);
  const files = createFileBook({
    files: options.files,
    queue,
    ledger,
    frame: frameNow,
    moment,
    onChange: () => later({ kind: 'files' }, 'file_changed'),
    onWritten: () => request('late_write'),
  });
  const artifacts = createArtifactBook({
    run,
    queue,
    ledger,
    known: memory.artifacts,
    frame: frameNow,
    readFile: files.bytes,
    moment,
    secrets: options.secrets,
  });
  const iterations = createReadable(LOOP, new Map(loops.map(([id, record]) => [id, iterationOf(record)])));
  const structure = createStructure({
    recordOf: id => (records.get(id)?.gone === true ? undefined : records.get(id)),
    ...(options.environment === undefined ? {} : { environment: options.environment }),
  });
  const subPlans = createSubPlans(options, memory, links.depth, links.startChild, () =>
    later({ kind: 'idle' }, 'stop_requested'),
  );
  const desk = createTaskDesk(
    options,
    memory,
    structure,
    subPlans,
    news => {
      inbox.push(news);
      request(news.kind === 'progress' ? 'task_progressed' : 'task_finished');
    },
    node => later({ kind: 'due', node }, 'timer'),
    started => taskTools(options, files, started),
  );
  const operator = createOperator({
    options,
    memory,
    structure,
    desk,
    onPause: (by, now) => subPlans.pause(by, now),
    onPauseOver: () => later({ kind: 'suspend' }, 'stop_requested'),
    onGraceOver: () => later({ kind: 'grace-over' }, 'stop_requested'),
    onTimeOver: () => later({ kind: 'time-over' }, 'stop_requested'),
  });
  const permit = createStartPermit(options, operator, subPlans);
  const intake = createIntake(memory, structure, desk, queue, operator.takeWoken);
  const effects = createEffectRound(memory, queue, options.strictEffects === true, moment, options.recorded?.effect);
  const queries = createPlanQueries(options.query, moment);
  const inputs = createRunInputs(options, memory);
  const book = createRunCommit(
    options,
    memory,
    inputs,
    (writes, isEndDue) => {
      queries.committed(writes);
      // Whoever asked for something is told when it is known what became of the run.
      if (!isEndDue) commands.committed();
    },
    () => [...files.takeBlobs(), ...artifacts.takeBlobs()],
  );
  const { commit } = book;

  let frameTime = clock.now();
  let random = frameRandom(seed, memory.nextFrame);
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
    now: () => ledger.stamp(frameTime),
    random: () => random(),
    moment,
  });
  const signals = createSignalRound(plan, memory, queue, context);
  const renderer = createRenderer({
    plan,
    context: context as never,
    iterationOf: loop => (iterations.read(loop) as number | undefined) ?? 0,
    clean: memory.clean,
  });
  const keeper = createTreeKeeper(memory, structure);
  const reads = createReadBook(memory, renderer, options.keepVolatile === true ? queries.answerOf : undefined, {
    recordOf: files.recordOf,
    reading: files.reading,
    areKept: options.blobs !== undefined,
  });
  options.recorded?.attach(queue.push);
  let isQuiet = false;
  let isSuspended = false;
  let isTimeOver = false;
  let cancelIdle: (() => void) | undefined;

  const planVersion = laterVersionOf(memory.record, options.source);
  if (memory.record !== undefined && !isUntouched(memory.record, options.owner)) {
    const frame = memory.nextFrame === 0 ? {} : { frame: memory.nextFrame - 1 };
    ledger.event('run.resumed', { ...frame, changed: options.changed ?? [], ...planVersion });
    desk.recover();
    operator.takeUp();
  }

  async function step(triggers: readonly TriggerKind[]): Promise<RunEnd | undefined> {
    if (!input.success) {
      const [issue] = input.error.issues;
      const what = `${issue?.path.join('.')}: ${issue?.message}`;
      return finish(failedWith(new PlanError('plan/input-invalid', what, { context: { run } })));
    }
    cancelIdle?.();
    const obeyed = commands.take(obey).filter(({ kind }) => kind !== 'idle' && kind !== 'input').length;
    if (isSuspended) return finish({ status: 'paused' });
    if (operator.isOver) return terminate();
    if (isTimeOver) await hold();
    const isBegun = keeper.tree !== undefined;
    // Handlers belong to a frame: where there was none in this process, its first one comes before them.
    const received = inputs.isDue && isBegun ? signals.known(await inputs.read()) : [];
    const { ended, changed } = takeNews(received);
    const inputCount = obeyed + received.length;
    if (inputCount > 0) effects.forgetHistory();
    const isNothingNew = inputCount === 0 && ended === 0 && !changed;
    if (isQuiet && isNothingNew) {
      isQuiet = false;
      const end = outcome(structure.activity(), 0);
      if (end !== undefined) return finish(end);
    }
    if (isNothingNew && isBegun && triggers.every(isIdle)) {
      waitForQuiet(structure.activity());
      if (!ledger.isEmpty) return commit(undefined, undefined);
      commands.committed();
      return undefined;
    }
    const over = options.onFrame?.();
    const end = await frame(received.length === 0 ? triggers : [...triggers, 'signal'], ended > 0 || inputCount > 0);
    over?.();
    return end;
  }

  /** Signals, ends of tasks, progress and late writes: another round of effects and flush of the last frame. */
  function takeNews(received: Parameters<typeof signals.take>[0]): {
    readonly ended: number;
    readonly changed: boolean;
  } {
    const news = inbox.splice(0);
    const isNothing = news.length === 0 && received.length === 0 && queue.size === 0;
    if (isNothing && !files.hasNews) return { ended: 0, changed: false };
    enter('effects');
    signals.take(received);
    const ended = intake.take(news);
    if (news.length > 0) effects.forgetHistory();
    return { ended, changed: flushNow() };
  }

  function flushNow(): boolean {
    enter('flush');
    files.settle();
    const { changed, failed } = flushState(plan, queue, memory, {
      keepArtifact: artifacts.keep,
      writeFile: files.write,
    });
    intake.settleHandlers(failed);
    signals.settle(failed);
    return changed;
  }

  async function frame(triggers: readonly TriggerKind[], isProductive: boolean): Promise<RunEnd | undefined> {
    isQuiet = false;
    const index = memory.nextFrame;
    enter('snapshot', index);
    frameTime = clock.now();
    random = frameRandom(seed, index);
    trace.note(() => ({ triggers }));
    files.refresh();

    enter('render', index);
    let settled: Settled;
    try {
      options.recorded?.beforeRender();
      settled = settle(renderer, structure, records, iterations, keeper.tree, shown => effects.calls(shown, renderer));
    } catch (error) {
      return finish(failedWith(asPlanError(error, 'plan/render-failed', moment())));
    }
    const { activity, calls } = settled;
    trace.note(() => ({ reads: [...renderer.reads], nodes: countNodes(settled.tree) }));

    enter('reconcile', index);
    const { mounted, unmounted, added } = keeper.take(settled.tree, cancelTaskOf);
    effects.nodesChanged(added, unmounted);
    trace.note(() => ({ mounted, unmounted }));
    if (activity.ending !== undefined) reach(activity.ending);
    const permitted = activity.ending === undefined ? permit.of(activity.ready) : [];
    const starting = permitted instanceof Promise ? await permitted : permitted;
    for (const node of starting) {
      desk.open(node, permit.isLimited);
      structure.touch(node.id);
    }
    putStatusRows(memory, structure, index, node => {
      cancelTaskOf(node);
      effects.nodesChanged([], [node]);
    });
    book.setPhase(keeper.isVerifying ? 'VERIFY' : 'EXECUTE');
    reads.put();

    const digest = memory.digest.value;
    const productive = isProductive || index === 0 || triggers.includes('resume');
    if (productive) effects.forgetHistory();
    const evidence = storm.check({ productive, signature: digest, at: frameTime });
    const end = evidence === undefined ? earlyEnd(settled, calls) : undefined;

    enter('commit', index);
    const written = ledger.writtenState();
    trace.note(() => ({ written }));
    const lost = await commit(
      {
        index,
        at: ledger.stamp(frameTime),
        trigger: triggerOf(triggers, written),
        mounted,
        unmounted,
        written,
        digest,
        verifiable: !files.takeUnrecorded() && reads.isRecorded,
        ...planVersion,
      },
      end,
    );
    if (lost !== undefined || end !== undefined) {
      trace.end();
      return lost ?? end;
    }
    if (evidence !== undefined) {
      const loop = effects.loop();
      return finish(loop === undefined ? { status: 'stalled', evidence } : failedWith(loop));
    }

    enter('execute');
    desk.begin();
    trace.note(() => ({ started: starting.map(node => node.id) }));

    enter('effects');
    const failed = effects.run(calls);
    const changed = flushNow();
    trace.end();
    if (failed !== undefined) return finish(failedWith(failed));
    if (inputs.isDue) request('signal');
    if (changed || settled.goesOn) request('state_flush');
    else if (renderer.isStale) request('timer');
    else waitForQuiet(activity);
    return undefined;
  }

  function cancelTaskOf(node: string): void {
    const task = desk.taskOf(node);
    if (task !== undefined) desk.cancel(task.id);
  }

  function reach(ending: PlanNode): void {
    records.set(ending.id, { status: 'succeeded', iteration: structure.scopeOf(ending.id) });
    structure.touch(ending.id);
    const { reason } = ending.data as { readonly reason?: string };
    if (ending.kind === 'stop') operator.stop(reason ?? `the plan reached ${ending.id}`);
  }

  function obey(command: Command): CommandAnswer {
    switch (command.kind) {
      case 'idle':
        isQuiet = true;
        return 'done';
      case 'suspend':
        isSuspended = true;
        return 'done';
      case 'grace-over':
        operator.endGrace();
        return 'done';
      case 'time-over':
        isTimeOver = operator.endTime();
        return 'done';
      case 'input':
        inputs.expect();
        return 'done';
      case 'files':
        return files.refresh() ? 'done' : 'no_effect';
      case 'invalidate':
        queries.invalidate(command.tables);
        return 'done';
      default:
        return operator.obey(command);
    }
  }

  /** Ends the run with what is left to commit, and rests its work and its children. */
  async function finish(end: Ended): Promise<RunEnd> {
    await subPlans.end('suspend', 'the run above it ended');
    desk.release();
    putRestRows(memory, structure, end.status);
    trace.end();
    return book.finish(end);
  }

  /** Lets go of all work until a person gives the run more time. What would start now asks for it, too. */
  async function hold(): Promise<void> {
    isTimeOver = false;
    await options.executor.timeOver?.(run);
    await subPlans.suspend();
    for (const task of memory.tasks.values()) {
      if (task.status !== 'running' || structure.nodeOf(task.node)?.kind === 'subplan') continue;
      desk.letGo(task.id);
      inbox.push({ kind: 'ended', task: task.id, outcome: heldOutcome(task), value: undefined });
    }
  }

  /** Ends the run without waiting for its work. */
  async function terminate(): Promise<RunEnd> {
    const reason = operator.stopping?.reason ?? 'the run was ended';
    await subPlans.end('terminate', reason);
    desk.terminate();
    // Children that waited have no engine; they are being stopped now.
    await subPlans.end('terminate', reason);
    putRestRows(memory, structure, 'stopped');
    return book.finish({ status: 'stopped', reason });
  }

  /** The end of the run, where the frame itself shows it and no effect can still say otherwise. */
  function earlyEnd({ activity, goesOn }: Settled, calls: readonly EffectCall[]): RunEnd | undefined {
    if (goesOn || queue.size > 0 || effects.any || effects.isDue(calls)) return undefined;
    // A query sees what this frame commits only in the next one.
    if (reads.waitsForTables) return undefined;
    // A frame shows what it was rendered with: statuses of a run at rest come after it.
    if (memory.running.size > 0) return undefined;
    const end = outcome(activity, activity.ready.length);
    return end !== undefined && book.canEnd(end) ? end : undefined;
  }

  function outcome(activity: Activity, ready: number): Ended | undefined {
    return inbox.length > 0 || inputs.isDue ? undefined : outcomeOf(activity, ready, memory, structure, desk, operator);
  }

  /** A plan with effects may still be told something: it ends when it has been quiet for a while. */
  function waitForQuiet(activity: Activity): void {
    if (outcome(activity, 0) === undefined) return;
    const wait = effects.any && operator.stopping === undefined ? (options.idleMs ?? DEFAULT_IDLE_MS) : 0;
    cancelIdle = timers.after(wait, () => later({ kind: 'idle' }, 'stop_requested'));
  }

  return {
    step,
    tree: keeper.shown,
    async close() {
      cancelIdle?.();
      operator.close();
      const ending = subPlans.end('abandon', 'the run above it was let go');
      desk.abandon();
      effects.close();
      files.close();
      renderer.close();
      await ending;
    },
  };
}

type Ended = Exclude<RunEnd, { readonly status: 'lost' }>;

/** The version of its plan that a run goes on with, if that is not the first. */
function laterVersionOf(
  record: RunMemory['record'],
  source: PlanRunOptions['source'],
): { readonly planVersion?: number } {
  if (record === undefined) return {};
  const isNew = record.source !== undefined && newSourceOf(record, source) !== undefined;
  const planVersion = planVersionOf(record) + (isNew ? 1 : 0);
  return planVersion === 1 ? {} : { planVersion };
}

/** What a plan gets as input; plain data cannot be changed. */
function deepFrozen(value: unknown): unknown {
  const plain = frozen(value);
  return plain.ok ? plain.value : value;
}

/** Where nothing came with them, these make no frame. */
function isIdle(trigger: TriggerKind): boolean {
  return !['start', 'resume', 'state_flush', 'task_finished', 'timer'].includes(trigger);
}

function countNodes(node: PlanNode): number {
  return node.children.reduce((count, child) => count + countNodes(child), 1);
}
