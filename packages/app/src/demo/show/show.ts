import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, err, failure, type Json, ok, type Result, type RunId } from '@signalbox/model';
import type { GuidedTools } from '../../guided/guided-tools.ts';
import type { Machine } from '../../machine.ts';
import type { RunHost } from '../../runs/run-host.ts';
import { walkSlowly } from './guided-agent.ts';
import { showFiles } from './show-files.ts';

export interface ShowOptions {
  readonly host: RunHost;
  readonly guided: GuidedTools;
  readonly timers: Machine['timers'];
  /** Where its plans are written and its agents work. */
  readonly directory: string;
}

export interface Show {
  /** Ends what goes on by itself; runs are the host's. */
  close(): void;
}

/**
 * Something true for every page of the console: a run to watch, one that asks a person and goes on, one that failed, one that
 * is over with a fork beside it, and a guided session that an agent walks.
 */
export async function startShow({
  host,
  guided,
  timers,
  directory,
}: ShowOptions): Promise<Result<Show, ErrorEnvelope>> {
  for (const [name, content] of Object.entries(showFiles)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  const start = (file: string, input: Json, tags: readonly string[]) =>
    host.start({ file: path.join(directory, file), input, tags });

  const finished = await finish(host, await start('watch-prices.tsx', { turns: 6, pace: 1 }, ['history']));
  if (!finished.ok) return finished;
  const fork = { at: { kind: 'frame', frame: 4 }, name: 'watch-prices, from frame 4' } as const;
  const forked = await finish(host, await host.fork(finished.value, fork, DEMO));
  if (!forked.ok) return forked;
  const failed = await finish(host, await start('import-orders.tsx', {}, ['import']));
  if (!failed.ok) return failed;
  for (const begun of [await start('release.tsx', {}, ['release']), await start('watch-prices.tsx', {}, ['prices'])]) {
    if (!begun.ok) return begun;
  }
  const stop = walkSlowly(guided, timers);
  return ok({ close: stop });
}

const DEMO = 'demo';

async function finish(host: RunHost, begun: Result<RunId, ErrorEnvelope>): Promise<Result<RunId, ErrorEnvelope>> {
  if (!begun.ok) return begun;
  const end = await host.finished(begun.value);
  return end === undefined ? err(notDriven(begun.value)) : begun;
}

function notDriven(run: RunId): ErrorEnvelope {
  return failure('command/unexpected', {
    message: `Run ${run} of the demo was not driven.`,
    suggestion: 'Start the demo again. If it happens again, please report it.',
  });
}
