import type { Clock } from '@signalbox/model';
import type { FrameTrigger } from '@signalbox/runs';

/** Calls back later, and not at all once canceled. */
export interface Timers {
  after(ms: number, run: () => void): () => void;
}

/**
 * Why a frame is requested, most important first: the trigger in the frame's record, whether it waits to be batched, and whether it makes a
 * frame even without news.
 */
const triggerKinds = {
  start: { shown: 'start', waits: false, isEnough: true },
  resume: { shown: 'resume', waits: false, isEnough: true },
  signal: { shown: 'signal', waits: false, isEnough: false },
  task_finished: { shown: 'task', waits: false, isEnough: true },
  task_progressed: { shown: 'task', waits: true, isEnough: false },
  task_started: { shown: 'task', waits: true, isEnough: false },
  state_flush: { shown: 'state', waits: false, isEnough: true },
  late_write: { shown: 'state', waits: true, isEnough: false },
  input: { shown: 'operator', waits: false, isEnough: false },
  stop_requested: { shown: 'operator', waits: false, isEnough: false },
  file_changed: { shown: 'file', waits: true, isEnough: false },
  timer: { shown: 'timer', waits: true, isEnough: true },
} as const satisfies Record<string, { shown: FrameTrigger['kind']; waits: boolean; isEnough: boolean }>;
export type TriggerKind = keyof typeof triggerKinds;
const inOrder = Object.keys(triggerKinds) as readonly TriggerKind[];

export const MIN_FRAME_INTERVAL_MS = 250;

/** Batches requests for frames: urgent ones at once, all others at most once per interval. */
export interface FrameScheduler {
  request(trigger: TriggerKind): void;
  /** The frame begins: later requests are for the next one. Returns the reasons for this one. */
  begin(): readonly TriggerKind[];
  close(): void;
}

export function createFrameScheduler(
  clock: Clock,
  timers: Timers,
  onDue: () => void,
  minIntervalMs = MIN_FRAME_INTERVAL_MS,
): FrameScheduler {
  let last = Number.NEGATIVE_INFINITY;
  let asked = new Set<TriggerKind>();
  let due = false;
  let cancelTimer: (() => void) | undefined;
  const becomeDue = () => {
    cancelTimer?.();
    cancelTimer = undefined;
    if (due) return;
    due = true;
    onDue();
  };
  return {
    request(trigger) {
      asked.add(trigger);
      if (due) return;
      const wait = last + minIntervalMs - clock.now();
      if (!triggerKinds[trigger].waits || wait <= 0) becomeDue();
      else cancelTimer ??= timers.after(wait, becomeDue);
    },
    begin() {
      const taken = [...asked];
      asked = new Set();
      due = false;
      cancelTimer?.();
      cancelTimer = undefined;
      last = clock.now();
      return taken;
    },
    close() {
      cancelTimer?.();
      cancelTimer = undefined;
    },
  };
}

/** The trigger in the frame's record. */
export function triggerOf(triggers: readonly TriggerKind[], written: readonly string[]): FrameTrigger {
  const first = triggers.length === 1 ? triggers[0] : inOrder.find(kind => triggers.includes(kind));
  return {
    kind: triggerKinds[first ?? 'timer'].shown,
    detail: triggers.join(' '),
    ...(written.length === 0 ? {} : { keys: written }),
  };
}

/** Whether a frame is made even without news. */
export function makesFrame(triggers: readonly TriggerKind[]): boolean {
  return triggers.some(trigger => triggerKinds[trigger]?.isEnough);
}
