import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ErrorEnvelope, err, ok, type Result, type RunId } from '@signalbox/model';
import type { Archive } from '@signalbox/store';
import manifest from '../../package.json' with { type: 'json' };
import { exportRun } from '../bundles/export-run.ts';
import { openBundle } from '../bundles/open-bundle.ts';
import { isForeign } from '../host/foreign-plan.ts';
import { keptVersions } from '../host/plan-files.ts';
import { planLost } from '../host/plan-lost.ts';
import { unknownRun } from '../host/run-failures.ts';
import { type Machine, thisMachine } from '../machine.ts';
import { openArchive } from '../repair/lost-database.ts';
import { openSecrets, type SharedSecrets } from '../secrets/open-secrets.ts';
import { inOwnThread } from '../threads/own-thread.ts';
import type { PlanSource } from '../threads/thread-api.ts';
import { type ConfinedOptions, replayConfined } from './confined-replay.ts';
import type { RunReplay } from './replay-job.ts';

/** The result of a verifying replay. */
export interface ReplayVerdict {
  /** Every frame of every run could be verified, and has its recorded hash. */
  readonly ok: boolean;
  readonly run: RunId;
  /** The run, and those of its sub-plans. */
  readonly runs: readonly RunReplay[];
}

export interface ReplayOptions {
  readonly machine: Pick<Machine, 'timers'>;
  /** Ends it early. */
  readonly signal?: AbortSignal | undefined;
  /** A plan's file, instead of the run's stored files. */
  readonly plan?: string | undefined;
  /** That file was found with its links resolved. */
  readonly isPlace?: boolean;
  /** The plan that came with the run may run unconfined. */
  readonly trust?: boolean | undefined;
  /** Finds the sandbox of this machine. */
  readonly detect?: ConfinedOptions['detect'];
}

/** Replays a run of a data directory. Uses no key and no network, and writes nothing. */
export async function verifyRunReplay(
  dataDirectory: string,
  run: RunId,
  options: ReplayOptions,
): Promise<Result<ReplayVerdict, ErrorEnvelope>> {
  const database = path.join(dataDirectory, 'db.sqlite');
  const archive = openArchive({ path: database });
  if (!archive.ok) return archive;
  try {
    let record = await archive.value.run(run);
    while (record?.origin?.kind === 'sub-plan') record = await archive.value.run(record.origin.run);
    const runsForeign = options.trust !== true && options.plan === undefined;
    if (record !== undefined && runsForeign && (await isForeign(archive.value, record))) {
      return await replayForeign(archive.value, dataDirectory, record.id, options);
    }
    const { shared } = openSecrets({ dataDirectory, env: process.env, readOnly: true });
    return await replay(archive.value, database, run, options, shared);
  } finally {
    archive.value.close();
  }
}

/** An imported run is replayed as if it were a bundle. */
async function replayForeign(
  archive: Archive,
  dataDirectory: string,
  run: RunId,
  options: ReplayOptions,
): Promise<Result<ReplayVerdict, ErrorEnvelope>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'signalbox-foreign-'));
  const bundle = path.join(folder, 'run.bundle');
  try {
    const { filter: secrets } = openSecrets({ dataDirectory, env: process.env, readOnly: true });
    const facts = { archive, clock: thisMachine().clock, appVersion: manifest.version, secrets };
    const exported = await exportRun(facts, run, bundle);
    return exported.ok ? await replayConfined(bundle, { ...options, hidden: [dataDirectory] }) : exported;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Replays the run in a bundle, without importing it. Its plan is someone else's code: it runs in a confined process, unless it is trusted
 * or another plan is given.
 */
export async function verifyBundleReplay(
  file: string,
  options: ReplayOptions,
): Promise<Result<ReplayVerdict, ErrorEnvelope>> {
  if (options.trust !== true && options.plan === undefined) return replayConfined(file, options);
  const bundle = await openBundle(file);
  if (!bundle.ok) return bundle;
  try {
    return await replay(bundle.value.archive, bundle.value.database, bundle.value.run, options);
  } finally {
    bundle.value.close();
  }
}

async function replay(
  archive: Archive,
  database: string,
  asked: RunId,
  options: ReplayOptions,
  secrets?: SharedSecrets,
): Promise<Result<ReplayVerdict, ErrorEnvelope>> {
  const record = await archive.run(asked);
  if (record === undefined) return err(unknownRun(asked));
  // The plan of a sub-plan is in the code of its parent run.
  if (record.origin?.kind === 'sub-plan') return replay(archive, database, record.origin.run, options, secrets);
  const { machine, plan, isPlace = false, signal } = options;
  const versions: Result<readonly PlanSource[], ErrorEnvelope> =
    plan === undefined
      ? await keptVersions(archive, record)
      : ok([{ kind: 'file', file: path.resolve(plan), isPlace }]);
  if (!versions.ok) return versions;
  const job = { database, run: record.id, versions: versions.value };
  const replayed = await inOwnThread({ timers: machine.timers, signal, secrets }, threads => threads.replay(job));
  if ('status' in replayed) return err(planLost(plan ?? record.source?.entry ?? record.name, replayed.reason));
  if (!replayed.ok) return replayed;
  const runs = replayed.value;
  const isVerified = (one: RunReplay) => one.difference === undefined && one.verified === one.frames;
  return ok({ ok: runs.every(isVerified), run: record.id, runs });
}
