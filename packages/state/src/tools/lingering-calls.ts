import { isWithin, type PathLocks } from '../filesystem/path-locks.ts';

/**
 * Calls that were told to stop and whose handlers still run. Their directories stay locked until they have ended and their
 * changes are undone; a caller that needs one of those directories meanwhile learns why it must wait.
 */
const lingering = new WeakMap<PathLocks, Map<string, Lingering>>();

interface Lingering {
  readonly call: string;
  readonly tool: string;
}

/** The call that holds a directory, or one inside or around it, because its handler does not end. */
export function lingeringIn(locks: PathLocks, path: string): Lingering | undefined {
  for (const [held, call] of lingering.get(locks) ?? []) {
    if (isWithin(held, path) || isWithin(path, held)) return call;
  }
  return undefined;
}

/** Notes that a call lingers until `over` settles. */
export function linger(locks: PathLocks, path: string, call: Lingering, over: Promise<unknown>): void {
  const all = lingering.get(locks) ?? new Map<string, Lingering>();
  lingering.set(locks, all.set(path, call));
  const forget = () => void all.delete(path);
  over.then(forget, forget);
}
