import { existsSync } from 'node:fs';
import { diskFault } from '@signalbox/store';
import { type Check, failed } from './check.ts';

const NAME = 'disk';

/** Reports an unwritable disk before everything else fails because of it. */
export function checkDisk(dataDir: string): readonly Check[] {
  switch (existsSync(dataDir) ? diskFault(dataDir) : undefined) {
    case 'full':
      return [failed(NAME, 'the disk of the data directory is full', 'Free some space.')];
    case 'read-only':
      return [failed(NAME, 'the data directory is read-only', 'Make it writable again, or choose another one.')];
    case undefined:
      return [];
  }
}
