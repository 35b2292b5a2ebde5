/**
 * Tells people outside of the console what they want to know: by a webhook, a command, or both.
 *
 * N1  A notice follows from a durable commit. What was there before the process started is not told again.
 * N2  Each decision and each end of a run is told once. A notice that cannot be sent is tried once more, then logged.
 * N3  In quiet hours nothing is sent, and nothing is kept for later: the queue has it.
 */
import { type Clock, isQuiet, timeOfDay, timestampOf } from '@signalbox/model';
import type { Timers } from '@signalbox/plan';
import type { CommitNotice, RunFeed, RunReader } from '@signalbox/runs';
import type { NotifyConfig, NotifyKind } from './notify-config.ts';
import { type Notice, sendNotice } from './send-notice.ts';

export interface NoticePorts {
  readonly feed: RunFeed;
  readonly reader: Pick<RunReader, 'run' | 'decisions'>;
  readonly config: NotifyConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly timers: Timers;
  /** The console. */
  readonly url: string;
  onFault(why: string): void;
  readonly send?: typeof sendNotice;
}

const AGAIN_MS = 5_000;
const byDefault: readonly NotifyKind[] = ['decision'];

/** Begins to tell. Call the returned function to end it. */
export function tellNotices(ports: NoticePorts): () => void {
  const { feed, reader, config, env, clock, timers, url, onFault, send = sendNotice } = ports;
  const kinds = config.kinds ?? byDefault;
  const told = new Set<string>();
  let isOver = false;

  async function deliver(notice: Notice): Promise<void> {
    const isLate = config.quiet !== undefined && isQuiet(config.quiet, timeOfDay(new Date(clock.now())));
    if (isOver || isLate) return;
    const faults = await send(notice, config, env);
    if (faults.length === 0 || isOver) return;
    timers.after(AGAIN_MS, () => {
      void send(notice, config, env).then(again => {
        for (const why of again) onFault(why);
      });
    });
  }

  async function tell({ run, asks, events }: CommitNotice): Promise<void> {
    const record = await reader.run(run);
    if (record === undefined) return;
    const about = { v: 1, run, runName: record.name, at: timestampOf(clock) } as const;
    if (asks && kinds.includes('decision')) {
      for (const { decision } of await reader.decisions({ run, status: ['open'] })) {
        if (told.has(decision.id)) continue;
        told.add(decision.id);
        const title = `${record.name} needs you`;
        const where = { decision: decision.id, url: `${url}/queue?decision=${decision.id}` };
        await deliver({ ...about, kind: 'decision', title, text: `${decision.kind} at ${decision.node}`, ...where });
      }
    }
    for (const { event } of events) {
      if (event.type !== 'run.status' || (event.to !== 'failed' && event.to !== 'completed')) continue;
      if (!kinds.includes(event.to) || told.has(event.id)) continue;
      told.add(event.id);
      const text = event.to === 'failed' ? (event.error?.message ?? '') : '';
      await deliver({ ...about, kind: event.to, title: `${record.name} ${event.to}`, text, url: `${url}/runs/${run}` });
    }
  }

  const unsubscribe = feed.subscribe('all', notice => {
    const isEnd = notice.events.some(({ event }) => event.type === 'run.status');
    if (notice.asks || isEnd) void tell(notice).catch(cause => onFault(String(cause)));
  });
  return () => {
    isOver = true;
    unsubscribe();
  };
}
