import type { Clock } from '@signalbox/model';

/** Calls back later, and not at all once canceled. */
export interface Timers {
  after(ms: number, run: () => void): () => void;
}

/** Why a frame is asked for. Those in `immediateTriggers` do not wait. */
export type TriggerKind =
  | 'start'
  | 'resume'
  | 'task_started'
  | 'task_progressed'
  | 'task_finished'
  | 'state_flush'
  | 'late_write'
  | 'timer'
  | 'file_changed'
  | 'input'
  | 'signal'
  | 'stop_requested';

const immediateTriggers: ReadonlySet<TriggerKind> = new Set<TriggerKind>([
  'start',
  'resume',
  'task_finished',
  'state_flush',
  'input',
  'signal',
  'stop_requested',
]);

export const MIN_FRAME_INTERVAL_MS = 250;

/** Brings requests for frames together: what is urgent at once, everything else at most once in an interval. */
export interface FrameScheduler {
  request(trigger: TriggerKind): void;
  /** The frame begins: later requests are for the next. Returns what it was asked for. */
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
      if (immediateTriggers.has(trigger) || wait <= 0) becomeDue();
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
