import type { Clock, RunId } from '@signalbox/model';
import type { FramePhase } from './frame-phase.ts';
import type { TriggerKind } from './frame-scheduler.ts';

/** One phase of one frame, as it went. What a phase does not know is absent. */
export interface TraceEntry extends TraceDetail {
  readonly run: RunId;
  readonly frame: number;
  readonly phase: FramePhase;
  readonly ms: number;
}

export interface TraceDetail {
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

/** Measures phases. Details are made only if someone listens. */
export interface FrameTrace {
  enter(phase: FramePhase, frame: number): void;
  note(detail: () => TraceDetail): void;
  /** The phase that goes on is over, and none follows. */
  end(): void;
}

const silent: FrameTrace = { enter() {}, note() {}, end() {} };

export function createFrameTrace(
  run: RunId,
  clock: Clock,
  listener: ((entry: TraceEntry) => void) | undefined,
): FrameTrace {
  if (listener === undefined) return silent;
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
      end();
      open = { phase, frame, since: clock.now() };
    },
    note(detail) {
      details = { ...details, ...detail() };
    },
    end,
  };
}
