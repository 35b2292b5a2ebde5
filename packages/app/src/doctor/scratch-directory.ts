import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Check, failed, passed } from './check.ts';

const NAME = 'data directory';

/** A place inside the data directory to try things out in. */
export interface ScratchDirectory {
  readonly path: string;
  /** Leaves everything as it was: what was made goes, the data directory too if it was not there before. */
  remove(): void;
}

export interface ScratchAttempt {
  readonly check: Check;
  /** Missing where the data directory cannot be used. */
  readonly scratch?: ScratchDirectory;
}

export function openScratch(dataDir: string): ScratchAttempt {
  let firstMade: string | undefined;
  try {
    firstMade = mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const scratch = mkdtempSync(path.join(dataDir, '.doctor-'));
    const check = checkPrivacy(dataDir, firstMade !== undefined);
    const remove = () => {
      rmSync(scratch, { recursive: true, force: true });
      removeEmpty(dataDir, firstMade);
    };
    return { check, scratch: { path: scratch, remove } };
  } catch (cause) {
    removeEmpty(dataDir, firstMade);
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    const advice = 'Make it yours and writable, or choose another with --data-dir or SIGNALBOX_DATA_DIR.';
    return { check: failed(NAME, `${dataDir} cannot be made or written (${why})`, advice) };
  }
}

function checkPrivacy(dataDir: string, wasMade: boolean): Check {
  const mode = statSync(dataDir).mode & 0o777;
  // Windows has no such bits; a profile's directories are private to it.
  if (process.platform === 'win32' || (mode & 0o077) === 0) {
    return passed(NAME, `${dataDir} ${wasMade ? 'can be made' : 'is there'}, private and writable`);
  }
  return failed(
    NAME,
    `${dataDir} is open to other users (mode ${mode.toString(8).padStart(4, '0')})`,
    `It will hold keys and transcripts. Close it: chmod 700 '${dataDir}'`,
  );
}

/** Removes the directories from `dataDir` up to the first that was made, as long as nobody has put anything there. */
function removeEmpty(dataDir: string, firstMade: string | undefined): void {
  if (firstMade === undefined) return;
  const top = path.resolve(firstMade);
  for (let directory = path.resolve(dataDir); directory.length >= top.length; directory = path.dirname(directory)) {
    try {
      rmdirSync(directory);
    } catch {
      return;
    }
  }
}
