import { describe, expect, it } from 'vitest';
import type { CommandView } from './command-view.ts';
import { NO_RULES } from './sandbox-rules.ts';
import { seatbeltProfile } from './seatbelt.ts';

/** The text of the profile only: there is no macOS here to try it on. */
const NOTHING: Pick<CommandView, 'readable' | 'writable' | 'hidden'> = { readable: [], writable: [], hidden: [] };
const rules = (
  root: string,
  refused: readonly string[],
  view: Partial<CommandView> = {},
  network: 'none' | 'host' = 'none',
) =>
  seatbeltProfile({ root, refused, rules: { ...NO_RULES, network } }, '/private', { ...NOTHING, ...view }).split('\n');
const lastThatNames = (path: string, lines: readonly string[]) =>
  lines.findLastIndex(line => line.includes(`"${path}"`));

describe('the profile for macOS', () => {
  it('[S60] denies writing, then allows it in the root and in the private directory alone', () => {
    const lines = rules('/work', []);
    expect(lines.slice(0, 3)).toEqual(['(version 1)', '(allow default)', '(deny network*)']);
    const denied = lines.indexOf('(deny file-read* file-write*)');
    expect(denied).toBeGreaterThan(0);
    const allowed = lines.slice(denied).filter(line => line.includes('file-write*') && line.startsWith('(allow'));
    expect(allowed).toEqual([
      '(allow file-write* (subpath "/dev/fd") (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))',
      '(allow file-read* file-write* (subpath "/work"))',
      '(allow file-read* file-write* (subpath "/private"))',
    ]);
  });

  it('[S61] what is refused inside the root comes after it, what is around it before', () => {
    const lines = rules('/a/work', ['/a', '/a/work/data']);
    const root = lastThatNames('/a/work', lines);
    expect(lastThatNames('/a/work/data', lines)).toBeGreaterThan(root);
    expect(lastThatNames('/a', lines)).toBeLessThan(root);
  });

  it('[S60] a path cannot close its quotes', () => {
    const lines = rules('/w")(allow network*)("\\', []);
    expect(lines).toContain('(allow file-read* file-write* (subpath "/w\\")(allow network*)(\\"\\\\"))');
  });

  it('[S159] allows reading what is named and no more, hides credentials in it, and opens what is named inside them', () => {
    const lines = rules('/Users/ada/work', ['/Users/ada/data'], {
      readable: [
        { path: '/usr', kind: 'system' },
        { path: '/Users/ada/.cargo/bin', kind: 'toolchain' },
        { path: '/Users/ada/.ssh/known_hosts', kind: 'sandbox.json' },
      ],
      writable: ['/Users/ada/shared'],
      hidden: ['/Users/ada/.ssh', '/Users/ada/work/.netrc'],
    });
    expect(lines.slice(lines.indexOf('(deny file-read* file-write*)') + 4)).toEqual([
      '(allow file-read* (subpath "/usr"))',
      '(allow file-read* file-write* (subpath "/private"))',
      '(allow file-read* file-write* (subpath "/Users/ada/work"))',
      '(allow file-read* file-write* (subpath "/Users/ada/shared"))',
      '(deny file-read* file-write* (subpath "/Users/ada/.ssh"))',
      '(deny file-read* file-write* (subpath "/Users/ada/data"))',
      '(allow file-read* (subpath "/Users/ada/.cargo/bin"))',
      '(allow file-read* (subpath "/Users/ada/.ssh/known_hosts"))',
      '(deny file-read* file-write* (subpath "/Users/ada/work/.netrc"))',
    ]);
  });

  it('[S159] with the network of the machine there is still no socket of a service', () => {
    expect(rules('/work', [], {}, 'host')[2]).toBe('(deny network-outbound (remote unix-socket))');
  });
});
