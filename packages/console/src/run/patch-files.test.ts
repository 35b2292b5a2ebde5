import { describe, expect, it } from 'vitest';
import { patchFiles } from './patch-files.ts';

describe('a patch', () => {
  it('[K35] is split by file, including added and removed ones', () => {
    const patch = [
      'diff --git a/a.md b/a.md',
      'index 1..2 100644',
      '--- a/a.md',
      '+++ b/a.md',
      '@@ -1,2 +1,2 @@',
      ' same',
      '-old',
      '+--- new',
      'diff --git a/gone b/gone',
      'deleted file mode 100644',
      '--- a/gone',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-x',
      'diff --git a/b.md b/b.md',
      '--- /dev/null',
      '+++ b/b.md',
      '@@ -0,0 +1 @@',
      '+y',
      '\\ No newline at end of file',
      'created directory: c',
      '',
    ].join('\n');
    expect([...patchFiles(patch)].map(([name, lines]) => [name, lines.map(({ kind }) => kind)])).toEqual([
      ['a.md', ['place', 'same', 'removed', 'added']],
      ['gone', ['place', 'removed']],
      ['b.md', ['place', 'added', 'same']],
    ]);
    expect(patchFiles('').size).toBe(0);
  });
});
