import { existsSync, mkdtempSync, rmdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { dataDirectoryFault } from '../data-directory-fault.ts';
import { makePrivateDirectory } from '../private-directory.ts';
import { type Check, failed, passed } from './check.ts';

const NAME = 'data directory';

/** A place inside the data directory for trials. */
interface ScratchDirectory {
  readonly path: string;
  /** Removes everything that was created, including the data directory if it did not exist before. */
  remove(): void;
}

export interface ScratchAttempt {
  readonly check: Check;
  /** Absent if the data directory cannot be used. */
  readonly scratch?: ScratchDirectory;
}

export function openScratch(dataDir: string): ScratchAttempt {
  const fault = dataDirectoryFault(dataDir);
  // A directory that is open to others can still be tested for locks and syncs.
  if (fault !== undefined && fault.code !== 'store/not-private') {
    return { check: failed(NAME, sentence(fault.message), fault.suggestion) };
  }
  let firstMade: string | undefined;
  try {
    firstMade = existsSync(dataDir) ? undefined : makePrivateDirectory(dataDir);
    const isOpen = process.platform !== 'win32' && (statSync(dataDir).mode & 0o077) !== 0;
    const scratch = mkdtempSync(path.join(dataDir, '.doctor-'));
    const check =
      fault === undefined
        ? passed(
            NAME,
            `${dataDir} ${firstMade === undefined ? 'exists' : 'can be created'}, private${isOpen ? ' once it is used' : ''} and writable`,
          )
        : failed(NAME, sentence(fault.message), fault.suggestion);
    const remove = () => {
      rmSync(scratch, { recursive: true, force: true });
      removeEmpty(dataDir, firstMade);
    };
    return { check, scratch: { path: scratch, remove } };
  } catch (cause) {
    removeEmpty(dataDir, firstMade);
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    const advice = 'Make it writable for yourself, or choose another with --data-dir or SIGNALBOX_DATA_DIR.';
    return { check: failed(NAME, `${dataDir} cannot be created or written (${why})`, advice) };
  }
}

/** An error's sentence, for the doctor's findings. */
function sentence(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, '');
}

/** Removes the directories from `dataDir` up to the first that was created, while they are empty. */
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
