import * as fs from 'node:fs';
import * as path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/builders.ts';
import { viewOf } from './command-view.ts';
import { closedBelow, credentialsIn } from './credentials.ts';
import { NO_RULES } from './sandbox-rules.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let home: string;
let root: string;
beforeEach(() => {
  directory = temporaryDirectory();
  home = `${fs.realpathSync(directory.path)}/home`;
  root = `${home}/work/project`;
  fs.mkdirSync(root, { recursive: true });
});
afterEach(() => directory.remove());

/** Makes files, relative to the home. */
function given(...files: readonly string[]): void {
  for (const file of files) {
    fs.mkdirSync(path.dirname(`${home}/${file}`), { recursive: true });
    fs.writeFileSync(`${home}/${file}`, 'x');
  }
}

function view(options: { root?: string; entries?: readonly string[]; read?: readonly string[] } = {}) {
  const entries = (options.entries ?? []).map(entry => `${home}/${entry}`);
  const env = { HOME: home, PATH: [...entries, '/usr/bin', 'relative', ''].join(':') };
  const rules = { ...NO_RULES, read: [...(options.read ?? [])].map(name => `${home}/${name}`) };
  return viewOf({ root: options.root ?? root, env, rules });
}

/** What is readable or hidden below the home, relative to it. */
const atHome = (paths: readonly string[]) =>
  paths.filter(one => one.startsWith(`${home}/`)).map(one => one.slice(home.length + 1));
const readable = (options?: Parameters<typeof view>[0]) =>
  atHome(view(options).readable.map(place => place.path)).sort();

describe('what a command may read', () => {
  it('[S150] is the system, and of a home only the package caches', () => {
    given('.npm/_cacache/x', '.npm/_logs/x', '.cargo/registry/x', '.cargo/credentials.toml', 'notes/x', '.ssh/id_rsa');
    expect(readable()).toEqual(['.cargo/registry', '.npm/_cacache']);
    expect(view().readable.find(place => place.path === '/usr')).toEqual({ path: '/usr', kind: 'system' });
    expect(view().covered).toContain(home);
  });

  it('[S153] a program on the PATH comes with its installation, and not with what lies beside it', () => {
    given('.nvm/versions/node/v24/bin/node', '.nvm/versions/node/v24/lib/x', '.nvm/versions/node/v22/lib/x');
    given('.local/bin/tool', '.local/share/secret', 'bin/own', 'lib/x', 'go/bin/x', 'go/src/x');
    given('.cargo/bin/cargo', '.cargo/credentials.toml', '.rustup/toolchains/x', '.rustup/settings.toml');
    given('repository/bin/x', 'repository/lib/x', 'repository/.git/config', 'web/node_modules/.bin/x');
    const at = (...entries: string[]) => readable({ entries }).filter(one => !one.startsWith('.rustup'));
    expect(at('.nvm/versions/node/v24/bin')).toEqual(['.nvm/versions/node/v24']);
    expect(at('.local/bin')).toEqual(['.local/bin']);
    expect(at('bin')).toEqual(['bin']);
    expect(at('go/bin')).toEqual(['go/bin']);
    expect(at('repository/bin')).toEqual(['repository/bin']);
    expect(at('web/node_modules/.bin')).toEqual(['web/node_modules']);
    expect(at('.')).toEqual([]);
    expect(readable({ entries: ['.cargo/bin'] })).toEqual([
      '.cargo/bin',
      '.rustup/settings.toml',
      '.rustup/toolchains',
    ]);
  });

  it('[S153] a link on the PATH comes with the installation, or the file, that it leads to', () => {
    given('.local/pipx/venvs/black/bin/black', '.local/pipx/venvs/black/lib/x', 'elsewhere/tool', 'elsewhere/secret');
    given('.local/bin/own');
    fs.symlinkSync(`${home}/.local/pipx/venvs/black/bin/black`, `${home}/.local/bin/black`);
    fs.symlinkSync(`${home}/elsewhere/tool`, `${home}/.local/bin/tool`);
    expect(readable({ entries: ['.local/bin'] })).toEqual(['.local/bin', '.local/pipx/venvs/black', 'elsewhere/tool']);
  });

  it('[S153] the PATH of the command has real directories only', () => {
    given('.nvm/versions/node/v24/bin/node');
    fs.symlinkSync(`${home}/.nvm/versions/node/v24`, `${home}/current`);
    expect(view({ entries: ['current/bin', 'gone'] }).path).toBe(`${home}/.nvm/versions/node/v24/bin:/usr/bin`);
  });

  it('[S151] hides credentials in the root and in what is readable, unless they are named', () => {
    given(
      'work/project/.ssh/id_ed25519',
      'work/project/id_rsa',
      'work/project/.aws/credentials',
      'work/project/.aws/x',
    );
    given('shared/.netrc', 'shared/x', '.docker/config.json');
    fs.writeFileSync(`${root}/.npmrc`, 'registry=https://registry.example\n');
    const hidden = (read: readonly string[]) => atHome(view({ read }).hidden).sort();
    const inRoot = ['work/project/.aws/credentials', 'work/project/.ssh', 'work/project/id_rsa'];
    expect(hidden([])).toEqual(inRoot);
    expect(hidden(['shared', 'work/project/id_rsa'])).toEqual(['shared/.netrc', ...inRoot.slice(0, 2)]);
    fs.appendFileSync(`${root}/.npmrc`, '//registry.example/:_authToken=planted\n');
    expect(hidden([])).toContain('work/project/.npmrc');
  });

  it('[S151] [S152] a root that is the home, or holds it, shows it without its credentials', () => {
    given('.ssh/id_rsa', '.config/gh/hosts.yml', '.bash_history', 'notes', '.aws/config');
    const secrets = ['.aws', '.bash_history', '.config', '.ssh'];
    for (const wide of [home, path.dirname(home)]) {
      const seen = view({ root: wide });
      expect(
        atHome(seen.hidden)
          .filter(one => !one.includes('/'))
          .sort(),
      ).toEqual(secrets);
      expect([seen.covered.includes(home), seen.home]).toEqual([false, undefined]);
    }
    expect(view().home).toBe(home);
  });

  it('[S151] hides in a directory of the system what others may not read', () => {
    given('etc/open', 'etc/shadow', 'etc/ssl/private/key', 'etc/ssl/certs/x');
    fs.chmodSync(`${home}/etc/shadow`, 0o640);
    fs.chmodSync(`${home}/etc/ssl/private`, 0o710);
    expect(atHome(closedBelow(`${home}/etc`)).sort()).toEqual(['etc/shadow', 'etc/ssl/private']);
    // What there was no time to look at is hidden too.
    expect(closedBelow(`${home}/etc`, 0)).toHaveLength(3);
  });

  it('[S151] a link to a credential hides what it leads to', () => {
    given('.config/real-netrc');
    fs.symlinkSync(`${home}/.config/real-netrc`, `${home}/.netrc`);
    expect(atHome(credentialsIn(home, false))).toEqual(['.config/real-netrc']);
  });
});
