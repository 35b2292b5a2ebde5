import type { ErrorEnvelope, RunOutline, RunSnapshot, RunSummary } from '@signalbox/model';
import { guidedEvents } from '../contract-view/event-page.ts';
import { unknownRun } from '../host/find-run.ts';
import type { GuidedWatch } from './guided-watch.ts';
import type { Outbox, Subscription, WatchedRun } from './live-runs.ts';
import { Shown } from './shown.ts';

const PAGE = 200;

/**
 * One client watching one guided run, like `subscribeRun` for a plan run: the full state, then each event once and in order, then the
 * current picture.
 */
export function subscribeGuidedRun(
  guided: GuidedWatch,
  outbox: Outbox,
  { run, from, outline, view }: WatchedRun,
  onFault: (thrown: unknown) => void,
): Subscription {
  const shown = new Shown();
  let cursor: number | undefined;
  let isStale = true;
  let isClosed = false;

  const unwatch = guided.subscribe(changed => {
    if (!changed.some(({ id }) => id === run)) return;
    isStale = true;
    pump();
  });

  /** Reads synchronously, so that nothing can come between. */
  function pump(): void {
    try {
      while (!isClosed && isStale && outbox.isFree) send();
    } catch (thrown) {
      if (!isClosed) onFault(thrown);
    }
  }

  function send(): void {
    const read = guided.runs.show(run);
    if (!read.ok || read.value === undefined) {
      refuse(read.ok ? unknownRun(run) : read.error);
      return;
    }
    const snapshot = read.value;
    const { nextSeq } = snapshot.record;
    if (cursor === undefined) {
      cursor = Math.min(from ?? nextSeq, nextSeq);
      shown.begin(snapshot);
      outbox.send({ kind: 'state', run, snapshot: outline ? outlineOf(snapshot) : snapshot, next: cursor });
    }
    while (cursor < nextSeq && outbox.isFree) {
      const events = guidedEvents(guided.runs, run, { from: cursor, limit: Math.min(PAGE, nextSeq - cursor), view });
      if (!events.ok) {
        refuse(events.error);
        return;
      }
      if (events.value.length === 0) {
        // Read between two writes; the next poll finds the rest.
        isStale = false;
        return;
      }
      for (const stored of events.value) outbox.send({ kind: 'event', run, stored });
      cursor += events.value.length;
    }
    if (cursor < nextSeq) return;
    isStale = false;
    for (const message of shown.messagesFor({ ...snapshot, summary: summaryOf(snapshot) })) outbox.send(message);
  }

  function refuse(error: ErrorEnvelope): void {
    outbox.send({ kind: 'refused', run, error });
    close();
  }

  function close(): void {
    isClosed = true;
    unwatch();
  }

  pump();
  return { pump, close };
}

function outlineOf({ nodes: _, edges: __, artifacts: ___, ...outline }: RunSnapshot): RunOutline {
  return outline;
}

function summaryOf(snapshot: RunSnapshot): RunSummary {
  const { nodes: _, edges: _1, artifacts: _2, tree: _3, decisions: _4, tasks: _5, ...rest } = snapshot;
  const { input: _6, output: _7, ...summary } = rest;
  return summary;
}
