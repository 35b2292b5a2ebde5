import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { checkedOutCommit } from './checked-out-commit.ts';
import { git } from './git.ts';

const IDENTITY = ['-c', 'user.name=somebody', '-c', 'user.email=somebody@example.com'];

/** The answers for places, which must be those of git. */
async function comparedWithGit(places: readonly string[]): Promise<readonly (string | undefined)[]> {
  const found = await Promise.all(places.map(checkedOutCommit));
  const asked = await Promise.all(places.map(place => git(place, ['rev-parse', '-q', '--verify', 'HEAD'])));
  expect(found).toEqual(asked.map(({ code, out }) => (code === 0 ? out.trim() : undefined)));
  return found;
}

async function repository(): Promise<{ root: string; run(...args: readonly string[]): Promise<void> }> {
  const root = path.join(temporaryFolder(), 'repository');
  mkdirSync(path.join(root, 'inside', 'deeper'), { recursive: true });
  const run = async (...args: readonly string[]) => {
    const { code, said } = await git(root, [...IDENTITY, ...args]);
    if (code !== 0) throw new Error(said);
  };
  await run('init', '-q', '-b', 'main');
  return { root, run };
}

describe('the checked-out commit of a directory', () => {
  it('[A1220] is what git says: on branches, detached, packed, in linked working trees', async () => {
    const { root, run } = await repository();
    const linked = path.join(root, '..', 'linked');
    const places = [root, path.join(root, 'inside', 'deeper')];
    expect(await comparedWithGit(places)).toEqual([undefined, undefined]);
    await run('commit', '-q', '--allow-empty', '-m', 'one');
    const [first] = await comparedWithGit(places);
    expect(first).toMatch(/^[0-9a-f]{40}$/);
    await run('switch', '-q', '-c', 'feature/a+b');
    await run('commit', '-q', '--allow-empty', '-m', 'two');
    const [second] = await comparedWithGit(places);
    expect(second).not.toBe(first);
    await run('worktree', 'add', '-q', linked, 'main');
    expect(await comparedWithGit([linked])).toEqual([first]);
    await run('pack-refs', '--all');
    expect(await comparedWithGit([...places, linked])).toEqual([second, second, first]);
    await run('switch', '-q', '--detach', 'main');
    expect(await comparedWithGit(places)).toEqual([first, first]);
    await run('switch', '-q', '--orphan', 'empty');
    expect(await comparedWithGit(places)).toEqual([undefined, undefined]);
  });

  it('[A1220] is asked of git where a repository is laid out in another way', async () => {
    const { root, run } = await repository();
    await run('commit', '-q', '--allow-empty', '-m', 'one');
    const bare = path.join(root, '..', 'bare.git');
    cpSync(path.join(root, '.git'), bare, { recursive: true });
    await git(bare, ['config', 'core.bare', 'true']);
    const [inBare] = await comparedWithGit([bare, path.join(bare, 'refs')]);
    expect(inBare).toMatch(/^[0-9a-f]{40}$/);
    const other = path.join(root, '..', 'other');
    mkdirSync(other);
    symlinkSync(path.join(root, '.git'), path.join(other, '.git'));
    expect(await comparedWithGit([other])).toEqual([inBare]);
    await run('symbolic-ref', 'HEAD', 'refs/remotes/none');
    expect(await comparedWithGit([root])).toEqual([undefined]);
    rmSync(path.join(root, '.git', 'HEAD'));
    expect(await comparedWithGit([root])).toEqual([undefined]);
  });

  it('[A1220] is undefined outside of repositories and where there is nothing', async () => {
    const folder = temporaryFolder();
    expect(await Promise.all([folder, path.join(folder, 'gone')].map(checkedOutCommit))).toEqual([
      undefined,
      undefined,
    ]);
  });
});
