import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import {
  type Digest,
  type ErrorEnvelope,
  err,
  ok,
  type Result,
  type RunId,
  type SecretFilter,
  timestampOf,
} from '@signalbox/model';
import {
  type ArchiveRow,
  type Blobs,
  importAsNew,
  openForeignRecord,
  type RunRestore,
  type RunSource,
  redactBody,
} from '@signalbox/runs';
import type { Machine } from '../machine.ts';
import { BundleFault, bundleFailure } from './bundle-failure.ts';
import { readBundle } from './read-bundle.ts';
import { stageRows } from './staged-rows.ts';
import { type BundledRun, checkBundle } from './verify-bundle.ts';

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
 * Brings the run of a bundle here as a new one: with new ids, its records sealed again, the first and the last of them saying where
 * it comes from. Everything is checked before anything is kept; all of it is there afterwards, or nothing.
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
    const checked = await checkBundle(file);
    if (!checked.ok) return checked;
    const { bundle, salvage, runs } = checked.value;
    const [root] = runs;
    if (root === undefined) throw new BundleFault('BUNDLE_INVALID_FORMAT', 'it contains no run');
    if (salvage !== undefined) {
      throw new BundleFault(
        'BUNDLE_INTEGRITY_FAILED',
        `it is the valid part of a damaged run (${salvage[0]}), which can only be viewed`,
      );
    }
    const read = await readBundle(file, {
      head() {},
      row: (_, row) => rows.add(row),
      async blob(_, content) {
        const put = await store.put([content]);
        if (!put.ok) throw new NotKept(put.error);
      },
    });
    if (read.digest !== bundle) throw new BundleFault('BUNDLE_INTEGRITY_FAILED', 'it changed while it was being read');
    const run = machine.ids.mint<RunId>();
    const packages: { last: RunSource['packages'] } = { last: [] };
    const kept = store.restore(newRows(options, rows.rows(), { root, run, bundle, packages }));
    if (!kept.ok) return kept;
    const from = { run: root.id, head: root.head };
    return ok({ run, from, packages: packages.last, runs: kept.value.length, bundle });
  } catch (cause) {
    return err(cause instanceof NotKept ? cause.envelope : bundleFailure(file, cause));
  } finally {
    rows.remove();
    going.delete(staged);
  }
}

/** The rows of the new runs. Those of a run end with a record of the import. */
function* newRows(
  { store, machine, by, workingDirectory, secrets }: RunImportOptions,
  rows: Iterable<ArchiveRow>,
  import_: {
    readonly root: BundledRun;
    readonly run: RunId;
    readonly bundle: Digest;
    /** Those of the run's last plan, once its records went by. */
    readonly packages: { last: RunSource['packages'] };
  },
): Generator<ArchiveRow> {
  const { root, run, bundle, packages } = import_;
  const news = importAsNew({
    root: root.id,
    head: root.head,
    run,
    bundle,
    at: timestampOf(machine.clock),
    by,
    seal: { hasher: nodeHasher, salt: randomSalt, putText: store.texts.putText },
    workingDirectory,
  });
  let open: { readonly log: RunId; hash: Digest } | undefined;
  for (const { part, row } of rows) {
    if (part === 'deltas') {
      yield { part, row: news.delta(secrets === undefined ? row : secrets.data(row)) };
      continue;
    }
    const opened = openForeignRecord(row, nodeHasher, store.texts.textOf);
    if (!opened.ok) throw new BundleFault('BUNDLE_INTEGRITY_FAILED', opened.error);
    const { header, body: given } = opened.value;
    if (header.n === 0 && open !== undefined) yield { part, row: news.end(open.hash) };
    const body = secrets === undefined ? given : redactBody(given, secrets, nodeHasher);
    const source = body.run?.kind === 'create' ? body.run.run.source : body.run?.change.source;
    if (header.log === root.id && source !== undefined) packages.last = source.packages;
    yield { part, row: news.take({ header, body }) };
    open = { log: header.log, hash: row.hash };
  }
  if (open !== undefined) yield { part: 'records', row: news.end(open.hash) };
}

function randomSalt(): string {
  return randomBytes(12).toString('base64url');
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
