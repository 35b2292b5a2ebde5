import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { sized } from '../../../test/sized.ts';
import { hasSmallDisks, onSmallDisk } from './support/small-disk.ts';
import { temporaryFolder } from './temporary-folder.ts';

const driver = childScript(import.meta.dirname, 'support', 'full-disk-driver.ts');

describe.skipIf(!hasSmallDisks)('a plan of forty steps on a disk that fills and empties', () => {
  it('[A194] [A196] [A550] ends as if nothing had happened, wherever the disk fills and whenever the process is killed', async () => {
    const home = temporaryFolder();
    const disk = path.join(home, 'disk');
    mkdirSync(disk);
    const told = await onSmallDisk(disk, '8m', [process.execPath, driver, home, disk, String(sized(29, 19, 1))]);
    const [undisturbed, ...cases] = told
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(undisturbed.again).toEqual([]);
    expect(cases.length).toBeGreaterThan(5);
    for (const one of cases) {
      const { at, how } = one;
      const creates = one.shown?.creates === true;
      // A run that is not created yet is not shown; those above it are.
      const runs = { ...(at > 1 && { root: 'paused' }), ...(!creates && { run: 'paused' }) };
      const shown = how === 'through' ? { shown: { storage: 'full', creates, ...runs } } : { wasKilled: true };
      expect(one).toEqual({ at, how, ...shown, ended: true, ...undisturbed });
    }
  });
});
