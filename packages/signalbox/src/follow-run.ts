import type { ErrorEnvelope, Result, RunId, RunRecord, StoredEvent } from '@signalbox/app/runs';
import type { RunSurface, Said } from './surface/run-surface.ts';

/** Told what happens in a run, in order, each event once. */
export interface RunView {
  events(events: readonly StoredEvent[]): Promise<void>;
  said(said: readonly Said[]): void;
  /** Nothing more comes. */
  close(): Promise<void>;
}

const PAGE = 500;

/**
 * Begins something that drives a run, tells what is committed from then on until nobody drives it any more, and answers how
 * it stands.
 */
export async function followRun(
  surface: RunSurface,
  from: number,
  begin: () => Promise<Result<RunId, ErrorEnvelope>>,
  viewOf: (run: RunId) => RunView,
): Promise<Result<RunRecord, ErrorEnvelope>> {
  const begun = await begin();
  if (!begun.ok) return begun;
  const run = begun.value;
  const view = viewOf(run);
  let next = from;
  let telling: Promise<void> | undefined;
  let isStale = false;

  async function tellNew(): Promise<void> {
    do {
      isStale = false;
      for (;;) {
        const page = await surface.reader.events(run, next, PAGE);
        if (page.length === 0) break;
        next += page.length;
        await view.events(page);
      }
    } while (isStale);
  }
  const ring = () => {
    isStale = true;
    telling ??= tellNew().finally(() => {
      telling = undefined;
    });
    return telling;
  };

  const stop = surface.watch(run, said => {
    if (said.length > 0) view.said(said);
    void ring();
  });
  const release = pauseOnInterrupt(surface, run);
  await surface.rested(run);
  release();
  stop();
  await telling;
  await ring();
  await view.close();
  const record = await surface.reader.run(run);
  if (record === undefined) throw new Error(`run ${run} is gone`);
  return { ok: true, value: record };
}

/** Ctrl-C pauses, a second one stops, a third one ends it at once. */
function pauseOnInterrupt(surface: RunSurface, run: RunId): () => void {
  let interrupts = 0;
  const interrupt = () => {
    interrupts += 1;
    if (interrupts === 1) void surface.interrupt(run);
    else if (interrupts === 2) void surface.act(run, { kind: 'stop', reason: 'interrupted' });
    else void surface.act(run, { kind: 'terminate', reason: 'interrupted' });
  };
  // Work may wait for something that the event loop does not know of; the run is what keeps the program alive.
  const alive = setInterval(() => {}, 2 ** 30);
  process.on('SIGINT', interrupt);
  return () => {
    clearInterval(alive);
    process.off('SIGINT', interrupt);
  };
}
