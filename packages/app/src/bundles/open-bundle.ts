import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Bug, type ErrorEnvelope, err, failure, ok, type Result, type RunId, thrownText } from '@signalbox/model';
import { type Archive, diskFault, openArchive, openStore } from '@signalbox/store';
import { BundleFault, bundleFailure, isBundleError } from './bundle-failure.ts';
import { type ReadBundle, readBundle } from './read-bundle.ts';
import { stageRows } from './staged-rows.ts';

/** A bundle that is looked at where it is: its runs under their own ids, in a store that goes away again. */
export interface OpenBundle extends Pick<ReadBundle, 'head' | 'end' | 'digest' | 'bytes'> {
  /** The run that the others are sub-plans of. */
  readonly run: RunId;
  readonly archive: Archive;
  readonly database: string;
  close(): void;
}

/** Opens a bundle without importing it. Every part of it is checked first, as for an import. */
export async function openBundle(file: string): Promise<Result<OpenBundle, ErrorEnvelope>> {
  let folder: string;
  try {
    folder = mkdtempSync(path.join(tmpdir(), 'signalbox-bundle-'));
  } catch (cause) {
    return err(notUnpacked(file, thrownText(cause)));
  }
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const database = path.join(folder, 'db.sqlite');
  try {
    const read = await fill(database, path.join(folder, 'staged.rows'), file);
    const archive = openArchive({ path: database });
    if (!archive.ok) throw new NotUnpacked(archive.error);
    const [run] = read.head.runs;
    if (run === undefined) throw new Bug('a bundle without a run was read');
    return ok({
      ...read,
      run,
      archive: archive.value,
      database,
      close() {
        archive.value.close();
        remove();
      },
    });
  } catch (cause) {
    const isFull = diskFault(folder) === 'full';
    remove();
    if (isFull) return err(notUnpacked(file, 'its disk is full'));
    return err(cause instanceof NotUnpacked ? notUnpacked(file, cause.message) : bundleFailure(file, cause));
  }
}

async function fill(database: string, staged: string, file: string): Promise<ReadBundle> {
  const opened = openStore({ path: database });
  if (!opened.ok) throw new NotUnpacked(opened.error);
  const store = opened.value;
  const rows = stageRows(staged);
  try {
    const read = await readBundle(file, {
      head() {},
      row: (_, row) => rows.add(row),
      async blob(_, content) {
        const put = await store.put([content]);
        if (!put.ok) throw new NotUnpacked(put.error);
      },
    });
    const kept = store.restore(rows.rows());
    if (kept.ok) return read;
    const { code, details } = kept.error;
    if (isBundleError(code)) throw new BundleFault(code, (details as { readonly why: string }).why);
    throw new NotUnpacked(kept.error);
  } finally {
    rows.remove();
    store.close();
  }
}

/** The place in which a bundle is opened, not the bundle, is at fault. */
class NotUnpacked extends Error {
  constructor({ message }: ErrorEnvelope) {
    super(message.replace(/\.$/, ''));
  }
}

function notUnpacked(file: string, why: string): ErrorEnvelope<'STORE_IO_FAILED'> {
  return failure('STORE_IO_FAILED', {
    message: `${file} cannot be unpacked in the temporary directory ${tmpdir()}: ${why}.`,
    suggestion: 'Make room there, or set TMPDIR to another directory.',
    retry: { kind: 'retryable_immediate' },
  });
}
