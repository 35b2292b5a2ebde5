import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { signalbox, signalboxForNobody, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
const SEGMENT = 'events/00000004-00000007.jsonl';
let journal = '';
let demo: ReturnType<typeof signalbox>;

const run = (...args: readonly string[]) => signalbox(args, { cwd: folder });

beforeAll(() => {
  demo = run('demo', '--scenes', '--dir', 'tour');
  journal = path.join('tour/runs', readdirSync(path.join(folder, 'tour/runs'))[0] ?? '');
});

/** A copy of the healthy journal, with the bytes of one file changed. */
function damaged(name: string, file: string, change: (text: string) => string): string {
  const copy = path.join(folder, name);
  cpSync(path.join(folder, 'tour'), copy, { recursive: true });
  const changed = path.join(copy, path.relative('tour', journal), file);
  writeFileSync(changed, change(readFileSync(changed, 'utf8')));
  return path.join(name, path.relative('tour', journal));
}

describe('signalbox verify', () => {
  it('finds a good journal good', () => {
    const verified = run('verify', journal);
    expect(verified).toMatchObject({ status: 0, stderr: '' });
    expect(verified.stdout).toMatch(
      /^✓ healthy\n {2}session {3}[0-9a-f-]{36}\n {2}events {4}14\n {2}segments {2}4\n {2}pins {6}2\n {2}head {6}sha256:[0-9a-f]{64}\n$/,
    );
  });

  it('answers programs in JSON', () => {
    const { status, stdout, stderr } = run('verify', journal, '--json');
    expect([status, stderr]).toEqual([0, '']);
    const report = JSON.parse(stdout);
    expect(report).toEqual({
      ok: true,
      health: 'healthy',
      sessionId: path.basename(journal),
      events: 14,
      head: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      segments: 4,
      pins: 2,
      notes: [],
    });
    expect(run('verify', journal, '--expect-head', report.head)).toMatchObject({ status: 0, stderr: '' });
  });

  it('names the first defect of a damaged one, and fails', () => {
    const bad = damaged('flipped', SEGMENT, text => text.replace('"testsFailed":1', '"testsFailed":0'));
    const verified = run('verify', bad);
    expect(verified).toMatchObject({ status: 1, stderr: '' });
    for (const part of [
      '✗ corrupt_tail',
      '4 valid',
      'segment_digest_mismatch',
      `where     ${SEGMENT}`,
      'meaning   A seg',
    ]) {
      expect(verified.stdout).toContain(part);
    }
    const asJson = run('verify', bad, '--json');
    expect(asJson).toMatchObject({ status: 1, stderr: '' });
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      ok: false,
      health: 'corrupt_tail',
      events: 4,
      defect: { code: 'segment_digest_mismatch', file: SEGMENT },
    });
  });

  it('says where in the manifest', () => {
    const bad = damaged('reordered', 'manifest.jsonl', text => text.replace('"manifestIndex":2', '"manifestIndex":3'));
    const verified = run('verify', bad);
    expect(verified).toMatchObject({ status: 1, stderr: '' });
    expect(verified.stdout).toContain('where     manifest.jsonl line 3');
  });

  it('ignores what was never acknowledged, and says so', () => {
    const torn = damaged('torn', 'manifest.jsonl', text => `${text}{"bytes":12`);
    const verified = run('verify', torn);
    expect(verified).toMatchObject({ status: 0, stderr: '' });
    expect(verified.stdout).toContain('note      The last 11 bytes of manifest.jsonl');
  });

  it('fails for the head of another history', () => {
    const verified = run('verify', journal, '--expect-head', `sha256:${'1'.repeat(64)}`);
    expect(verified).toMatchObject({ status: 1, stderr: '' });
    expect(verified.stdout).toContain('head_mismatch');
  });

  it('finds snapshots where it is told to', () => {
    const moved = damaged('moved', 'manifest.jsonl', text => text);
    cpSync(path.join(folder, 'moved/snapshots'), path.join(folder, 'elsewhere'), { recursive: true });
    rmSync(path.join(folder, 'moved/snapshots'), { recursive: true });
    expect(run('verify', moved).stdout).toContain('the 2 pinned snapshots were not checked');
    const verified = run('verify', moved, '--snapshots', 'elsewhere');
    expect(verified).toMatchObject({ status: 0, stdout: expect.not.stringContaining('note') });
  });

  it('says of what is not a journal that it is none', () => {
    mkdirSync(path.join(folder, 'nothing'));
    expect([run('verify', 'missing'), run('verify', 'nothing')]).toEqual(
      [
        'missing is not a journal: there is no such directory.',
        'nothing is not a journal: it has no manifest.jsonl.',
      ].map(message => ({
        status: 1,
        stdout: '',
        stderr: `error: ${message}\nGive the directory that contains manifest.jsonl, such as <data directory>/runs/<run id>.\n`,
      })),
    );
    const asJson = run('verify', 'missing', '--json');
    expect(asJson).toMatchObject({ status: 1, stderr: '' });
    expect(JSON.parse(asJson.stdout)).toEqual({
      code: 'command/not-a-journal',
      message: 'missing is not a journal: there is no such directory.',
      retry: { kind: 'not_retryable' },
      suggestion: 'Give the directory that contains manifest.jsonl, such as <data directory>/runs/<run id>.',
    });
  });

  it('says of garbage that it is damaged', () => {
    mkdirSync(path.join(folder, 'garbage'));
    writeFileSync(path.join(folder, 'garbage/manifest.jsonl'), Buffer.from([0, 255, 10, 27, 10]));
    const verified = run('verify', 'garbage');
    expect(verified).toMatchObject({ status: 1, stderr: '' });
    expect(verified.stdout).toContain('✗ corrupt_head');
  });
});

describe('signalbox doctor', () => {
  it('checks this machine, and leaves no data directory behind', () => {
    const { status, stdout, stderr } = run('doctor', '--json', '--data-dir', 'data/deep');
    expect([status, stderr]).toEqual([0, '']);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ ok: true, dataDirectory: expect.stringMatching(/data\/deep$/) });
    const names = report.checks.map((check: { name: string }) => check.name);
    const isConfined = report.checks.some(
      (check: { name: string; status: string }) => check.name === 'sandbox' && check.status === 'ok',
    );
    expect(names).toEqual([
      'node',
      'sqlite',
      'git',
      'sandbox',
      ...(isConfined ? ['commands', 'may read', 'toolchains', 'caches', 'hidden', 'limits'] : []),
      'data directory',
      'lock',
      'fsync',
      'layers',
    ]);
    expect(readdirSync(folder)).not.toContain('data');
  });

  it('takes the data directory from the environment, and git from the system whatever PATH names', () => {
    const env = { SIGNALBOX_DATA_DIR: path.join(folder, 'from-env'), PATH: folder };
    const { status, stdout, stderr } = signalbox(['doctor'], { cwd: folder, env });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`${folder}/from-env can be created, private and writable`);
    expect(stdout).toMatch(/^✓ git +\d/m);
  });

  it('fails where something that it needs is missing', () => {
    writeFileSync(path.join(folder, 'file'), '');
    const { status, stdout } = run('doctor', '--data-dir', 'file/data');
    expect(status).toBe(1);
    expect(stdout).toMatch(/^✗ data directory/m);
  });
});

describe('signalbox demo', () => {
  it('plays, and says what to try next', () => {
    expect(demo).toMatchObject({ status: 0, stderr: '' });
    expect(demo.stdout.match(/^\d\. .*/gm)).toHaveLength(7);
    expect(demo.stdout).not.toContain('   ✗');
    expect(demo.stdout).toContain(`signalbox verify ${journal}\n`);
    expect(demo.stdout).not.toContain('\u001b');
  });

  it('answers programs with one object a step, and keeps nothing unless it is told to', () => {
    const before = readdirSync(folder);
    const { status, stdout, stderr } = run('demo', '--scenes', '--json');
    expect([status, stderr]).toEqual([0, '']);
    const steps = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(steps.map(({ step, ok }) => [step, ok])).toEqual([1, 2, 3, 4, 5, 6, 7].map(step => [step, true]));
    expect(readdirSync(folder)).toEqual(before);
  });

  it('does not play where something is already', () => {
    const again = run('demo', '--scenes', '--dir', 'tour');
    expect(again).toMatchObject({ status: 2, stdout: '' });
    expect(again.stderr).toMatch(/^error: tour is not empty\.\n/);
  });
});

describe('the program as a process', () => {
  it('answers a wrong command line with 2', () => {
    expect(run('verfy')).toEqual({
      status: 2,
      stdout: '',
      stderr: `error: Unknown command 'verfy'.\nDid you mean verify? See "signalbox --help".\n`,
    });
  });

  it.each([[['--help']], [['demo', '--scenes', '--json']], [['verify', 'nowhere', '--json']]])(
    'does not mind that nobody reads: %j',
    async args => {
      const { status, stderr } = await signalboxForNobody(args, folder);
      expect({ status, stderr }).toEqual({ status: args[0] === 'verify' ? 1 : 0, stderr: '' });
    },
  );
});
