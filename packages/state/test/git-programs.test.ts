import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { ok } from '@signalbox/model';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sized } from '../../../test/sized.ts';
import {
  createMemoryContentStore,
  createMemoryUndoLog,
  createPathLocks,
  createRunCommand,
  type GitProgram,
  heldCall,
  recoverPending,
  settleHeldCall,
  writeFile,
} from '../src/index.ts';
import { beginFileTransaction } from '../src/tools/file-transaction.ts';
import {
  clockTicks,
  createTestRunner,
  createTestState,
  createTestTimers,
  must,
  openTestFilesystem,
  temporaryDirectory,
  treeOf,
} from './builders.ts';
import { commandTool, hasLayers, type LayeredPlace, openLayered } from './layered.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let root: string;
let template: ReturnType<typeof temporaryDirectory>;
beforeAll(() => {
  template = temporaryDirectory();
  root = template.path;
  git('init', '-q', '-b', 'main');
  fs.writeFileSync(`${root}/a`, 'one\n');
  git('add', '.');
  git('commit', '-qm', 'first');
});
beforeEach(() => {
  directory = temporaryDirectory();
  root = `${fs.realpathSync(directory.path)}/root`;
  fs.cpSync(template.path, root, { recursive: true });
});
afterEach(() => directory.remove());
afterAll(() => template.remove());

const ME = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
const git = (...args: string[]) => execFileSync('git', ['-C', root, ...ME, ...args], { encoding: 'utf8' });
const AS_ME = `git ${ME.join(' ')}`;

/** What an agent might leave, and what git would do because of it. */
const ATTACKS: readonly (readonly [script: string, program: GitProgram])[] = [
  ['echo x > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit', { path: '.git/hooks/pre-commit', says: 'a hook' }],
  ['git config core.fsmonitor ./evil', { path: '.git/config', says: 'core.fsmonitor = ./evil' }],
  ['git config core.hooksPath hooks', { path: '.git/config', says: 'core.hookspath = hooks' }],
  ['git config core.sshCommand evil', { path: '.git/config', says: 'core.sshcommand = evil' }],
  ['git config diff.external evil', { path: '.git/config', says: 'diff.external = evil' }],
  ['git config filter.x.clean "evil -v"', { path: '.git/config', says: 'filter.x.clean = evil -v' }],
  ['git config alias.status "!evil"', { path: '.git/config', says: 'alias.status = !evil' }],
  ['git config include.path ../evil', { path: '.git/config', says: 'include.path = ../evil' }],
  ['git config remote.origin.url "ext::evil"', { path: '.git/config', says: 'remote.origin.url = ext::evil' }],
  ['git config submodule.x.update "!evil"', { path: '.git/config', says: 'submodule.x.update = !evil' }],
  ['printf "[core]\\n\\tFSMonitor = evil" >> .git/config', { path: '.git/config', says: 'core.fsmonitor = evil' }],
  ['echo "[" >> .git/config', { path: '.git/config', says: 'git configuration that cannot be read' }],
  ['rm .git/config; ln -s ../evil .git/config', { path: '.git/config', says: 'a link to ../evil' }],
  ['rm -r .git/hooks; ln -s ../evil .git/hooks', { path: '.git/hooks', says: 'a link to ../evil' }],
  [
    'printf "[core]\\nfsmonitor=evil" > .git/config.worktree',
    { path: '.git/config.worktree', says: 'core.fsmonitor = evil' },
  ],
  ['echo ../evil > .git/commondir', { path: '.git/commondir', says: 'git reads configuration and hooks of ../evil' }],
  [
    'mkdir -p .git/modules/a/b/hooks; echo x > .git/modules/a/b/hooks/post-checkout',
    { path: '.git/modules/a/b/hooks/post-checkout', says: 'a hook' },
  ],
  ['mkdir -p .git/modules; ln -s ../../evil .git/modules/m', { path: '.git/modules/m', says: 'a link to ../../evil' }],
  [
    'mkdir sub; echo "gitdir: /elsewhere" > sub/.git',
    { path: 'sub/.git', says: 'git uses the repository at /elsewhere' },
  ],
  [
    'mkdir sub evil; echo "gitdir: ../evil" > sub/.git',
    { path: 'sub/.git', says: 'git uses the repository at ../evil' },
  ],
  ['mkdir sub; ln -s ../evil sub/.git', { path: 'sub/.git', says: 'a link to ../evil' }],
  ['git init -q sub; echo x > sub/.git/hooks/pre-push', { path: 'sub/.git/hooks/pre-push', says: 'a hook' }],
  [
    'git init -q --bare deep/bare; git -C deep/bare config core.fsmonitor evil',
    { path: 'deep/bare/config', says: 'core.fsmonitor = evil' },
  ],
  ['git init -q --bare bare; echo x > bare/hooks/update', { path: 'bare/hooks/update', says: 'a hook' }],
  [
    'mkdir -p .git/rebase-merge; echo "exec evil" > .git/rebase-merge/git-rebase-todo',
    { path: '.git/rebase-merge/git-rebase-todo', says: 'runs evil' },
  ],
  [
    'mkdir -p .git/rebase-merge; echo ../x > .git/rebase-merge/strategy',
    { path: '.git/rebase-merge/strategy', says: 'runs git-merge-../x' },
  ],
];

/** What people and agents do with git every day. */
const ORDINARY: readonly string[] = [
  `echo two > a; ${AS_ME} commit -qam two`,
  `git checkout -qb feature/config; echo b > b; git add .; ${AS_ME} commit -qm b; git checkout -q main; git branch -D -q feature/config`,
  'git config user.name Ada; git config user.email ada@example.com; git config pull.rebase true',
  'git remote add origin https://example.com/x.git; git remote set-url origin git@example.com:x.git',
  'git remote add up ../up; git config branch.main.remote origin; git config branch.main.merge refs/heads/main',
  'git init -q new; git clone -q . copy; git init -q --bare new.git',
  'git worktree add -q tree; git stash list; git gc -q',
  `echo z > z; git add z; ${AS_ME} stash -q; git stash pop -q; git tag v1`,
  'rm -f .git/hooks/*.sample; echo x > .git/hooks/new.sample; echo y > .git/info/exclude',
  'mkdir -p config hooks objects refs src/hooks; echo 1 > config/HEAD; echo 2 > hooks/pre-commit; echo 3 > src/hooks/use.ts',
  'echo "*.x filter=lfs" > .gitattributes; echo x > b.x; git add .',
  'echo "[submodule \\"m\\"]" > .gitmodules',
];

describe.skipIf(!hasLayers)('what git would run, changed by a command on a layer', () => {
  let place: LayeredPlace;
  beforeEach(async () => {
    place = await openLayered(fs.realpathSync(directory.path));
  });

  it.each(ATTACKS)('[S300] [S304] waits for a person: %s', async (script, program) => {
    const before = treeOf(root);
    const outcome = await place.run(`echo more > more; ${script}`);
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'tool/conflict' }, rollback: { kind: 'held' } });
    expect(heldCall(place.state, 'call-1')?.programs).toContainEqual(program);
    expect(treeOf(root)).toEqual(before);
    const asked = { state: place.state, locks: place.locks, tool: commandTool, callId: 'call-1' };
    expect(await settleHeldCall({ ...asked, choice: 'apply-all' })).toMatchObject({ ok: false });
    expect(treeOf(root)).toEqual(before);
    expect(await settleHeldCall({ ...asked, choice: 'apply-all', by: 'person' })).toMatchObject({
      value: { status: 'succeeded' },
    });
    expect(fs.readFileSync(`${root}/more`, 'utf8')).toBe('more\n');
  });

  it('[S300] waits for a person where a directory becomes a repository only with the last of several commands', async () => {
    const parts = ['mkdir -p x/objects x/refs', 'printf "[core]\\nfsmonitor = evil" > x/config'];
    for (const part of parts) expect(await place.run(part)).toMatchObject({ status: 'succeeded' });
    expect(await place.run('echo "ref: refs/heads/main" > x/HEAD')).toMatchObject({ rollback: { kind: 'held' } });
    expect(heldCall(place.state, 'call-3')?.programs).toEqual([{ path: 'x/config', says: 'core.fsmonitor = evil' }]);
  });

  it.each(ORDINARY)('[S301] is applied at once where it is ordinary work: %s', async script => {
    expect(await place.run(script)).toMatchObject({ status: 'succeeded' });
    expect(git('fsck', '--no-dangling')).toBe('');
  });

  it('[S301] what was there before is the person’s: touched, copied or left alone it needs nobody', async () => {
    git('config', 'core.pager', 'less -R');
    fs.writeFileSync(`${root}/.git/hooks/pre-commit`, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    const script = `touch .git/hooks/pre-commit; git config user.name Ada; ${AS_ME} commit -q --allow-empty -m x`;
    expect(await place.run(script)).toMatchObject({ status: 'succeeded' });
    expect(await place.run('git config --unset core.pager')).toMatchObject({ rollback: { kind: 'held' } });
    const [program] = heldCall(place.state, 'call-2')?.programs ?? [];
    expect(program).toEqual({ path: '.git/config', says: 'no longer core.pager = less -R' });
  });

  it('[S303] includes ordinary files that the person’s configuration makes git run or read', async () => {
    git('config', 'core.hooksPath', '.husky/_');
    git('config', 'filter.x.clean', './tools/clean --fast');
    git('config', 'include.path', '../team.gitconfig');
    fs.mkdirSync(`${root}/tools`);
    fs.writeFileSync(`${root}/team.gitconfig`, '[user]\n\tname = Team\n');
    for (const [script, path] of [
      ['mkdir .husky; echo evil > .husky/pre-commit', '.husky/pre-commit'],
      ['echo evil > tools/clean', 'tools/clean'],
      ['git config -f team.gitconfig core.fsmonitor evil', 'team.gitconfig'],
    ] as const) {
      const outcome = await place.run(script);
      expect(outcome).toMatchObject({ rollback: { kind: 'held', held: { programs: [{ path }] } } });
    }
    expect(await place.run('git config -f team.gitconfig user.name Ada; echo x > tools/other')).toMatchObject({
      status: 'succeeded',
    });
  });
});

/** Without a sandbox too: a failed call that a person allowed leaves nothing for git to run. */
describe('what git would run, changed in the directory itself', () => {
  const command = createRunCommand({ unconfined: true });
  const open = () => {
    const files = openTestFilesystem(root);
    const { state } = createTestState({ files, clock: { now: () => Date.now(), advance: () => {} } });
    const runner = createTestRunner(state, { tools: [command, writeFile] });
    return async (script: string) =>
      must(await runner.execute({ id: '1', name: 'run_command', input: { command: ['sh', '-c', script] } }));
  };
  /** Everything but what was set aside. */
  const shown = () =>
    Object.fromEntries(Object.entries(treeOf(root)).filter(([path]) => !/\.taken-back|\.sample$/.test(path)));
  const used = () =>
    Object.fromEntries(
      Object.entries(shown()).filter(([path]) => /config|hooks|commondir|modules|todo|strategy/.test(path)),
    );

  it.each(ATTACKS)('[S302] fails the command, and none of it stays: %s', async script => {
    const before = used();
    const outcome = await open()(`echo more > more; ${script}`);
    expect(outcome).toMatchObject({ status: 'failed', rollback: { kind: 'restored' } });
    expect((outcome as { error: { message: string } }).error.message).toContain('what git runs outside of the sandbox');
    expect(fs.existsSync(`${root}/more`)).toBe(false);
    expect(filesOf(used())).toEqual(filesOf(before));
  });

  it.each(sized(some(ATTACKS), ATTACKS, ATTACKS))(
    '[S302] of a command that fails by itself does not stay either: %s',
    async script => {
      const before = used();
      expect(await open()(`${script}; exit 1`)).toMatchObject({ status: 'failed', rollback: { kind: 'restored' } });
      expect(filesOf(used())).toEqual(filesOf(before));
    },
  );

  it('[S302] what it left is set aside, and named', async () => {
    const outcome = await open()('echo evil > .git/hooks/pre-commit; git config core.fsmonitor evil');
    const setAside = ['.git/config.taken-back', '.git/hooks/pre-commit.taken-back'];
    expect(outcome).toMatchObject({ rollback: { setAside } });
    expect(setAside.map(path => /evil/.test(fs.readFileSync(`${root}/${path}`, 'utf8')))).toEqual([true, true]);
    expect(git('config', '--list')).not.toContain('evil');
  });

  it('[S302] is set aside after the process has died, but not what a person does later', async () => {
    const undoLog = createMemoryUndoLog();
    const store = createMemoryContentStore();
    const files = openTestFilesystem(root, { undoLog, store });
    const { state } = createTestState({ files });
    const call = { id: 'c', tool: 'run_command', paths: undefined };
    must(await beginFileTransaction(state, call, createTestTimers()));
    git('config', 'core.fsmonitor', 'evil');
    await files.alive('c');
    for (let tick = 0; tick < 4; tick++) clockTicks(root);
    fs.writeFileSync(`${root}/.git/hooks/post-merge`, 'the person’s');
    const open = (at: string) => ok(openTestFilesystem(at, { undoLog, store }));
    const [recovery] = await recoverPending({ undoLog, locks: createPathLocks(), open });
    expect(recovery?.outcome).toMatchObject({ kind: 'rolled-back', left: ['.git/config.taken-back'] });
    expect(git('config', '--list')).not.toContain('evil');
    expect(fs.existsSync(`${root}/.git/hooks/post-merge`)).toBe(true);
  });

  it.each(sized(some(ORDINARY), ORDINARY, ORDINARY))('[S301] stays where it is ordinary work: %s', async script => {
    expect(await open()(script)).toMatchObject({ status: 'succeeded' });
    expect(git('fsck', '--no-dangling')).toBe('');
  });

  it('[S302] file tools cannot complete a repository with programs', async () => {
    fs.mkdirSync(`${root}/x/objects`, { recursive: true });
    fs.mkdirSync(`${root}/x/refs`);
    fs.writeFileSync(`${root}/x/config`, '[core]\n\tfsmonitor = evil\n');
    const { state } = createTestState({ files: openTestFilesystem(root) });
    const runner = createTestRunner(state, { tools: [writeFile] });
    const write = async (path: string) =>
      must(await runner.execute({ id: path, name: 'write_file', input: { path, content: 'ref: refs/heads/main\n' } }));
    expect(await write('x/HEAD')).toMatchObject({ status: 'failed', rollback: { kind: 'restored' } });
    expect(fs.existsSync(`${root}/x/HEAD`)).toBe(false);
    expect(await write('.git/hooks/pre-commit')).toMatchObject({ status: 'failed' });
    expect(await write('.git')).toMatchObject({ status: 'failed' });
    expect(await write('y/HEAD')).toMatchObject({ status: 'succeeded' });
    git('config', 'core.hooksPath', 'my-hooks');
    expect(await write('my-hooks/pre-commit')).toMatchObject({ status: 'failed', rollback: { kind: 'restored' } });
    expect(fs.existsSync(`${root}/my-hooks/pre-commit`)).toBe(false);
    expect(spawnSync('git', ['-C', root, 'status']).status).toBe(0);
  });
});

/** One of each four. */
function some<T>(all: readonly T[]): readonly T[] {
  return all.filter((_, at) => at % 4 === 0);
}

function filesOf(tree: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).filter(([, node]) => !node.startsWith('directory')));
}
