import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCheckpointStore, createRunCommand, editFile, writeFile } from '../src/index.ts';
import { createTestRunner, createTestState, must, openTestFilesystem, temporaryDirectory, treeOf } from './builders.ts';

/** Git is not touched by undo, confined or not. */
const runCommand = createRunCommand({ unconfined: true });
let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory.remove());

const git = (...args: string[]) =>
  execFileSync('git', ['-C', directory.path, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args]);

describe('the user’s repository', () => {
  it('[S31] HEAD, index, refs, stash, hooks, config and objects are byte-identical after 100 calls', async () => {
    git('init', '-q', '-b', 'main');
    fs.writeFileSync(`${directory.path}/.gitignore`, '.env\n');
    fs.writeFileSync(`${directory.path}/.env`, 'SECRET=1');
    fs.writeFileSync(`${directory.path}/tracked`, 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
    fs.writeFileSync(`${directory.path}/tracked`, 'stashed');
    git('stash', '-q');
    git('branch', 'other');
    git('config', 'core.autocrlf', 'true');
    fs.writeFileSync(`${directory.path}/.git/hooks/pre-commit`, '#!/bin/sh\nexit 1', { mode: 0o755 });
    fs.writeFileSync(`${directory.path}/staged`, 'staged');
    git('add', 'staged');
    fs.writeFileSync(`${directory.path}/untracked`, 'untracked');
    const before = { git: treeOf(`${directory.path}/.git`), all: treeOf(directory.path) };

    const files = openTestFilesystem(directory.path);
    const { state } = createTestState({ files, checkpoints: createCheckpointStore() });
    const runner = createTestRunner(state, { tools: [writeFile, editFile, runCommand] });
    const rounds: readonly [string, unknown, string][] = [
      [
        'run_command',
        { command: ['sh', '-c', 'rm -rf tracked .env untracked; mkdir x; echo y > staged; exit 1'] },
        'failed',
      ],
      ['write_file', { path: 'tracked', content: 'two' }, 'succeeded'],
      ['edit_file', { path: 'tracked', find: 'two', replaceWith: 'one' }, 'succeeded'],
      ['edit_file', { path: 'tracked', find: 'nothing', replaceWith: 'x' }, 'failed'],
    ];
    for (let call = 0; call < 100; call++) {
      const [name, input, status] = rounds[call % rounds.length] ?? rounds[0] ?? ['', {}, ''];
      expect(must(await runner.execute({ id: `${call}`, name, input })).status).toBe(status);
    }

    expect(treeOf(`${directory.path}/.git`)).toEqual(before.git);
    expect(treeOf(directory.path)).toEqual(before.all);
  });

  it('[S24] a command that succeeded can be undone later, and what someone else changed after it cannot', async () => {
    const files = openTestFilesystem(directory.path);
    const { state } = createTestState({ files });
    const runner = createTestRunner(state, { tools: [runCommand] });
    fs.writeFileSync(`${directory.path}/a`, 'one');
    const before = must(await state.snapshot());
    const input = { command: ['sh', '-c', 'echo two > a; echo new > b'] };
    must(await runner.execute({ id: '1', name: 'run_command', input }));
    must(await state.restore(before));
    expect(treeOf(directory.path)).toEqual({ './a': 'file 644 one' });
    must(await runner.execute({ id: '2', name: 'run_command', input }));
    fs.writeFileSync(`${directory.path}/b`, 'by someone else');
    expect(await state.restore(before)).toMatchObject({ ok: false, error: { code: 'state/conflict' } });
    expect(fs.readFileSync(`${directory.path}/a`, 'utf8')).toBe('two\n');
  });

  it('[S23] a failing command that commits is told that .git was changed, and its files are undone', async () => {
    git('init', '-q', '-b', 'main');
    fs.writeFileSync(`${directory.path}/a`, 'one');
    const files = openTestFilesystem(directory.path);
    const runner = createTestRunner(
      createTestState({ files, clock: { now: () => Date.now(), advance: () => {} } }).state,
      {
        tools: [runCommand],
      },
    );
    const script = 'echo two > a; git -c user.name=t -c user.email=t@example.com add a; exit 1';
    const outcome = must(
      await runner.execute({ id: '1', name: 'run_command', input: { command: ['sh', '-c', script] } }),
    );
    expect(outcome).toMatchObject({
      status: 'failed',
      rollback: { kind: 'restored', opaqueChanged: ['.git'], lost: [] },
    });
    expect(fs.readFileSync(`${directory.path}/a`, 'utf8')).toBe('one');
  });
});
