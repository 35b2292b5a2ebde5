import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot } from './source-file.ts';

it('the page on the architecture names files that exist', () => {
  const page = readFileSync(path.join(repositoryRoot, 'docs/architecture.md'), 'utf8');
  const named = [...page.matchAll(/`((?:\w+\/)+[\w-]+\.ts)`/g)].map(match => match[1] ?? '');
  expect(named.length).toBeGreaterThan(30);
  const places = (file: string) => {
    const [name = '', ...rest] = file.split('/');
    return [file, path.join('packages', file), path.join('packages', name, 'src', ...rest)];
  };
  const isThere = (file: string) => places(file).some(place => existsSync(path.join(repositoryRoot, place)));
  expect(named.filter(file => !isThere(file))).toEqual([]);
});
