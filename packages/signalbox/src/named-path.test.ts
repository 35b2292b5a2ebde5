import { expect, it } from 'vitest';
import { namedPathError } from './named-path.ts';

function thrown(code: string, file: string): Error {
  return Object.assign(new Error(`${code}: as Node says it, open '${file}'`), { code, path: file, syscall: 'open' });
}

it.each([
  ['EACCES', 'closed/x', 'You have no permission to open closed/x.'],
  ['EPERM', 'closed/x', 'You have no permission to open closed/x.'],
  ['ENOENT', 'gone', 'gone does not exist.'],
  ['ENOTDIR', 'file/x', 'file/x does not exist: one of its directories is a file.'],
  ['EISDIR', 'dir', 'dir is a directory.'],
  ['ELOOP', 'loop', 'loop leads through symbolic links that have no end.'],
  ['ENAMETOOLONG', 'n'.repeat(300), `The name ${'n'.repeat(200)}… is too long.`],
  ['EROFS', 'out', 'out cannot be written: its disk is read-only.'],
  ['ENOSPC', 'out', 'out cannot be written: its disk is full.'],
  ['EDQUOT', 'out', 'out cannot be written: its disk is full.'],
])('[X61] %s of a path from the command line is a usage error that names the path', (code, file, message) => {
  expect(namedPathError(thrown(code, file), ['import', file])).toMatchObject({ code: 'command/usage', message });
});

it('[X61] a path may follow its option after an equals sign, be relative, or lie below the named one', () => {
  const messageOf = (failed: string, argv: readonly string[]) =>
    namedPathError(thrown('EACCES', failed), argv)?.message;
  expect([
    messageOf('trace.json', ['run', 'plan.tsx', '--trace=trace.json']),
    messageOf(`${process.cwd()}/plan.tsx`, ['run', './plan.tsx']),
    messageOf('backup/backup.json', ['restore', 'backup']),
  ]).toEqual([
    'You have no permission to open trace.json.',
    `You have no permission to open ${process.cwd()}/plan.tsx.`,
    'You have no permission to open backup/backup.json.',
  ]);
  expect(namedPathError(thrown('ENOTDIR', 'file/backup.json'), ['restore', 'file'])?.message).toBe(
    'file is not a directory.',
  );
  expect(namedPathError(thrown('ENOENT', ''), ['run', 'plan.tsx', '--trace', ''])?.message).toBe(
    'An empty path names no file.',
  );
});

it('[X61] a path that nobody named, an unknown code and any other value stay unexpected', () => {
  expect([
    namedPathError(thrown('EACCES', '/usr/lib/signalbox/all.js'), ['ls', 'lib']),
    namedPathError(thrown('EACCES', '../elsewhere'), ['import', 'here']),
    namedPathError(thrown('EIO', 'here'), ['import', 'here']),
    namedPathError(new TypeError('no path'), ['import', 'here']),
    namedPathError(undefined, ['import', 'here']),
  ]).toEqual([undefined, undefined, undefined, undefined, undefined]);
});
