import { type Disk, hostDisk } from '@signalbox/journal';
import { killThisProcess } from '@signalbox/testkit';
import { openStage } from './stage.ts';

export const TORN_APPEND = 'torn-append';

/** Appends the end of the story and dies in the middle: half of the manifest's record is written when the process is killed. */
export async function tornAppend([home = '']: readonly string[]): Promise<number> {
  const stage = openStage(home, tearingDisk(hostDisk));
  await stage.append(stage.story.repair);
  return 1;
}

function tearingDisk(disk: Disk): Disk {
  return {
    ...disk,
    open(path, mode) {
      const file = disk.open(path, mode);
      if (!path.endsWith('/manifest.jsonl')) return file;
      return {
        ...file,
        write(bytes) {
          file.write(bytes.subarray(0, bytes.length / 2));
          killThisProcess();
        },
      };
    },
  };
}
