import { expect, it } from 'vitest';
import { gitPrograms } from './git-programs.ts';

it('[B132] names what git runs or takes programs from, in any repository', () => {
  const programs = [
    '.git',
    '.git/config',
    '.git/config.worktree',
    '.git/hooks',
    '.git/hooks/pre-commit',
    '.git/modules/lib/config',
    '.git/modules/lib/hooks/post-checkout',
    'nested/.git/hooks/pre-push',
  ];
  const others = [
    'a.txt',
    '.git/index',
    '.git/objects/12/34',
    '.git/refs/heads/main',
    'config',
    'hooks/x',
    'x.git/config',
  ];
  expect(gitPrograms([...others, ...programs, '.git/config'])).toEqual(programs);
});
