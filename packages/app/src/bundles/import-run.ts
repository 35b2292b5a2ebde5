import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import {
  type Digest,
  type ErrorEnvelope,
  type EventId,
  err,
  ok,
  type Result,
  type RunId,
  type SecretFilter,
  timestampOf,
} from '@signalbox/model';
import {
  type Blobs,
  type ImportAsNew,
  importAsNew,
  planFilesOf,
  type RunRestore,
  type RunSource,
  redactRow,
} from '@signalbox/runs';
import type { Machine } from '../machine.ts';
import { checkContainer } from './bundle-container.ts';
import { BundleFault, bundleFailure } from './bundle-failure.ts';
import { readBundle } from './read-bundle.ts';
import { stageRows } from './staged-rows.ts';

export interface RunImport {
  /** The new run. */
  readonly run: RunId;
  readonly runs: number;
  /** What it was where it came from. */
  readonly from: { readonly run: RunId; readonly head: Digest };
  readonly bundle: Digest;
  /** Packages of its plan; whoever goes on with it needs them here. */
  readonly packages: RunSource['packages'];
}

export interface RunImportOptions {
  readonly store: RunRestore & Pick<Blobs, 'put'>;
  readonly dataDirectory: string;
  readonly machine: Machine;
  readonly by: string;
  /** Where its agents work here; else where they worked before. */
  readonly workingDirectory?: string | undefined;
  /** Takes secrets out of rows that were made elsewhere. */
  readonly secrets?: SecretFilter | undefined;
}

/** Files of imports that go on in this process. */
const going = new Set<string>();

/**
 * Brings the run of a bundle here as a new one: with new ids, its events chained anew, and its first event saying where it
 * comes from. All of it is there afterwards, or nothing.
 */
export async function importRun(options: RunImportOptions, file: string): Promise<Result<RunImport, ErrorEnvelope>> {
  const { dataDirectory, machine, store } = options;
  const folder = path.join(dataDirectory, 'imports');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeLeft(folder);
  const staged = path.join(folder, `${machine.ids.mint<RunId>()}.rows`);
  going.add(staged);
  const rows = stageRows(staged);
  try {
    const { digest: bundle } = await checkContainer(file);
    const taken = await takeIn(options, file, bundle, rows.add);
    const kept = store.restore(rows.rows());
    return kept.ok ? ok({ ...taken, runs: kept.value.length, bundle }) : kept;
  } catch (cause) {
    return err(cause instanceof NotKept ? cause.envelope : bundleFailure(file, cause));
  } finally {
    rows.remove();
    going.delete(staged);
  }
}

async function takeIn(
  { store, machine, by, workingDirectory, secrets }: RunImportOptions,
  file: string,
  bundle: Digest,
  keep: ReturnType<typeof stageRows>['add'],
): Promise<Omit<RunImport, 'runs' | 'bundle'>> {
  let news: ImportAsNew | undefined;
  let from: RunImport['from'] | undefined;
  let packages: RunSource['packages'] = [];
  let last: RunId | undefined;
  const run = machine.ids.mint<RunId>();
  const wanted = new Set<Digest>();
  const endRun = () => {
    for (const row of news?.end() ?? []) keep(row);
  };
  const { end } = await readBundle(file, {
    head({ runs }) {
      const [root] = runs;
      if (root === undefined) return;
      news = importAsNew({
        root,
        run,
        bundle,
        at: timestampOf(machine.clock),
        by,
        eventIds: () => machine.ids.mint<EventId>(),
        hasher: nodeHasher,
        workingDirectory,
      });
    },
    row(of, given) {
      const row = secrets === undefined ? given : redactRow(given, secrets, nodeHasher);
      if (of !== last) endRun();
      last = of;
      if (row.part === 'record') {
        from ??= { run: row.row.id, head: row.row.head };
        for (const digest of planFilesOf(row.row)) wanted.add(digest);
        if (row.row.id === from.run) packages = row.row.source?.packages ?? [];
      }
      if (row.part === 'artifacts' && row.row.content === undefined) wanted.add(row.row.digest);
      for (const kept of news?.take(row) ?? []) keep(kept);
    },
    async blob(name, content) {
      const put = await store.put([content]);
      if (!put.ok) throw new NotKept(put.error);
      wanted.delete(name);
    },
  });
  endRun();
  if (end.salvage !== undefined) {
    throw new BundleFault(
      'BUNDLE_INTEGRITY_FAILED',
      `it is what was left of a damaged run (${end.salvage[0]}), to be looked at only`,
    );
  }
  const [missing] = wanted;
  if (missing !== undefined) throw new BundleFault('BUNDLE_MISSING_SNAPSHOT', `it lacks the content ${missing}`);
  if (from === undefined) throw new BundleFault('BUNDLE_INVALID_FORMAT', 'it holds no run');
  return { run, from, packages };
}

/** What a process that was killed left. */
function removeLeft(folder: string): void {
  for (const name of readdirSync(folder)) {
    const left = path.join(folder, name);
    if (name.endsWith('.rows') && !going.has(left)) rmSync(left, { force: true });
  }
}

class NotKept extends Error {
  readonly envelope: ErrorEnvelope;

  constructor(envelope: ErrorEnvelope) {
    super(envelope.message);
    this.envelope = envelope;
  }
}
