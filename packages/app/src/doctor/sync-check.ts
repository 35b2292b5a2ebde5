import { type Disk, DiskError, hostDisk } from '@signalbox/journal';
import { thrownStorageFault } from '@signalbox/store';
import { type Check, failed, passed, warned } from './check.ts';

const NAME = 'fsync';
const ROUNDS = 5;

/** Whether files and directories can be synced there, and how long it takes. */
export function checkSync(
  directory: string,
  disk: Disk = hostDisk,
  milliseconds: () => number = () => performance.now(),
): Check {
  const time = (work: () => void): number => {
    const begun = milliseconds();
    work();
    return milliseconds() - begun;
  };
  const files: number[] = [];
  const directories: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const file = disk.open(`${directory}/sync-${round}`, 'create');
      try {
        file.write(new Uint8Array(4096));
        files.push(time(() => file.sync()));
      } finally {
        file.close();
      }
      directories.push(time(() => disk.syncDirectory(directory)));
    }
  } catch (cause) {
    if (!(cause instanceof DiskError)) throw cause;
    if (thrownStorageFault(cause) === 'full')
      return warned(NAME, 'not tried: the disk is full', 'Free some space, then check again.');
    const advice = 'Without fsync, data does not survive a power cut. Choose a data directory on a local disk.';
    return failed(NAME, cause.message, advice);
  }
  const [file, names] = [files, directories].map(times => `${median(times).toFixed(1)} ms`);
  return passed(NAME, `a file in ${file}, a directory in ${names} (median of ${ROUNDS})`);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
