import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type DemoStep, playDemo, verifyDirectory } from '@signalbox/app';
import { describe, expect, it, vi } from 'vitest';
import { childProgram, temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();

async function play(directory: string, program = childProgram) {
  const steps: DemoStep[] = [];
  const outcome = await playDemo({ directory, program, onStep: step => steps.push(step) });
  return { outcome, steps };
}

const plays = new Map<string, ReturnType<typeof play>>();
/** The same, once for each directory. */
function played(directory: string): ReturnType<typeof play> {
  const known = plays.get(directory) ?? play(directory);
  plays.set(directory, known);
  return known;
}

const verdicts = (step: DemoStep | undefined) =>
  step?.lines.flatMap(line => (line.kind === 'verdict' ? [line.report.defect?.code ?? line.report.health] : []));

describe('the demo', () => {
  it('[A12, A16, A36] plays seven steps, and the verifier says of each what it must', async () => {
    const { outcome, steps } = await played(path.join(folder, 'whole'));
    expect(outcome).toMatchObject({ ok: true });
    expect(steps.map(step => [step.ok, verdicts(step)])).toEqual([
      [true, ['healthy']],
      [true, ['healthy']],
      [true, ['healthy']],
      [true, ['segment_digest_mismatch']],
      [true, ['healthy', 'head_mismatch']],
      [true, []],
      [true, []],
    ]);
    const notes = steps[1]?.lines.flatMap(line => (line.kind === 'verdict' ? line.report.notes : []));
    expect(notes).toEqual([
      expect.stringMatching(/^The last \d+ bytes of manifest\.jsonl belong to an append that was cut short/),
      expect.stringMatching(/^1 file\(s\) in events\/ are named by no record/),
    ]);
  });

  it('[A14, A15] leaves the same healthy journal in every directory that it was given', async () => {
    const directories = ['whole', 'two/deep'].map(name => path.join(folder, name));
    const journals = [];
    for (const directory of directories) {
      const { outcome } = await played(directory);
      if (!outcome.ok) throw new Error(outcome.error.message);
      const journal = path.join(directory, outcome.value.journalPath);
      const report = verifyDirectory(journal, { expectHead: outcome.value.head });
      expect(report).toMatchObject({ ok: true, value: { ok: true, events: 14, pins: 2, notes: [] } });
      journals.push({ head: outcome.value.head, files: filesOf(journal) });
    }
    expect(journals[1]).toEqual(journals[0]);
  });

  it('[A15] removes a directory of its own', async () => {
    const temporary = path.join(folder, 'temporary');
    mkdirSync(temporary);
    for (const name of ['TMPDIR', 'TEMP', 'TMP']) vi.stubEnv(name, temporary);
    let inside: readonly string[] = [];
    const onStep = () => {
      inside = readdirSync(temporary);
    };
    const outcome = await playDemo({ program: childProgram, onStep });
    vi.unstubAllEnvs();
    expect(outcome).toMatchObject({ ok: true });
    expect(inside).toEqual([expect.stringMatching(/^signalbox-demo-/)]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('[A15] refuses a directory that is not empty, and touches nothing in it', async () => {
    const directory = path.join(folder, 'full');
    mkdirSync(directory);
    writeFileSync(path.join(directory, 'mine.txt'), 'mine');
    const { outcome, steps } = await play(directory);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'command/usage' } });
    expect(steps).toEqual([]);
    expect(readdirSync(directory)).toEqual(['mine.txt']);
  });

  it('[A15] refuses a directory that cannot be made', async () => {
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    const refused = { ok: false, error: { code: 'command/usage', message: expect.stringContaining('ENOTDIR') } };
    expect((await play(path.join(file, 'below'))).outcome).toMatchObject(refused);
    for (const name of ['TMPDIR', 'TEMP', 'TMP']) vi.stubEnv(name, file);
    const outcome = await playDemo({ program: childProgram, onStep() {} });
    vi.unstubAllEnvs();
    expect(outcome).toMatchObject(refused);
  });

  it('[A13] ends at the first claim that does not hold, and names it', async () => {
    const { outcome, steps } = await play(path.join(folder, 'unkilled'), [process.execPath, '--eval', '0', '--']);
    expect(steps.map(step => step.ok)).toEqual([true, false]);
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'command/unexpected',
        details: { step: 2, broken: ['a second process wrote half of a manifest record, then SIGKILL'] },
      },
    });
  });
});

/** The files of a journal, without its lock: that is SQLite's and is not opened. */
function filesOf(journal: string): Readonly<Record<string, string>> {
  const names = ['manifest.jsonl', ...readdirSync(path.join(journal, 'events')).map(name => `events/${name}`)];
  return Object.fromEntries(names.map(name => [name, readFileSync(path.join(journal, name), 'utf8')]));
}
