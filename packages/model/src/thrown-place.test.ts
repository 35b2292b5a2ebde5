import { describe, expect, it } from 'vitest';
import { codeFrame, DEFAULT_EDITOR_URL, editorUrl } from './thrown-place.ts';

const place = { file: '/home/a b/plan.tsx', line: 10, column: 5 };

describe('a place in a file', () => {
  it('[X130] is shown with the lines around it, numbered and marked', () => {
    const code = { from: 8, text: 'one\ntwo\n\tthree\nfour' };
    expect(codeFrame({ ...place, column: 2, code })).toEqual([
      '   8 | one',
      '   9 | two',
      '> 10 | \tthree',
      '     | \t^',
      '  11 | four',
    ]);
    expect(codeFrame(place)).toEqual([]);
  });

  it('[A1001] is opened by an address with the path escaped', () => {
    expect(editorUrl(DEFAULT_EDITOR_URL, place)).toBe('vscode://file/home/a%20b/plan.tsx:10:5');
    expect(editorUrl(DEFAULT_EDITOR_URL, { ...place, file: 'C:\\a\\b.tsx' })).toBe('vscode://file/C:/a/b.tsx:10:5');
    expect(editorUrl('idea://open?file={file}&line={line}', place)).toBe(
      'idea://open?file=/home/a%20b/plan.tsx&line=10',
    );
  });
});
