import type { ErrorEnvelope, Result, RunId, RunRecord, StoredEvent } from '@signalbox/app/runs';
import { asked } from './end-signals.ts';
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
 * it stands. When the program is asked to end, the run is paused first.
 */
export async function followRun(
  surface: RunSurface,
  from: number,
  begin: () => Promise<Result<RunId, ErrorEnvelope>>,
  viewOf: (run: RunId) => RunView,
  ending: AbortSignal,
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
  // What was committed before anybody listened.
  void ring();
  // Work may wait for something that the event loop does not know of; the run is what keeps the program alive.
  const alive = setInterval(() => {}, 2 ** 30);
  await Promise.race([surface.rested(run), asked(ending).then(() => surface.interrupt(run))]);
  clearInterval(alive);
  stop();
  await telling;
  await ring();
  await view.close();
  const record = await surface.reader.run(run);
  if (record === undefined) throw new Error(`run ${run} is gone`);
  return { ok: true, value: record };
}
