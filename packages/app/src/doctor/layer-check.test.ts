import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { err, failure } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { checkLayers } from './layer-check.ts';

describe('the check of layers', () => {
  it('[A211] tries one, leaves nothing behind, and tells what it found', async () => {
    const folder = temporaryFolder();
    for (const name of ['scratch', 'work']) mkdirSync(path.join(folder, name));
    for (const directory of [path.join(folder, 'work'), folder]) {
      const check = await checkLayers(path.join(folder, 'scratch'), directory);
      expect(check).toMatchObject({ name: 'layers', status: expect.stringMatching(/^(ok|warn)$/) });
      await setImmediate();
      await setImmediate();
      expect([readdirSync(path.join(folder, 'scratch')), readdirSync(path.join(folder, 'work'))]).toEqual([[], []]);
    }
  });

  it('[A211] says what follows where there are none', async () => {
    const missing = failure('tool/sandbox-missing', { message: 'bwrap is not installed', suggestion: 'Install it.' });
    expect(await checkLayers('/nowhere', '/nowhere', async () => err(missing))).toMatchObject({
      status: 'warn',
      found: 'bwrap is not installed',
      advice: expect.stringContaining('--kept'),
    });
  });
});
