import type { PlanNode } from '../nodes/plan-node.ts';
import { asPlanError, PlanError } from '../plan-error.ts';
import type { Command, CommandAnswer } from './command.ts';
import { flushState } from './effects-and-flush.ts';
import type { Engine, EngineParts } from './engine.ts';
import type { RunEnd } from './engine-options.ts';
import { makesFrame, type TriggerKind, triggerOf } from './frame-scheduler.ts';
import { frameRandom } from './plan-context.ts';
import { putStatusRows, type Settled } from './plan-view.ts';
import { failedWith } from './run-end.ts';
import { lastFrame } from './run-memory.ts';
import type { Signal } from './signals.ts';
import { createStormGuard } from './storm-guard.ts';

/**
 * Makes the frames of one run. A frame has seven phases:
 *
 *   snapshot    time, random numbers and files are fixed
 *   render      the plan says what should be going on             plan-view.ts
 *   reconcile   removed nodes are canceled, ready ones opened     plan-view.ts, task-desk.ts
 *   commit      the frame and everything before it is durable     run-commit.ts
 *   execute     the work of opened nodes starts                   task-desk.ts
 *   effects     the plan's effects run                            effects-and-flush.ts
 *   flush       their writes become state                         effects-and-flush.ts
 *
 * News between two frames, such as the end of work, causes another round of effects and flush of the last one: handlers of the plan run
 * (intake.ts), and their writes are in the next frame.
 *
 * 1. Work starts only after the frame that starts it is committed; work that may run twice, also while that commit is on its way
 *    (commits-ahead).
 * 2. The end of a task, the fact that its handlers ran and their writes are in one commit: that of the next frame. So a step takes one
 *    commit, and after a crash a task either ended with its handlers or did not end.
 * 3. State changes only in the flush.
 * 4. Only commits, reads of input, permission to start and the end of child runs are awaited.
 */
export function createFrames(parts: EngineParts): Engine['step'] {
  const { base, time, phases, view, code, work, ahead, book, ending } = parts;
  const { options, memory, structure, queue, commands, request, remember } = base;
  const { ledger } = memory;
  const { signals, intake, effects, queries, files } = code;
  const { desk, operator, permit } = work;
  const storm = createStormGuard(options.storm);
  /** The run has been quiet for a while after a frame that showed its end. */
  let isQuiet = false;

  /** Takes in everything since the last step, and makes a frame of it. */
  async function step(triggers: readonly TriggerKind[]): Promise<RunEnd | undefined> {
    ending.cancelWait();
    if (ahead.lost !== undefined) return ahead.lost;
    const obeyed = commands.take(obey).filter(({ kind }) => kind !== 'idle' && kind !== 'input').length;
    if (operator.isSuspended) return ending.finish({ status: 'paused' });
    if (operator.isOver) return ending.terminate();
    if (operator.takeTimeOver()) await ending.hold();
    const isBegun = view.tree !== undefined;
    // Handlers belong to a frame: if this process has made none, its first one comes before them.
    const received = signals.isDue && isBegun ? await readSignals() : [];
    const { ended, changed } = await takeIn(received);
    const inputs = obeyed + received.length;
    if (inputs > 0) effects.forgetHistory();
    const isNothingNew = inputs === 0 && ended === 0 && !changed;
    if (isQuiet && isNothingNew) {
      isQuiet = false;
      await ahead.durable();
      const end = ending.outcome(structure.activity(), 0);
      if (end !== undefined) return ending.finish(end);
    }
    if (isNothingNew && isBegun && !makesFrame(triggers)) {
      ending.waitForQuiet(structure.activity());
      if (!ledger.isEmpty) return book.commit(undefined, undefined);
      const lost = await ahead.durable();
      commands.committed();
      return lost;
    }
    const over = options.onFrame?.();
    const end = await frame(received.length === 0 ? triggers : [...triggers, 'signal'], ended > 0 || inputs > 0);
    over?.();
    return end;
  }

  /** Signals, ends of tasks, progress and late writes: another round of effects and flush of the last frame. */
  async function takeIn(received: readonly Signal[]): Promise<{ readonly ended: number; readonly changed: boolean }> {
    const news = desk.takeNews();
    const isNothing = news.length === 0 && received.length === 0 && queue.size === 0;
    if (isNothing && !files.hasNews) return { ended: 0, changed: false };
    const index = lastFrame(memory);

    phases.enter('effects', index);
    signals.take(received);
    const ended = intake.take(news);
    if (news.length > 0) effects.forgetHistory();

    phases.enter('flush', index);
    return { ended, changed: await flush() };
  }

  async function frame(triggers: readonly TriggerKind[], isProductive: boolean): Promise<RunEnd | undefined> {
    isQuiet = false;
    const index = memory.nextFrame;

    phases.enter('snapshot', index);
    time.at = options.clock.now();
    time.random = frameRandom(time.seed, index);
    phases.note(() => ({ triggers }));
    files.refresh();

    phases.enter('render', index);
    const settled = rendered();
    if (settled instanceof PlanError) return ending.finish(failedWith(settled, memory.clean));
    const { activity } = settled;
    phases.note(() => ({ reads: [...view.renderer.reads], nodes: countNodes(settled.tree) }));

    phases.enter('reconcile', index);
    const { mounted, unmounted, added } = view.reconcile(settled.tree, desk.cancel);
    effects.nodesChanged(added, unmounted);
    phases.note(() => ({ mounted, unmounted }));
    if (activity.ending !== undefined) reach(activity.ending);
    const permitted = activity.ending === undefined ? permit.of(activity.ready) : [];
    const starting = permitted instanceof Promise ? await permitted : permitted;
    for (const node of starting) desk.open(node, permit.isLimited);
    putStatusRows(memory, structure, index, skip);
    book.setPhase(view.isVerifying ? 'VERIFY' : 'EXECUTE');
    view.reads.put();
    const digest = memory.digest.value;
    const productive = isProductive || index === 0 || triggers.includes('resume');
    if (productive) effects.forgetHistory();
    const evidence = storm.check({ productive, signature: digest, at: time.at });
    let end = evidence === undefined ? ending.early(settled) : undefined;
    if (end !== undefined && ahead.any) {
      await ahead.durable();
      // Others may have written meanwhile.
      end = ending.early(settled);
    }
    const waits =
      commands.isAwaited || files.isWriting || permit.isLimited || end !== undefined || evidence !== undefined;
    const mayGetAhead = !waits && !effects.any && !effects.isDue(settled.calls);

    phases.enter('commit', index);
    const written = ledger.writtenState();
    phases.note(() => ({ written }));
    const lost = await book.commit(
      {
        index,
        at: ledger.stamp(time.at),
        trigger: triggerOf(triggers, written),
        mounted,
        unmounted,
        written,
        digest,
        verifiable: !files.takeUnrecorded() && view.reads.isRecorded,
        ...book.planVersion,
      },
      end,
      mayGetAhead,
    );
    if (lost !== undefined || end !== undefined) {
      phases.end();
      return lost ?? end;
    }
    if (evidence !== undefined) {
      const loop = effects.loop();
      return ending.finish(loop === undefined ? { status: 'stalled', evidence } : failedWith(loop, memory.clean));
    }

    phases.enter('execute', index);
    desk.begin();
    phases.note(() => ({ started: starting.map(node => node.id) }));

    phases.enter('effects', index);
    const failed = effects.run(settled.calls);

    phases.enter('flush', index);
    const changed = await flush();
    phases.end();

    if (failed !== undefined) return ending.finish(failedWith(failed, memory.clean));
    if (signals.isDue) request('signal');
    if (changed || settled.goesOn) request('state_flush');
    else if (view.renderer.isStale) request('timer');
    else ending.waitForQuiet(activity);
    return undefined;
  }

  function obey(command: Command): CommandAnswer {
    switch (command.kind) {
      case 'idle':
        isQuiet = true;
        return 'done';
      case 'input':
        signals.expect();
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

  function rendered(): Settled | PlanError {
    try {
      options.recorded?.beforeRender();
      return view.settle();
    } catch (error) {
      return asPlanError(error, 'plan/render-failed', base.moment());
    }
  }

  /** Signals are read where everything of the run itself is in its log. */
  async function readSignals(): Promise<readonly Signal[]> {
    await ahead.durable();
    return signals.read();
  }

  /** Returns whether anything that a render may show has changed. Files are written once everything before is durable. */
  async function flush(): Promise<boolean> {
    if (files.isWriting && ahead.any) await ahead.durable();
    files.settle();
    const { changed, failed } = flushState(base, code);
    intake.settle(failed);
    signals.settle(failed);
    return changed;
  }

  /** Reaches a Stop or an End. */
  function reach(node: PlanNode): void {
    remember(node.id, { status: 'succeeded', iteration: structure.scopeOf(node.id) });
    const { reason } = node.data as { readonly reason?: string };
    if (node.kind === 'stop') operator.stop(reason ?? `the plan reached ${node.id}`);
  }

  /** Its branch is no longer taken. */
  function skip(node: string): void {
    desk.cancel(node);
    effects.nodesChanged([], [node]);
  }

  return step;
}

function countNodes(node: PlanNode): number {
  return node.children.reduce((count, child) => count + countNodes(child), 1);
}
