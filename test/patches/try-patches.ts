// Applies the patches of this folder in a fresh clone, whole and with one file left out, and compares what the check says with README.md.
//   node test/patches/try-patches.ts [NAME…]
import { execFileSync, spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { repositoryRoot } from '../../scripts/local-program.ts';

const here = import.meta.dirname;
const asked = process.argv.slice(2);
const rows = [...readFileSync(path.join(here, 'README.md'), 'utf8').matchAll(/^\| `(.+)` \| `(.+)` \| `(.+)` \|$/gm)];
const expected = rows.map(([, patch = '', file = '', words = '']) => ({ patch, file, words }));
const names = readdirSync(here).flatMap(file => (file.endsWith('.patch') ? [path.basename(file, '.patch')] : []));

const { FORCE_COLOR: _, SIGNALBOX_FULL: __, ...env } = process.env;
const clone = mkdtempSync(path.join(tmpdir(), 'signalbox-patches-'));
const faults: string[] = [];
try {
  git(repositoryRoot, 'clone', '-q', repositoryRoot, clone);
  linkDependencies();
  for (const name of names.filter(name => asked.length === 0 || asked.includes(name))) tryPatch(name);
} finally {
  rmSync(clone, { recursive: true, force: true });
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;

function tryPatch(name: string): void {
  const whole = checkWith(name);
  tell(name, 'everything', whole.status === 0 ? undefined : `fails:\n${whole.said}`);
  const files = execFileSync('git', ['apply', '--numstat', patchOf(name)], { cwd: clone, encoding: 'utf8' });
  for (const line of files.trimEnd().split('\n')) {
    const file = line.split('\t').at(-1) ?? '';
    const words = expected.find(row => row.patch === name && row.file === file)?.words;
    const { status, said } = checkWith(name, `--exclude=${file}`);
    if (words === undefined) tell(name, file, 'has no row in README.md');
    else if (status === 0) tell(name, file, 'is not missed');
    else tell(name, file, said.includes(words) ? undefined : `is missed, but nothing says ${words}:\n${said}`);
  }
}

/** The output of the check for a patch, or a part of one. Afterwards the clone is restored. */
function checkWith(name: string, ...options: readonly string[]): { readonly status: number; readonly said: string } {
  // Lines around a change may change; what is next to it must not.
  git(clone, 'apply', '-C1', ...options, patchOf(name));
  const ended = spawnSync(process.execPath, ['scripts/check.ts'], {
    cwd: clone,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...env, NO_COLOR: '1' },
  });
  git(clone, 'checkout', '-q', '.');
  git(clone, 'clean', '-fdq');
  return { status: ended.status ?? 1, said: `${ended.stdout}${ended.stderr}` };
}

function tell(patch: string, file: string, fault: string | undefined): void {
  console.log(
    `${fault === undefined ? 'ok    ' : 'FAILED'} ${patch}: ${file === 'everything' ? file : `without ${file}`}`,
  );
  if (fault !== undefined) faults.push(`${patch}: ${file} ${fault}`);
}

/** Packages of others are those of this checkout; the workspace's own are the clone's. */
function linkDependencies(): void {
  const from = path.join(repositoryRoot, 'node_modules');
  const to = path.join(clone, 'node_modules');
  const link = (name: string) => {
    const source = path.join(from, name);
    symlinkSync(lstatSync(source).isSymbolicLink() ? readlinkSync(source) : source, path.join(to, name));
  };
  mkdirSync(path.join(to, '@signalbox'), { recursive: true });
  for (const name of readdirSync(path.join(from, '@signalbox'))) link(`@signalbox/${name}`);
  for (const name of readdirSync(from)) {
    const isOther = name === '.bin' || !name.startsWith('.');
    if (isOther && name !== '@signalbox') link(name);
  }
}

function patchOf(name: string): string {
  return path.join(here, `${name}.patch`);
}

function git(cwd: string, ...args: readonly string[]): void {
  execFileSync('git', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}
