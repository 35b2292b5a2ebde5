import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Bug, type ErrorEnvelope, err, ok, type Result, type RunId } from '@signalbox/model';
import { type Archive, openArchive, openStore } from '@signalbox/store';
import { bundleFailure } from './bundle-failure.ts';
import { type ReadBundle, readBundle } from './read-bundle.ts';
import { stageRows } from './staged-rows.ts';

/** A bundle opened in place: its runs under their own ids, in a temporary store. */
export interface OpenBundle extends Pick<ReadBundle, 'head' | 'end' | 'digest' | 'bytes'> {
  /** The topmost run. */
  readonly run: RunId;
  readonly archive: Archive;
  readonly database: string;
  close(): void;
}

/** Opens a bundle without importing it. Every part of it is checked first. */
export async function openBundle(file: string): Promise<Result<OpenBundle, ErrorEnvelope>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'signalbox-bundle-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const database = path.join(folder, 'db.sqlite');
  try {
    const filled = await fill(database, path.join(folder, 'staged.rows'), file);
    const archive = filled.ok ? openArchive({ path: database }) : filled;
    if (!filled.ok || !archive.ok) {
      remove();
      return filled.ok ? (archive as Result<never, ErrorEnvelope>) : filled;
    }
    const [run] = filled.value.head.runs;
    if (run === undefined) throw new Bug('a bundle without a run was read');
    return ok({
      ...filled.value,
      run,
      archive: archive.value,
      database,
      close() {
        archive.value.close();
        remove();
      },
    });
  } catch (cause) {
    remove();
    return err(bundleFailure(file, cause));
  }
}

async function fill(database: string, staged: string, file: string): Promise<Result<ReadBundle, ErrorEnvelope>> {
  const opened = openStore({ path: database });
  if (!opened.ok) return opened;
  const store = opened.value;
  const rows = stageRows(staged);
  try {
    const read = await readBundle(file, {
      head() {},
      row: (_, row) => rows.add(row),
      async blob(_, content) {
        await store.put([content]);
      },
    });
    const kept = store.restore(rows.rows());
    return kept.ok ? ok(read) : kept;
  } finally {
    rows.remove();
    store.close();
  }
}
