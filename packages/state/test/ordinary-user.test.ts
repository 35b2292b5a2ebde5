import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from './builders.ts';

const NOBODY = 65534;
const repository = path.resolve(import.meta.dirname, '../../..');

/** Everything in this package's tests, as somebody whom the system refuses things. Root is refused nothing. */
describe('all tests of this package', () => {
  it('[S130] hold for an ordinary user as well: where they run as root, they run again as one', () => {
    if (process.getuid?.() !== 0) {
      expect(process.getuid?.()).toBeGreaterThan(0);
      return;
    }
    const home = temporaryDirectory();
    // Commands see a temporary directory of their own, so some tests need a place that is none.
    const place = path.join(import.meta.dirname, `.ordinary-${process.pid}`);
    fs.mkdirSync(place);
    try {
      for (const own of [home.path, place]) fs.chownSync(own, NOBODY, NOBODY);
      const vitest = path.join(repository, 'node_modules/vitest/vitest.mjs');
      const ended = spawnSync(process.execPath, [vitest, 'run', 'packages/state', '--configLoader', 'native'], {
        cwd: repository,
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
        uid: NOBODY,
        gid: NOBODY,
        env: {
          HOME: home.path,
          TMPDIR: home.path,
          NODE_COMPILE_CACHE: path.join(home.path, 'compiled'),
          PATH: [path.join(repository, 'node_modules/.bin'), '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'].join(':'),
          SIGNALBOX_TEST_PLACE: place,
          ...(process.env.CI && { CI: process.env.CI }),
          ...(process.env.SIGNALBOX_SOAK && { SIGNALBOX_SOAK: process.env.SIGNALBOX_SOAK }),
        },
      });
      expect(ended.status === 0 ? '' : `${ended.stdout}${ended.stderr}`.slice(-20_000)).toBe('');
    } finally {
      fs.rmSync(place, { recursive: true, force: true });
      home.remove();
    }
  });
});
