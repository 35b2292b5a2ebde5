import { describe, expect, it } from 'vitest';
import { seatbeltProfile } from './seatbelt.ts';

const rules = (root: string, refused: readonly string[]) => seatbeltProfile({ root, refused }, '/private').split('\n');
const lastThatNames = (path: string, lines: readonly string[]) =>
  lines.findLastIndex(line => line.includes(`"${path}"`));

describe('the profile for macOS', () => {
  it('[S60] denies writing, then allows it in the root and in the private directory alone', () => {
    const lines = rules('/work', []);
    expect(lines.slice(0, 3)).toEqual(['(version 1)', '(allow default)', '(deny network*)']);
    const denied = lines.indexOf('(deny file-write*)');
    const allowed = lines.indexOf('(allow file-read* file-write* (subpath "/work") (subpath "/private"))');
    expect(denied).toBeGreaterThan(0);
    expect(allowed).toBeGreaterThan(denied);
  });

  it('[S61] what is refused inside the root comes after it, what is around it before', () => {
    const lines = rules('/a/work', ['/a', '/a/work/data']);
    const root = lastThatNames('/a/work', lines);
    expect(lastThatNames('/a/work/data', lines)).toBeGreaterThan(root);
    expect(lastThatNames('/a', lines)).toBeLessThan(root);
  });

  it('[S60] a path cannot close its quotes', () => {
    const [line] = rules('/w")(allow network*)("\\', []).slice(-1);
    expect(line).toBe('(allow file-read* file-write* (subpath "/w\\")(allow network*)(\\"\\\\") (subpath "/private"))');
  });
});
