import { PlanError } from '../plan-error.ts';

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
