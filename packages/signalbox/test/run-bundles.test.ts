import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { signalbox, temporaryFolder } from './program.ts';

const history = fileURLToPath(new URL('../../../spec/histories/people.bundle', import.meta.url));

it('[A66] [X12] a run moves and is checked from the command line, and the exit code says what was found', () => {
  const cwd = temporaryFolder();
  const call = (...args: readonly string[]) => signalbox(args, { cwd });
  const imported = call('import', history, '--json');
  expect(imported).toMatchObject({ status: 0, stderr: '' });
  const { run } = JSON.parse(imported.stdout);

  const file = path.join(cwd, 'again.bundle');
  expect(call('export', run, '-o', file)).toMatchObject({ status: 0, stderr: '' });
  const verified = call('verify', run, '--json');
  expect([verified.status, JSON.parse(verified.stdout)]).toEqual([0, expect.objectContaining({ ok: true, run })]);
  expect(call('verify', file).status).toBe(0);
  const replayed = call('replay', file, '--verify', '--json');
  expect([replayed.status, JSON.parse(replayed.stdout)]).toEqual([0, expect.objectContaining({ ok: true, run })]);

  const other = path.join(cwd, 'other.tsx');
  const plan = readFileSync(new URL('../../../spec/histories/plans/people.tsx', import.meta.url), 'utf8');
  writeFileSync(other, plan.replace('Go on?', 'Shall I?'));
  const differing = call('replay', run, '--verify', '--plan', other);
  expect(differing.status).toBe(1);
  expect(differing.stdout).toMatch(/frame 0 of run .*\n {2}where {5}.*other\.tsx:\d+:\d+/);
  expect(differing.stdout).toContain('Shall I?');

  const bytes = readFileSync(file);
  bytes[200] = (bytes[200] ?? 0) ^ 4;
  writeFileSync(file, bytes);
  expect(call('verify', file)).toMatchObject({ status: 1, stderr: expect.stringContaining('is not a valid bundle') });
});
