import { expect, it } from 'vitest';
import { fileChanges } from './file-changes.ts';

const part = (name: string, line: string) =>
  `diff --git a/${name} b/${name}\nindex 1..2 100644\n--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n${line}\n`;

it('[K71] a patch is split by file, even if one was changed twice', () => {
  const shown = fileChanges(`# a note\n${part('a.txt', '+one')}${part('b.txt', '-two')}${part('a.txt', '+three')}`);
  expect(shown.map(({ path, lines }) => [path, lines.map(({ kind, text }) => [kind, text])])).toEqual([
    [
      'a.txt',
      [
        ['place', '@@ -1 +1 @@'],
        ['added', '+one'],
      ],
    ],
    [
      'b.txt',
      [
        ['place', '@@ -1 +1 @@'],
        ['removed', '-two'],
      ],
    ],
    [
      'a.txt',
      [
        ['place', '@@ -1 +1 @@'],
        ['added', '+three'],
      ],
    ],
  ]);
  expect(fileChanges('')).toEqual([]);
  expect(fileChanges('# not known any more\n')).toEqual([]);
});
