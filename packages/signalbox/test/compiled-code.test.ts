import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { PATIENCE_MS, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
const script = `
  const { keepCompiledCode } = await import(${JSON.stringify(new URL('../bin/compiled-code.js', import.meta.url).href)});
  keepCompiledCode();
  const { getCompileCacheDir } = await import('node:module');
  console.log(getCompileCacheDir() ?? 'none');
`;

/** Where a process with this home keeps compiled code. */
function keptIn(home: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: path.join(home, 'cache') },
    encoding: 'utf8',
    timeout: PATIENCE_MS,
  });
  return stdout.trim() + stderr;
}

it('compiled code is kept in the cache of the person, for nobody else', () => {
  const home = path.join(folder, 'home');
  mkdirSync(path.join(home, 'Library'), { recursive: true });
  const kept = keptIn(home);
  expect(path.relative(home, kept)).toMatch(/^(cache|Library.Caches).[sS]ignalbox.code/);
  const code = kept.slice(0, kept.indexOf('code') + 'code'.length);
  expect([statSync(code).mode & 0o777, readdirSync(code).length]).toEqual([0o700, 1]);
  chmodSync(code, 0o777);
  expect(keptIn(home)).toBe('none');
});

it('nothing depends on it: where it cannot be kept, the program starts without', () => {
  const home = path.join(folder, 'file');
  writeFileSync(home, '');
  expect(keptIn(home)).toBe('none');
});
