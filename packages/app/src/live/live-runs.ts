import type { GuidedRuns } from '@signalbox/guided';
import type { EventView, RunId, RunSummary, ServerMessage } from '@signalbox/model';
import { allRunsOf } from '../all-runs/all-runs.ts';
import type { RunHost } from '../host/run-host.ts';
import type { Machine } from '../machine.ts';
import { subscribeGuidedRun } from './guided-subscription.ts';
import { createGuidedWatch } from './guided-watch.ts';
import { createRunPictures } from './run-picture.ts';
import { subscribeRun } from './run-subscription.ts';
import { subscribeRuns } from './runs-subscription.ts';

/** Something that a client watches. */
export interface Subscription {
  /** Sends what there is to send, as far as there is room. */
  pump(): void;
  close(): void;
}

/** A subscription: the run, its first event, the form of events, and whether the outline is enough. */
export interface WatchedRun {
  readonly run: RunId;
  readonly from: number | undefined;
  readonly outline: boolean;
  readonly view: EventView;
}

/** Where a subscription sends to. It asks first whether there is room. */
export interface Outbox {
  readonly isFree: boolean;
  send(message: ServerMessage): void;
}

type OnFault = (thrown: unknown) => void;

/** Subscriptions to the runs of a data directory, whichever driver decides their nodes. */
export interface LiveRuns {
  /** One client that watches all runs. */
  all(outbox: Outbox, onFault: OnFault): Subscription;
  /** One client that watches one run. */
  run(watched: WatchedRun, outbox: Outbox, onFault: OnFault): Subscription;
  close(): void;
}

/** The runs of plans that a process drives, and guided runs where it knows of sessions. `onFault` hears of looks that failed. */
export function liveRunsOf(
  host: RunHost,
  timers: Machine['timers'],
  onFault: OnFault,
  guidedRuns: GuidedRuns | undefined,
): LiveRuns {
  const runs = allRunsOf(host, guidedRuns);
  const pictures = createRunPictures(host, timers, onFault);
  const guided = guidedRuns && createGuidedWatch(guidedRuns, timers, onFault);
  const subscribe: Record<RunSummary['kind'], LiveRuns['run']> = {
    plan: (watched, outbox, fail) => subscribeRun(host, pictures, outbox, watched, fail),
    guided: (watched, outbox, fail) =>
      guided === undefined ? subscribe.plan(watched, outbox, fail) : subscribeGuidedRun(guided, outbox, watched, fail),
  };
  return {
    all: (outbox, fail) => subscribeRuns(host, runs, timers, outbox, fail, guided),
    run(watched, outbox, fail) {
      if (guided === undefined) return subscribe.plan(watched, outbox, fail);
      let chosen: Subscription | undefined;
      let isClosed = false;
      // Sessions that cannot be read are reported by their own subscription.
      const choose = async () => {
        const found = await runs.find(watched.run);
        const kind = found.ok ? (found.value?.kind ?? 'plan') : 'guided';
        if (!isClosed) chosen = subscribe[kind](watched, outbox, fail);
      };
      choose().catch(thrown => {
        if (!isClosed) fail(thrown);
      });
      return {
        pump: () => chosen?.pump(),
        close() {
          isClosed = true;
          chosen?.close();
        },
      };
    },
    close: () => guided?.close(),
  };
}
