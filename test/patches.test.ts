import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot } from './source-file.ts';

const patches = globSync(path.join(repositoryRoot, 'test/patches/*.patch'));
const isCheckout = existsSync(path.join(repositoryRoot, '.git'));

it.skipIf(!isCheckout).each(patches.map(file => path.basename(file)))(
  'the change %s applies; a full run tries what the check says to it',
  name => {
    const file = path.join('test/patches', name);
    // Lines around a change may change; what is next to it must not. The clone in which a change is tried has it in its files only.
    expect(() =>
      execFileSync('git', ['apply', '--check', '--cached', '-C1', file], { cwd: repositoryRoot, stdio: 'pipe' }),
    ).not.toThrow();
  },
);
