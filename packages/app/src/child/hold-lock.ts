import { once } from 'node:events';
import { sqliteLocks } from '@signalbox/journal';

export const HOLD_LOCK = 'hold-lock';

/** Takes a lock, prints `held`, and holds it until the input closes; otherwise prints the reason: `busy` or `unusable: …`. */
export async function holdLock([path = '']: readonly string[], print: (line: string) => void): Promise<number> {
  const lock = await sqliteLocks.acquire(path);
  if (!lock.ok) {
    print(lock.error.code === 'busy' ? 'busy' : `unusable: ${lock.error.reason}`);
    return 0;
  }
  print('held');
  await once(process.stdin.resume(), 'end');
  lock.value.release();
  return 0;
}
