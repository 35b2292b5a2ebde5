import type { Digest, StallEvidence } from '@signalbox/model';

/** Bounds on idle frames, in which no task ended and no input arrived. */
export interface StormLimits {
  readonly perSecond: number;
  readonly perMinute: number;
  readonly perRun: number;
  /** How often the same plan, statuses and state may recur. */
  readonly repeats: number;
}

const defaultStormLimits: StormLimits = { perSecond: 10, perMinute: 200, perRun: 1000, repeats: 3 };

export interface StormGuard {
  /** Counts a frame. Returns the evidence when the plan goes in circles. */
  check(frame: {
    readonly productive: boolean;
    readonly signature: Digest;
    readonly at: number;
  }): StallEvidence | undefined;
}

export function createStormGuard(limits: StormLimits = defaultStormLimits): StormGuard {
  let seen = new Map<Digest, number>();
  let times: number[] = [];
  let total = 0;
  return {
    check({ productive, signature, at }) {
      if (productive) {
        seen = new Map([[signature, 1]]);
        times = [];
        return undefined;
      }
      total += 1;
      const repeats = (seen.get(signature) ?? 0) + 1;
      seen.set(signature, repeats);
      times = [...times.filter(time => time > at - 60_000), at];
      const lastSecond = times.filter(time => time > at - 1000).length;
      const evidence = (count: number, summary: string): StallEvidence => ({
        kind: 'repeated_frame_signature',
        repeats: Math.max(2, count),
        digest: signature,
        summary,
      });
      if (repeats >= limits.repeats) {
        return evidence(
          repeats,
          `The same plan, statuses and state came up ${repeats} times without any work or input between.`,
        );
      }
      if (lastSecond > limits.perSecond) {
        return evidence(lastSecond, `${lastSecond} frames in a second in which no task ended and no input arrived.`);
      }
      if (times.length > limits.perMinute) {
        return evidence(
          times.length,
          `${times.length} frames in a minute in which no task ended and no input arrived.`,
        );
      }
      if (total > limits.perRun) {
        return evidence(total, `${total} frames of the run in which no task ended and no input arrived.`);
      }
      return undefined;
    },
  };
}
