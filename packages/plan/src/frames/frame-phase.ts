import type { Clock, RunId } from '@signalbox/model';
import { PlanError } from '../plan-error.ts';
import type { TriggerKind } from './frame-scheduler.ts';

/** The phases of a frame, in order. */
export const framePhases = ['snapshot', 'render', 'reconcile', 'commit', 'execute', 'effects', 'flush'] as const;
export type FramePhase = (typeof framePhases)[number];

/**
 * Enforces the order. After the flush comes the next frame, or another round of effects and flush: handlers of work that ended between two
 * frames belong to the frame that started it.
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

/** One phase of one frame. Details that do not apply to a phase are absent. */
export interface TraceEntry extends TraceDetail {
  readonly run: RunId;
  readonly frame: number;
  readonly phase: FramePhase;
  readonly ms: number;
}

interface TraceDetail {
  /** For `snapshot`. */
  readonly triggers?: readonly TriggerKind[];
  /** For `render`: keys read by the current render, and nodes of the tree. */
  readonly reads?: readonly string[];
  readonly nodes?: number;
  /** For `reconcile`. */
  readonly mounted?: readonly string[];
  readonly unmounted?: readonly string[];
  /** For `commit`: keys of state. */
  readonly written?: readonly string[];
  /** For `execute`: nodes whose work started. */
  readonly started?: readonly string[];
}

/** Goes through the phases of a run in order, and measures them if there is a listener. Only then are details built. */
export interface FramePhases {
  enter(phase: FramePhase, frame: number): void;
  note(detail: () => TraceDetail): void;
  /** Ends the current phase without a next one. */
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
