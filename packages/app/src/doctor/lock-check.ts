import { type FileLocks, sqliteLocks } from '@signalbox/journal';
import { type Program, startChild } from '../child/child-process.ts';
import { HOLD_LOCK } from '../child/hold-lock.ts';
import { type Check, failed, passed } from './check.ts';

const NAME = 'lock';
const ADVICE = 'Choose a data directory on a local disk, with --data-dir or SIGNALBOX_DATA_DIR.';

/** One writer over all processes, and a dead one blocks nobody: tried with real processes in the directory itself. */
export async function checkLock(directory: string, program: Program, locks: FileLocks = sqliteLocks): Promise<Check> {
  const path = `${directory}/lock`;

  const mine = await locks.acquire(path);
  if (!mine.ok) return failed(NAME, `a lock file does not work there (${describe(mine.error)})`, ADVICE);
  const second = startChild(program, HOLD_LOCK, path);
  const refusal = await second.firstLine;
  await second.kill();
  mine.value.release();
  if (refusal !== 'busy') {
    return failed(NAME, `a second process was not refused while the lock was held (${refusal ?? 'no answer'})`, ADVICE);
  }

  const holder = startChild(program, HOLD_LOCK, path);
  const answer = await holder.firstLine;
  await holder.kill();
  if (answer !== 'held') {
    return failed(NAME, `a second process could not take the free lock (${answer ?? 'no answer'})`, ADVICE);
  }
  const after = await locks.acquire(path);
  if (!after.ok)
    return failed(NAME, `the lock of a killed process was not released (${describe(after.error)})`, ADVICE);
  after.value.release();
  return passed(NAME, 'held against a second process, released when its holder is killed');
}

function describe(refusal: { readonly code: string; readonly reason?: string }): string {
  return refusal.reason ?? refusal.code;
}
