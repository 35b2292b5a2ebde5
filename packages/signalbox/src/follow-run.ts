import type { ErrorEnvelope, Result, RunId, RunRecord, StoredEvent } from '@signalbox/app/host';
import { asked } from './end-signals.ts';
import type { RunOwner, Said } from './owner/run-owner.ts';

/** Receives a run's events, in order, each once. */
export interface RunView {
  events(events: readonly StoredEvent[]): Promise<void>;
  said(said: readonly Said[]): void;
  /** No more events follow. */
  close(): Promise<void>;
}

const PAGE = 500;

/**
 * Starts driving a run, reports commits from then on until nothing drives it any more, and returns its status. When the
 * program is asked to end, the run is paused first.
 */
export async function followRun(
  owner: Pick<RunOwner, 'reader' | 'watch' | 'rested' | 'interrupt'>,
  from: number,
  begin: () => Promise<Result<RunId, ErrorEnvelope>>,
  viewOf: (run: RunId) => RunView | Promise<RunView>,
  ending: AbortSignal,
): Promise<Result<RunRecord, ErrorEnvelope>> {
  const begun = await begin();
  if (!begun.ok) return begun;
  const run = begun.value;
  const view = await viewOf(run);
  let next = from;
  let telling: Promise<void> | undefined;
  /** Events that arrived with their commits and were not reported yet, in order; and whether there may be others. */
  let heard: readonly StoredEvent[] = [];
  let isStale = false;

  async function tellNew(): Promise<void> {
    while (isStale || heard.length > 0) {
      const follows = heard[0]?.event.seq === next;
      if (!follows) isStale = false;
      const page = follows ? heard : await owner.reader.events(run, next, PAGE);
      next += page.length;
      heard = page.length === 0 ? [] : heard.filter(({ event }) => event.seq >= next);
      if (!follows && page.length > 0) isStale = true;
      if (page.length > 0) await view.events(page);
    }
  }
  const tell = (): Promise<void> => {
    telling ??= tellNew().finally(() => {
      telling = undefined;
      // Heard after the last look.
      return isStale || heard.length > 0 ? tell() : undefined;
    });
    return telling;
  };
  const ring = () => {
    isStale = true;
    return tell();
  };

  const stop = owner.watch(run, (said, events) => {
    if (said.length > 0) view.said(said);
    if (events === undefined) void ring();
    else if (events.length > 0) {
      heard = [...heard, ...events];
      void tell();
    }
  });
  // Commits from before anyone listened.
  void ring();
  // Work may wait for something the event loop does not know of, so the run keeps the program alive.
  const alive = setInterval(() => {}, 2 ** 30);
  await Promise.race([owner.rested(run), asked(ending).then(() => owner.interrupt(run))]);
  clearInterval(alive);
  stop();
  await telling;
  await ring();
  await view.close();
  const record = await owner.reader.run(run);
  if (record === undefined) throw new Error(`run ${run} is gone`);
  return { ok: true, value: record };
}
