import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { workspacePlaces } from '../workspaces/workspace-place.ts';
import { workingDirectoryFault } from './working-directory.ts';

const folder = temporaryFolder();
const data = path.join(folder, 'real', 'data');
mkdirSync(path.join(data, 'blobs'), { recursive: true });
writeFileSync(path.join(data, 'token'), 'secret');
symlinkSync(path.join(folder, 'real'), path.join(folder, 'link'));
symlinkSync('/', path.join(folder, 'everything'));

describe('the directory of a run', () => {
  it.each(['/', '//', path.join(folder, 'everything')])('[S173] is not %s, which is the whole disk', directory => {
    expect(workingDirectoryFault(directory, data)).toMatchObject({
      code: 'plan/place-refused',
      message: `No run can work in ${directory}: it is the whole disk.`,
    });
  });

  it('[S174] is not in the data directory, by whatever path', () => {
    for (const directory of [data, path.join(data, 'blobs'), path.join(folder, 'link', 'data')]) {
      expect(workingDirectoryFault(directory, path.join(folder, 'link', 'data'))).toMatchObject({
        code: 'plan/place-refused',
      });
    }
    expect(workingDirectoryFault(folder, data)).toBeUndefined();
    expect(workingDirectoryFault(path.join(folder, 'not-there'), data)).toBeUndefined();
  });

  it('[S174] is copied without the data directory, also where that was named by another path', async () => {
    writeFileSync(path.join(folder, 'real', 'mine.txt'), 'mine');
    const places = workspacePlaces(path.join(folder, 'link', 'data'));
    const made = await places.make('0190b5a0-0000-7000-8000-000000000000' as RunId, path.join(folder, 'real'));
    if (!made.ok) throw new Error(made.error.message);
    const at = (name: string) => path.join(made.value.workspace.path, name);
    expect([existsSync(at('mine.txt')), existsSync(at('data')), existsSync(at('data-workspaces'))]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
