import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { hasSmallDisks, onSmallDisk } from './support/small-disk.ts';
import { temporaryFolder } from './temporary-folder.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
const driver = childScript(import.meta.dirname, 'support', 'full-disk-driver.ts');

describe.skipIf(!hasSmallDisks)('a plan of forty steps on a disk that fills and empties', () => {
  it('[A196] ends as if nothing had happened, wherever the disk fills and whenever the process is killed', async () => {
    const home = temporaryFolder();
    const disk = path.join(home, 'disk');
    mkdirSync(disk);
    const told = await onSmallDisk(disk, '8m', [process.execPath, driver, home, disk, String(SOAK ? 1 : 19)]);
    const [undisturbed, ...cases] = told
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(undisturbed.again).toEqual([]);
    expect(cases.length).toBeGreaterThan(5);
    for (const one of cases) {
      const { at, how } = one;
      // Before its first commit there is no run to be shown.
      const run = at === 1 ? {} : { run: 'paused' };
      const shown = how === 'through' ? { shown: { storage: 'full', ...run } } : { wasKilled: true };
      expect(one).toEqual({ at, how, ...shown, ended: true, ...undisturbed });
    }
  });
});
