import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ErrorEnvelope, err, ok, type Result } from '@signalbox/model';
import { nodeHostFiles, removeTree } from '@signalbox/state';
import { usageError } from '../command-error.ts';

export interface DemoDirectory {
  readonly path: string;
  /** Removes it, unless it is to be kept. */
  close(): void;
}

/** A temporary directory, or an empty one that is kept. */
export function openDemoDirectory(kept: string | undefined): Result<DemoDirectory, ErrorEnvelope<'command/usage'>> {
  const wanted = kept ?? path.join(tmpdir(), 'signalbox-demo-');
  try {
    if (kept === undefined) {
      const temporary = mkdtempSync(wanted);
      return ok({ path: temporary, close: () => removeTree(nodeHostFiles, temporary) });
    }
    mkdirSync(kept, { recursive: true, mode: 0o700 });
    if (readdirSync(kept).length === 0) return ok({ path: path.resolve(kept), close() {} });
    return err(usageError(`${kept} is not empty.`, 'The demo needs a new or empty directory. Choose another.'));
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    const suggestion = 'Give a writable directory with --dir.';
    return err(usageError(`The demo cannot create or read ${wanted} (${why}).`, suggestion));
  }
}
