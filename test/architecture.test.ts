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

it('a frame is in six files: the phases name no others, and the README of `plan` lists them', () => {
  const read = (file: string) => readFileSync(path.join(repositoryRoot, 'packages/plan', file), 'utf8');
  const [, text = ''] = /To understand a frame, read six files([\s\S]*?)Everything else/.exec(read('README.md')) ?? [];
  const listed = [...text.matchAll(/^\d\. `([\w-]+\.ts)`/gm)].map(match => match[1] ?? '');
  const [phases = ''] = /\/\*\*[\s\S]*?\*\//.exec(read('src/frames/frame.ts')) ?? [];
  const named = new Set([...phases.matchAll(/[\w-]+\.ts/g)].map(match => match[0]));
  expect(listed.toSorted()).toEqual(['frame.ts', ...named].toSorted());
  expect(listed.length).toBe(6);
});
