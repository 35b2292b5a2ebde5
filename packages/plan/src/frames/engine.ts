import { timestampOf } from '@signalbox/model';
import type { FrameTrigger, NodeKey, TaskError } from '@signalbox/runs';
import type { EffectCall } from '../effects/effect-registry.ts';
import type { PlanNode } from '../nodes/plan-node.ts';
import { type TreeNode, treeToJson } from '../nodes/tree-json.ts';
import { asPlanError, type ErrorContext, PlanError, planFailure } from '../plan-error.ts';
import { reconcile } from '../render/reconcile.ts';
import { createRenderer } from '../render/renderer.ts';
import { createReadable } from '../render/tracked.ts';
import { createActionQueue } from '../state/action-queue.ts';
import { frozen } from '../state/frozen.ts';
import { iterationOf } from '../structure/node-record.ts';
import { type Activity, createStructure } from '../structure/structure.ts';
import { createEffectRound } from './effect-round.ts';
import { DEFAULT_IDLE_MS, type PlanRunOptions, type RunEnd } from './engine-options.ts';
import { createPhaseGuard } from './frame-phase.ts';
import { frameRandom } from './frame-random.ts';
import { putNodeRows, putReadRows, putStatusRows } from './frame-rows.ts';
import type { TriggerKind } from './frame-scheduler.ts';
import { createIntake } from './intake.ts';
import { type Command, createOperator } from './operator.ts';
import { createPlanContext } from './plan-context.ts';
import { createPlanQueries, QUERY, TABLE, tablesOf } from './plan-queries.ts';
import { createRunCommit } from './run-commit.ts';
import type { RunMemory } from './run-memory.ts';
import { type Settled, settle } from './settle.ts';
import { flushState } from './state-flush.ts';
import { createStormGuard } from './storm-guard.ts';
import { createTaskDesk, type TaskNews } from './task-desk.ts';

/**
 * Makes the frames of one run.
 *
 * 1. Work begins only after the frame that starts it is committed.
 * 2. The end of a task, the fact that its handlers ran and what they wrote are in one commit: the one of the next frame.
 *    So a step takes one commit, and after a crash a task either ended with its handlers or did not end.
 * 3. State changes in the flush and nowhere else.
 * 4. Only commits are awaited.
 */
export interface Engine {
  /** Takes in what came since the last step and makes a frame of it. Returns the end, if this is it. */
  step(triggers: readonly TriggerKind[]): Promise<RunEnd | undefined>;
  tree(): TreeNode | undefined;
  close(): void;
}

export function createEngine(
  options: PlanRunOptions,
  memory: RunMemory,
  request: (trigger: TriggerKind) => void,
  commands: Command[],
): Engine {
  const { plan, run, clock, timers } = options;
  const { ledger, records } = memory;
  const seed = memory.record?.seed ?? options.create?.seed ?? 0;
  const input = plan.input.safeParse(memory.record?.input ?? options.create?.input ?? null);
  const moment = (): ErrorContext => ({ run, frame: memory.nextFrame, lastChanges: memory.lastChanges });
  const later = (command: Command, trigger: TriggerKind) => {
    commands.push(command);
    request(trigger);
  };

  const guard = createPhaseGuard();
  const storm = createStormGuard(options.storm);
  const inbox: TaskNews[] = [];
  const queue = createActionQueue(
    () => Math.max(0, memory.nextFrame - 1),
    () => request('late_write'),
  );
  const loops = [...records].filter(([, record]) => record.loop !== undefined);
  const iterations = createReadable('loop:', new Map(loops.map(([id, record]) => [id, iterationOf(record)])));
  const structure = createStructure({
    recordOf: id => (records.get(id)?.gone === true ? undefined : records.get(id)),
    ...(options.environment === undefined ? {} : { environment: options.environment }),
  });
  const desk = createTaskDesk(
    options,
    memory,
    structure,
    news => {
      inbox.push(news);
      request(news.kind === 'ended' ? 'task_finished' : 'task_progressed');
    },
    node => later({ kind: 'due', node }, 'input'),
  );
  const operator = createOperator(options, memory, structure, desk, () =>
    later({ kind: 'grace-over' }, 'stop_requested'),
  );
  const intake = createIntake(memory, structure, desk, queue);
  const effects = createEffectRound(memory, queue, options.strictEffects === true, moment);
  const queries = createPlanQueries(options.query, moment);
  const book = createRunCommit(options, memory, writes => queries.invalidate(tablesOf(writes)));
  const { commit, finish } = book;

  let frameTime = clock.now();
  let random = frameRandom(seed, memory.nextFrame);
  const renderer = createRenderer({
    plan,
    context: createPlanContext({
      plan,
      input: deepFrozen(input.data),
      state: memory.state,
      volatile: memory.volatile,
      queue,
      db: queries.access,
      now: () => timestampOf({ now: () => frameTime }),
      random: () => random(),
      moment,
    }) as never,
    iterationOf: loop => (iterations.read(loop) as number | undefined) ?? 0,
  });
  let tree: PlanNode | undefined;
  /** Phases of the plan that are named so. */
  const verifying = new Set<string>();
  let reads: ReadonlySet<string> = new Set();
  let isQuiet = false;
  let cancelIdle: (() => void) | undefined;

  if (memory.record !== undefined) {
    ledger.event('run.resumed', { ...(memory.nextFrame === 0 ? {} : { frame: memory.nextFrame - 1 }), changed: [] });
    desk.recover();
    if (memory.record.status === 'stopped') operator.reviveCanceled();
  }

  async function step(triggers: readonly TriggerKind[]): Promise<RunEnd | undefined> {
    if (!input.success) {
      const [issue] = input.error.issues;
      return finish(
        failedWith(
          new PlanError('plan/input-invalid', `${issue?.path.join('.')}: ${issue?.message}`, { context: { run } }),
        ),
      );
    }
    cancelIdle?.();
    const inputs = takeCommands();
    const { ended, changed } = takeNews();
    const isNothingNew = inputs === 0 && ended === 0 && !changed;
    if (isQuiet && isNothingNew) {
      isQuiet = false;
      const end = outcome(structure.activity(), 0);
      return end === undefined ? undefined : finish(end);
    }
    if (
      isNothingNew &&
      tree !== undefined &&
      triggers.every(trigger => trigger === 'task_progressed' || trigger === 'late_write')
    ) {
      waitForQuiet(structure.activity());
      return ledger.isEmpty ? undefined : commit(undefined, undefined);
    }
    return frame(triggers, ended > 0 || inputs > 0);
  }

  /** Ends of tasks, progress and late writes: another round of effects and flush of the last frame. */
  function takeNews(): { readonly ended: number; readonly changed: boolean } {
    const news = inbox.splice(0);
    if (news.length === 0 && queue.size === 0) return { ended: 0, changed: false };
    guard.enter('effects');
    const ended = intake.take(news);
    if (news.length > 0) effects.forgetHistory();
    return { ended, changed: flushNow() };
  }

  function flushNow(): boolean {
    guard.enter('flush');
    const { changed, failed } = flushState(plan, queue, memory);
    intake.settleHandlers(failed);
    return changed;
  }

  async function frame(triggers: readonly TriggerKind[], isProductive: boolean): Promise<RunEnd | undefined> {
    isQuiet = false;
    const index = memory.nextFrame;
    guard.enter('snapshot');
    frameTime = clock.now();
    random = frameRandom(seed, index);

    guard.enter('render');
    let settled: Settled;
    let calls: readonly EffectCall[];
    try {
      settled = settle(renderer, structure, records, iterations);
      calls = effects.calls(settled.activity, renderer);
    } catch (error) {
      return finish(failedWith(asPlanError(error, 'plan/render-failed', moment())));
    }
    const { activity } = settled;

    guard.enter('reconcile');
    const { mounted, unmounted } = takeTree(settled.tree);
    if (activity.ending !== undefined) reach(activity.ending);
    const mayStart = operator.stopping === undefined && !operator.isPausing && activity.ending === undefined;
    for (const node of mayStart ? activity.ready : []) {
      desk.open(node);
      structure.touch(node.id);
    }
    putStatusRows(memory, structure, index);
    book.setPhase([...verifying].some(id => structure.statusOf(id) === 'running') ? 'VERIFY' : 'EXECUTE');
    const readNow = new Set([...renderer.reads].filter(key => !key.startsWith('loop:')));
    putReadRows(memory, reads, readNow, options.keepVolatile === true ? queries.answerOf : undefined);
    reads = readNow;

    const digest = memory.digest.value;
    const productive = isProductive || index === 0 || triggers.includes('resume');
    const evidence = storm.check({ productive, signature: digest, at: frameTime });
    const end: RunEnd | undefined = evidence === undefined ? earlyEnd(settled, calls) : { status: 'stalled', evidence };

    guard.enter('commit');
    const written = ledger.writtenState();
    const isRecorded =
      options.keepVolatile === true || ![...reads].some(key => key.startsWith('vol:') || key.startsWith(QUERY));
    const lost = await commit(
      {
        index,
        at: timestampOf({ now: () => frameTime }),
        trigger: triggerOf(triggers, written),
        mounted,
        unmounted,
        written,
        digest,
        verifiable: isRecorded,
      },
      end,
    );
    if (lost !== undefined || end !== undefined) return lost ?? end;

    guard.enter('execute');
    desk.begin();

    guard.enter('effects');
    const failed = effects.run(calls);
    const changed = flushNow();
    if (failed !== undefined) return finish(failedWith(failed));
    if (changed || settled.goesOn) request('state_flush');
    else if (renderer.isStale) request('timer');
    else waitForQuiet(activity);
    return undefined;
  }

  /** Compares the new tree with the last one, of this process or of the one before. */
  function takeTree(next: PlanNode): { readonly mounted: readonly NodeKey[]; readonly unmounted: readonly NodeKey[] } {
    const diff = reconcile(tree, next);
    const former = tree === undefined ? memory.formerNodes : new Set<string>();
    const mounted = diff.mounted.filter(node => !former.has(node.id));
    const left = [...former].filter(id => !diff.rows.has(id)).concat(diff.unmounted.map(node => node.id));
    tree = next;
    for (const id of left) {
      const task = desk.taskOf(id);
      if (task !== undefined) desk.cancel(task.id);
    }
    for (const id of left) verifying.delete(id);
    for (const { kind, id, data } of diff.mounted) {
      if (kind === 'phase' && data.name.toUpperCase() === 'VERIFY') verifying.add(id);
    }
    putNodeRows(memory, diff.rows, left);
    effects.nodesChanged(diff.mounted, left);
    return { mounted: mounted.map(node => node.id as NodeKey), unmounted: left as NodeKey[] };
  }

  function reach(ending: PlanNode): void {
    records.set(ending.id, { status: 'succeeded', iteration: structure.scopeOf(ending.id) });
    structure.touch(ending.id);
    const { reason } = ending.data as { readonly reason?: string };
    if (ending.kind === 'stop') operator.stop(reason ?? `the plan reached ${ending.id}`);
  }

  /** How many of them are input to the plan. */
  function takeCommands(): number {
    const taken = commands.splice(0);
    for (const command of taken) obey(command);
    const inputs = taken.filter(({ kind }) => kind !== 'idle' && kind !== 'grace-over').length;
    if (inputs > 0) effects.forgetHistory();
    return inputs;
  }

  function obey(command: Command): void {
    switch (command.kind) {
      case 'idle':
        isQuiet = true;
        return;
      case 'grace-over':
        operator.endGrace();
        return;
      case 'pause':
        operator.pause();
        return;
      case 'stop':
        operator.stop(command.reason);
        return;
      case 'cancel':
        operator.cancel(command.node);
        return;
      case 'invalidate':
        queries.invalidate(command.tables);
        return;
      case 'due':
      case 'wake':
      case 'retry':
        operator.runAgain(command.node, command.kind);
    }
  }

  /** The end of the run, where the frame itself shows it and no effect can still say otherwise. */
  function earlyEnd({ activity, goesOn }: Settled, calls: readonly EffectCall[]): RunEnd | undefined {
    if (goesOn || queue.size > 0 || effects.any || effects.isDue(calls)) return undefined;
    // A query sees what this frame commits only in the next one.
    if ([...renderer.reads].some(key => key.startsWith(TABLE))) return undefined;
    const end = outcome(activity, activity.ready.length);
    return end !== undefined && book.canEnd(end) ? end : undefined;
  }

  /** How the run stands, if nothing goes on and nothing is about to. */
  function outcome(activity: Activity, ready: number): RunEnd | undefined {
    const { stopping } = operator;
    if (stopping !== undefined) {
      return desk.busy === 0 || operator.isGraceOver ? { status: 'stopped', reason: stopping.reason } : undefined;
    }
    if (desk.busy > 0 || inbox.length > 0) return undefined;
    if (activity.done || activity.ending?.kind === 'end') return { status: 'completed', output: stateNow() };
    if (operator.isPausing) return { status: 'paused' };
    if (ready > 0) return undefined;
    if (activity.blocked > 0) return { status: 'waiting' };
    return activity.failed > 0 ? { status: 'failed', error: nodeFailure() } : undefined;
  }

  /** A plan with effects may still be told something: it ends when it has been quiet for a while. */
  function waitForQuiet(activity: Activity): void {
    if (outcome(activity, 0) === undefined) return;
    const wait = effects.any && operator.stopping === undefined ? (options.idleMs ?? DEFAULT_IDLE_MS) : 0;
    cancelIdle = timers.after(wait, () => later({ kind: 'idle' }, 'stop_requested'));
  }

  function stateNow() {
    return Object.fromEntries(memory.state.entries());
  }

  function nodeFailure(): TaskError {
    const failed = ['failed', 'abandoned', 'canceled'];
    const isFailed = ([id]: readonly [string, unknown]) =>
      structure.signatureOf(id) !== undefined && failed.includes(structure.statusOf(id));
    const [id, record] = [...records].find(isFailed) ?? [];
    const reason = record?.reason ?? `it was ${record?.status ?? 'lost'}`;
    return { class: 'terminal', code: 'plan/task-failed', message: `Node ${id ?? '?'} failed: ${reason}` };
  }

  return {
    step,
    tree: () =>
      tree &&
      treeToJson(tree, id => {
        const record = records.get(id);
        return {
          status: structure.statusOf(id),
          ...(record?.loop === undefined ? {} : { iteration: iterationOf(record) }),
        };
      }),
    close() {
      cancelIdle?.();
      operator.close();
      desk.abandon();
      effects.close();
      renderer.close();
    },
  };
}

/** What a plan gets as input; plain data cannot be changed. */
function deepFrozen(value: unknown): unknown {
  const plain = frozen(value);
  return plain.ok ? plain.value : value;
}

function failedWith(error: PlanError): RunEnd {
  const { code, message } = planFailure(error);
  return { status: 'failed', error: { class: 'terminal', code, message } };
}

/** The most telling first. */
const triggerKinds: Record<TriggerKind, FrameTrigger['kind']> = {
  start: 'start',
  resume: 'resume',
  task_finished: 'task',
  task_progressed: 'task',
  task_started: 'task',
  state_flush: 'state',
  late_write: 'state',
  input: 'operator',
  stop_requested: 'operator',
  timer: 'timer',
};

function triggerOf(triggers: readonly TriggerKind[], written: readonly string[]): FrameTrigger {
  const first = (Object.keys(triggerKinds) as TriggerKind[]).find(kind => triggers.includes(kind)) ?? 'timer';
  return { kind: triggerKinds[first], detail: triggers.join(' '), ...(written.length === 0 ? {} : { keys: written }) };
}
