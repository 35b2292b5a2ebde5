import type { Clock, RunId } from '@signalbox/model';
import { PlanError } from '../plan-error.ts';
import type { TriggerKind } from './frame-scheduler.ts';

/** The phases of a frame, in their order. */
export const framePhases = ['snapshot', 'render', 'reconcile', 'commit', 'execute', 'effects', 'flush'] as const;
export type FramePhase = (typeof framePhases)[number];

/**
 * Keeps the order. After the flush comes the next frame, or another round of effects and flush: handlers of work that ended
 * between two frames belong to the frame that started it.
 */
export interface PhaseGuard {
  enter(phase: FramePhase): void;
  readonly now: FramePhase | undefined;
}

const followers: Record<FramePhase, readonly FramePhase[]> = {
  snapshot: ['render'],
  render: ['reconcile'],
  reconcile: ['commit'],
  commit: ['execute'],
  execute: ['effects'],
  effects: ['flush'],
  flush: ['snapshot', 'effects'],
};

export function createPhaseGuard(): PhaseGuard {
  let now: FramePhase | undefined;
  return {
    enter(phase) {
      const allowed = now === undefined ? ['snapshot'] : followers[now];
      if (!allowed.includes(phase)) {
        throw new PlanError(
          'plan/phase-order',
          `phase ${phase} cannot follow ${now ?? 'the start'}; next is ${allowed.join(' or ')}`,
        );
      }
      now = phase;
    },
    get now() {
      return now;
    },
  };
}

/** One phase of one frame, as it went. What a phase does not know is absent. */
export interface TraceEntry extends TraceDetail {
  readonly run: RunId;
  readonly frame: number;
  readonly phase: FramePhase;
  readonly ms: number;
}

interface TraceDetail {
  /** Of `snapshot`. */
  readonly triggers?: readonly TriggerKind[];
  /** Of `render`: keys that the render as it stands has read, and nodes of the tree. */
  readonly reads?: readonly string[];
  readonly nodes?: number;
  /** Of `reconcile`. */
  readonly mounted?: readonly string[];
  readonly unmounted?: readonly string[];
  /** Of `commit`: keys of state. */
  readonly written?: readonly string[];
  /** Of `execute`: nodes whose work began. */
  readonly started?: readonly string[];
}

/** The phases that a run goes through: in their order, and measured if someone listens. Only then are details made. */
export interface FramePhases {
  enter(phase: FramePhase, frame: number): void;
  note(detail: () => TraceDetail): void;
  /** The phase that goes on is over, and none follows. */
  end(): void;
}

export function createFramePhases(
  run: RunId,
  clock: Clock,
  listener: ((entry: TraceEntry) => void) | undefined,
): FramePhases {
  const guard = createPhaseGuard();
  if (listener === undefined) return { enter: guard.enter, note() {}, end() {} };
  let open: { readonly phase: FramePhase; readonly frame: number; readonly since: number } | undefined;
  let details: TraceDetail = {};
  const end = () => {
    if (open === undefined) return;
    const { phase, frame, since } = open;
    open = undefined;
    listener({ run, frame, phase, ms: clock.now() - since, ...details });
    details = {};
  };
  return {
    enter(phase, frame) {
      guard.enter(phase);
      end();
      open = { phase, frame, since: clock.now() };
    },
    note(detail) {
      details = { ...details, ...detail() };
    },
    end,
  };
}
