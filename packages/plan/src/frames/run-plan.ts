import { failure } from '@signalbox/model';
import { hasRunEnded } from '@signalbox/runs';
import type { TreeNode } from '../nodes/tree-json.ts';
import { asPlanError } from '../plan-error.ts';
import { asGiven } from '../state/clean-data.ts';
import { type Command, createCommandBox } from './command.ts';
import { endUndriven } from './end-undriven.ts';
import { createEngine } from './engine.ts';
import type { DrivenRun, PlanRun, PlanRunOptions, RunEnd } from './engine-options.ts';
import { createFrameScheduler } from './frame-scheduler.ts';
import { failedWith } from './run-end.ts';
import { loadMemory } from './run-memory.ts';
import { signalFault } from './signals.ts';

/**
 * Runs a plan until it ends, waits for a person, is paused or stalls: from its first frame, or from its stored state. The loop waits at one
 * place, for a frame to become due.
 */
export function runPlan(options: PlanRunOptions): PlanRun {
  const { suspend: _, abandon: __, ...run } = drivePlan(options, 0);
  return run;
}

function drivePlan(options: PlanRunOptions, depth: number): DrivenRun {
  const commands = createCommandBox();
  let isDue = false;
  let isAbandoned = false;
  let wakeUp: (() => void) | undefined;
  const becomeDue = () => {
    isDue = true;
    wakeUp?.();
  };
  const scheduler = createFrameScheduler(options.clock, options.timers, becomeDue, options.minFrameIntervalMs);
  const untilDue = async () => {
    if (!isDue) {
      await new Promise<void>(resolve => {
        wakeUp = resolve;
      });
    }
    wakeUp = undefined;
    isDue = false;
  };
  const ask = (command: Command) => {
    const answer = commands.ask(command);
    scheduler.request(command.kind === 'stop' || command.kind === 'terminate' ? 'stop_requested' : 'input');
    return answer;
  };
  let shown: () => TreeNode | undefined = () => undefined;

  const drive = async (): Promise<RunEnd> => {
    const { run, create, secrets } = options;
    const memory = await loadMemory({ ...options, limits: create?.limits, clean: secrets?.data });
    if (memory.record?.status === 'completed') return { status: 'completed', output: memory.record.output ?? null };
    const { request } = scheduler;
    const engine = createEngine(options, memory, { request, commands, depth, startChild: drivePlan });
    shown = engine.tree;
    request(memory.nextFrame === 0 ? 'start' : 'resume');
    try {
      for (;;) {
        await untilDue();
        if (isAbandoned) return letGo(run);
        const end = await engine.step(scheduler.begin());
        if (end !== undefined) return end;
      }
    } finally {
      await engine.close();
    }
  };
  /** Handles anything that the author's code made the engine throw: uncommitted changes did not happen. */
  const clean = options.secrets?.data ?? asGiven;
  const failWith = async (thrown: unknown): Promise<RunEnd> => {
    const failed = failedWith(asPlanError(thrown, 'plan/render-failed', { run: options.run }), clean);
    const record = await options.reader.run(options.run);
    if (record === undefined || hasRunEnded(record.status)) return failed;
    const ended = await endUndriven(options, record, failed, { action: 'terminate', by: 'signalbox' });
    return ended.ok ? failed : { status: 'lost', error: ended.error };
  };
  const finished = drive()
    .catch(failWith)
    .then(end => options.secrets?.data(end) ?? end)
    .finally(() => {
      scheduler.close();
      commands.close();
    });

  return {
    finished,
    pause: (by = OPERATOR, { now } = {}) => ask({ kind: 'pause', by, now }),
    stop: (reason, by = OPERATOR) => ask({ kind: 'stop', reason, by }),
    terminate: (reason, by = OPERATOR) => ask({ kind: 'terminate', reason, by }),
    retry: (node, by = OPERATOR, policy) => ask({ kind: 'retry', node, by, policy }),
    edit: edit => ask({ kind: 'edit', ...edit }),
    raise: (limits, by = OPERATOR) => ask({ kind: 'raise', limits, by }),
    cancel: (node, by = OPERATOR) => ask({ kind: 'cancel', node, by }),
    reset: (node, by = OPERATOR) => ask({ kind: 'reset', node, by }),
    wake: node => ask({ kind: 'wake', node }),
    input: () => ask({ kind: 'input' }),
    invalidate: tables => ask({ kind: 'invalidate', tables }),
    suspend: () => void ask({ kind: 'suspend' }),
    abandon() {
      isAbandoned = true;
      becomeDue();
    },
    signalFault: (name, payload) => signalFault(options.plan, name, payload),
    tree: () => shown(),
  };
}

/** The default author of a command. */
const OPERATOR = 'operator';

function letGo(run: string): RunEnd {
  const error = failure('store/outcome-unknown', {
    message: `Run ${run} was let go with the run above it.`,
    suggestion: 'Take the run above it up again.',
    details: { run },
  });
  return { status: 'lost', error };
}
