import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { doctor } from '@signalbox/app';
import { type FileLocks, sqliteLocks } from '@signalbox/journal';
import { err } from '@signalbox/model';
import { memoryLocks } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { checkLock } from '../src/doctor/lock-check.ts';
import { checkGit } from '../src/doctor/version-checks.ts';
import { childProgram, temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const at = (name: string) => path.join(folder, name);

const statusOf = (report: Awaited<ReturnType<typeof doctor>>) =>
  Object.fromEntries(report.checks.map(check => [check.name, check.status]));

describe('the doctor', () => {
  it('[A9, A10, A11] finds a sound machine sound, and leaves no directory that was not there', async () => {
    const dataDir = at('new/deep/data');
    const report = await doctor({ dataDir, program: childProgram });
    expect(report).toMatchObject({ ok: true, dataDirectory: dataDir });
    const view = ['commands', 'may read', 'toolchains', 'caches', 'hidden', 'limits'];
    expect(statusOf(report)).toEqual({
      // The report on commands is only there if they can be confined.
      ...(statusOf(report).sandbox === 'ok' && Object.fromEntries(view.map(name => [name, 'ok']))),
      node: 'ok',
      sqlite: 'ok',
      git: expect.stringMatching(/^(ok|warn)$/),
      sandbox: expect.stringMatching(/^(ok|warn)$/),
      'data directory': 'ok',
      lock: 'ok',
      fsync: 'ok',
      layers: expect.stringMatching(/^(ok|warn)$/),
    });
    expect(existsSync(at('new'))).toBe(false);
  });

  it('[A11] leaves a data directory as it was', async () => {
    const dataDir = at('used');
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(path.join(dataDir, 'db.sqlite'), 'mine');
    expect(await doctor({ dataDir, program: childProgram })).toMatchObject({ ok: true });
    expect(readdirSync(dataDir)).toEqual(['db.sqlite']);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  });

  it('[A9] fails a data directory that others can read', async () => {
    const dataDir = at('open');
    mkdirSync(dataDir);
    writeFileSync(path.join(dataDir, 'token'), '');
    chmodSync(dataDir, 0o755);
    const report = await doctor({ dataDir, program: childProgram });
    expect(report.ok).toBe(false);
    expect(report.checks.find(check => check.name === 'data directory')).toEqual({
      name: 'data directory',
      status: 'fail',
      found: `the data directory ${dataDir} is open to other users (mode 0755)`,
      advice: `It holds transcripts, files and keys. Close it: chmod -R go-rwx '${dataDir}'`,
    });
  });

  it.skipIf(process.platform !== 'linux')('[A9] ends where no directory can be made', async () => {
    const report = await doctor({ dataDir: '/proc/none/data', program: childProgram });
    expect(statusOf(report)).toMatchObject({ 'data directory': 'fail' });
  });

  it('[A9] fails a data directory that cannot be made, and says what it did not try', async () => {
    writeFileSync(at('file'), '');
    const report = await doctor({ dataDir: at('file/data'), program: childProgram });
    expect(report.ok).toBe(false);
    expect(statusOf(report)).toMatchObject({ 'data directory': 'fail', lock: 'warn', fsync: 'warn' });
    expect(report.checks.filter(check => check.status !== 'ok').every(check => check.advice !== undefined)).toBe(true);
  });
});

describe('[A10] the lock', () => {
  it('fails where a second process gets it too', async () => {
    // Locks that hold within this process only.
    expect(await checkLock(folder, childProgram, memoryLocks())).toMatchObject({
      status: 'fail',
      found: 'a second process was not refused while the lock was held (held)',
    });
  });

  it('fails where a process cannot be started', async () => {
    expect(await checkLock(folder, [at('no-such-program')])).toMatchObject({
      status: 'fail',
      found: 'a second process was not refused while the lock was held (no answer)',
    });
  });

  it('fails where a lock file cannot be used', async () => {
    expect(await checkLock(at('no/such/folder'), childProgram)).toMatchObject({
      status: 'fail',
      found: expect.stringMatching(/^a lock file does not work there \(.+\)$/),
    });
  });

  it('fails where the lock of a killed process is never freed', async () => {
    let calls = 0;
    const locks: FileLocks = {
      acquire: async path => (calls++ === 0 ? sqliteLocks.acquire(path) : err({ code: 'busy' })),
    };
    expect(await checkLock(folder, childProgram, locks)).toMatchObject({
      status: 'fail',
      found: 'the lock of a killed process was not released (busy)',
    });
  });
});

describe('[A9] git', () => {
  it('that answers is told by its version', async () => {
    expect(await checkGit(process.execPath)).toEqual({ name: 'git', status: 'ok', found: process.version });
  });

  it('that is missing is a warning that says what will not work', async () => {
    expect(await checkGit('/no-such-program')).toEqual({
      name: 'git',
      status: 'warn',
      found: 'not found',
      advice:
        "Install git in a system directory (/usr/bin, /usr/local/bin). Without it there are no diffs of agents' changes and no worktrees.",
    });
  });
});
