import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readWorkspace } from './workspace.ts';

const SHA = 'a1b2c3d4'.repeat(5);
let repository: string;
beforeEach(() => {
  repository = mkdtempSync(path.join(tmpdir(), 'workspace-'));
  mkdirSync(path.join(repository, '.git'));
});
afterEach(() => rmSync(repository, { recursive: true, force: true }));

describe('the repository of a workspace', () => {
  const head = () => path.join(repository, '.git/HEAD');
  const elsewhere = () => path.join(repository, 'elsewhere');

  it('[V242] is found through its own files', async () => {
    writeFileSync(head(), `${SHA}\n`);
    expect(await readWorkspace(repository)).toMatchObject({ isRepository: true, headSha: SHA });
  });

  it.each([
    ['a symlink', symlinkSync],
    ['a hard link', linkSync],
  ])('[V242] is not read through %s, which may lead to our own database', async (_, link) => {
    writeFileSync(elsewhere(), `${SHA}\n`);
    link(elsewhere(), head());
    const found = await readWorkspace(repository);
    expect(found).toMatchObject({ isRepository: true });
    expect(found).not.toHaveProperty('headSha');
  });
});
