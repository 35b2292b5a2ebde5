import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { GuidedTools } from '@signalbox/guided';
import { type ErrorEnvelope, err, failure, type Json, ok, type Result, type RunId } from '@signalbox/model';
import type { RunHost } from '../../host/run-host.ts';
import type { Machine } from '../../machine.ts';
import { walkSlowly } from './guided-agent.ts';
import { keepGoing, parcelPlan } from './keep-going.ts';
import { SHOW_AGENT_PLAN, showReadme } from './show-agent.ts';
import { showFiles } from './show-files.ts';

export interface ShowOptions {
  readonly host: RunHost;
  readonly guided: GuidedTools;
  readonly timers: Machine['timers'];
  /** Where its plans are written and its agents work. */
  readonly directory: string;
  /** Whether an agent's own program can be started: it needs a sandbox. */
  readonly withAgent: boolean;
  /** The actor of its forks and imports. */
  readonly by: string;
}

export interface Show {
  /** Ends its background activity and driven runs, without waiting for a busy model. */
  close(): Promise<void>;
}

/**
 * Content for every page of the console: a run to watch, one that asks a person and continues, one that failed, one that is over with a
 * fork and an imported copy, one whose model is busy for a while and that makes artifacts, one of an agent over ACP that asks with options of its own, and a guided session that an agent walks.
 */
export async function startShow({
  host,
  guided,
  timers,
  directory,
  withAgent,
  by,
}: ShowOptions): Promise<Result<Show, ErrorEnvelope>> {
  const files = { ...showFiles, ...parcelPlan, ...showReadme, 'tidy-readme.tsx': SHOW_AGENT_PLAN };
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  const start = (file: string, input: Json, tags: readonly string[]) =>
    host.start({ file: path.join(directory, file), anyFile: true, input, tags });

  const finished = await finish(host, await start('watch-prices.tsx', { turns: 6, pace: 1 }, ['history']));
  if (!finished.ok) return finished;
  const fork = { at: { kind: 'frame', frame: 4 }, name: 'watch-prices, from frame 4' } as const;
  const forked = await finish(host, await host.fork(finished.value, fork, by));
  if (!forked.ok) return forked;
  const bundle = path.join(directory, 'watch-prices.bundle');
  const exported = await host.bundles.export(finished.value, bundle);
  if (!exported.ok) return exported;
  const imported = await host.bundles.import({ file: bundle, directory }, by);
  if (!imported.ok) return imported;
  const failed = await finish(host, await start('import-orders.tsx', {}, ['import']));
  if (!failed.ok) return failed;
  for (const begun of [
    await start('release.tsx', {}, ['release']),
    await start('weekly-report.tsx', {}, ['report']),
    await start('watch-prices.tsx', {}, ['prices']),
    ...(withAgent ? [await start('tidy-readme.tsx', {}, ['agent'])] : []),
  ]) {
    if (!begun.ok) return begun;
  }
  const stop = walkSlowly(guided, timers);
  const stopStory = keepGoing(host, timers, directory);
  return ok({
    async close() {
      stop();
      stopStory();
      const ends = { kind: 'terminate', reason: 'the demo is over' } as const;
      await Promise.all(host.driven().map(run => host.act(run, ends, by)));
    },
  });
}

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
