import type { TreeNode } from '../nodes/tree-json.ts';
import { createEngine } from './engine.ts';
import type { PlanRun, PlanRunOptions, RunEnd } from './engine-options.ts';
import { createFrameScheduler } from './frame-scheduler.ts';
import type { Command } from './operator.ts';
import { loadMemory } from './run-memory.ts';

/**
 * Runs a plan until it ends, waits for a person, is paused or stalls: from its first frame, or from where the reader has
 * it. The loop waits at one place, for a frame to become due.
 */
export function runPlan(options: PlanRunOptions): PlanRun {
  const commands: Command[] = [];
  let isDue = false;
  let wakeUp: (() => void) | undefined;
  const scheduler = createFrameScheduler(
    options.clock,
    options.timers,
    () => {
      isDue = true;
      wakeUp?.();
    },
    options.minFrameIntervalMs,
  );
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
    commands.push(command);
    scheduler.request(command.kind === 'stop' ? 'stop_requested' : 'input');
  };
  let shown: () => TreeNode | undefined = () => undefined;

  const drive = async (): Promise<RunEnd> => {
    const memory = await loadMemory(options.plan, options.run, options.reader, options.clock, options.ids);
    if (memory.record?.status === 'completed') return { status: 'completed', output: memory.record.output ?? null };
    const engine = createEngine(options, memory, scheduler.request, commands);
    shown = engine.tree;
    scheduler.request(memory.nextFrame === 0 ? 'start' : 'resume');
    try {
      for (;;) {
        await untilDue();
        const end = await engine.step(scheduler.begin());
        if (end !== undefined) return end;
      }
    } finally {
      scheduler.close();
      engine.close();
    }
  };

  return {
    finished: drive(),
    pause: () => ask({ kind: 'pause' }),
    stop: reason => ask({ kind: 'stop', reason }),
    retry: node => ask({ kind: 'retry', node }),
    cancel: node => ask({ kind: 'cancel', node }),
    wake: node => ask({ kind: 'wake', node }),
    invalidate: tables => ask({ kind: 'invalidate', tables }),
    tree: () => shown(),
  };
}
