import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AllowedSkip, judgeSkips } from './skip-gate.ts';
import { repositoryRoot } from './source-file.ts';

describe('judgeSkips', () => {
  const reason = 'needs a real Postgres';

  it('lets a listed test be skipped', () => {
    expect(judgeSkips(['a > b'], [{ test: 'a > b', reason }])).toEqual({ failures: [], warnings: [] });
  });

  it('lets all tests of a listed file be skipped, and no others', () => {
    expect(judgeSkips(['a > b', 'a > c > d', 'ab > c'], [{ test: 'a > *', reason }])).toEqual({
      failures: ['skipped and not listed: ab > c'],
      warnings: [],
    });
  });

  it('names a test that is not listed', () => {
    expect(judgeSkips(['a > b', 'a > c'], [{ test: 'a > b', reason }])).toEqual({
      failures: ['skipped and not listed: a > c'],
      warnings: [],
    });
  });

  it('refuses an entry without a reason', () => {
    expect(judgeSkips(['a > b'], [{ test: 'a > b', reason: ' ' }])).toEqual({
      failures: ['listed without a reason: a > b'],
      warnings: [],
    });
  });

  it('mentions an entry that no skipped test has', () => {
    expect(judgeSkips([], [{ test: 'a > b', reason }])).toEqual({
      failures: [],
      warnings: ['listed and not skipped: a > b'],
    });
  });
});

/** A project of its own, run by the real vitest in a process of its own. */
describe('a run', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'skip-gate-'));
    symlinkSync(path.join(repositoryRoot, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
    const gate = path.join(repositoryRoot, 'test/skip-gate.ts');
    write(
      'vitest.config.ts',
      `import { skipGate } from ${JSON.stringify(gate)};
       export default { test: { reporters: ['default', skipGate(${JSON.stringify(path.join(folder, 'allowed.json'))})] } };`,
    );
    write('allowed.json', '[]');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const everyWay = `
    import { describe, expect, it } from 'vitest';
    it('runs', () => expect(1).toBe(1));
    it.skip('by skip', () => {});
    it.todo('by todo');
    it.skipIf(true)('by skipIf', () => {});
    it.runIf(false)('by runIf', () => {});
    it('by context', context => context.skip());
    describe.skip('group', () => { it('inside', () => {}); });
    describe.todo('empty group');
  `;
  const skippedTests = [
    'a.test.ts > by skip',
    'a.test.ts > by todo',
    'a.test.ts > by skipIf',
    'a.test.ts > by runIf',
    'a.test.ts > by context',
    'a.test.ts > group > inside',
    'a.test.ts > empty group',
  ];

  it('with CI=true fails and names each test that was skipped, by whatever way', () => {
    write('a.test.ts', everyWay);
    const run = runVitest('true');
    expect(run.gate).toEqual(skippedTests.map(test => `skip gate: skipped and not listed: ${test}`));
    expect(run.status).toBe(1);
  });

  it('with CI=true passes when all of them are listed with a reason', () => {
    write('a.test.ts', everyWay);
    allow(...skippedTests.map(test => ({ test, reason: 'a fixture' })));
    expect(runVitest('true')).toEqual({ status: 0, gate: [] });
  });

  it('with CI=true fails for an entry without a reason', () => {
    write('a.test.ts', `import { it } from 'vitest'; it.skip('b', () => {});`);
    write('allowed.json', '[{"test": "a.test.ts > b"}]');
    expect(runVitest('true')).toEqual({ status: 1, gate: ['skip gate: listed without a reason: a.test.ts > b'] });
  });

  it('with CI=true passes without a skipped test, and mentions an idle entry', () => {
    write('a.test.ts', `import { it } from 'vitest'; it('b', () => {});`);
    allow({ test: 'a.test.ts > c', reason: 'a fixture' });
    expect(runVitest('true')).toEqual({
      status: 0,
      gate: ['skip gate: warning: listed and not skipped: a.test.ts > c'],
    });
  });

  it('with CI=true fails when the list cannot be read', () => {
    write('a.test.ts', `import { it } from 'vitest'; it('b', () => {});`);
    write('allowed.json', '{}');
    expect(runVitest('true')).toEqual({ status: 1, gate: [] });
  });

  it('without CI passes', () => {
    write('a.test.ts', everyWay);
    expect(runVitest(undefined)).toEqual({ status: 0, gate: [] });
  });

  function write(name: string, text: string): void {
    writeFileSync(path.join(folder, name), text);
  }

  function allow(...entries: readonly AllowedSkip[]): void {
    write('allowed.json', JSON.stringify(entries));
  }

  function runVitest(ci: string | undefined): { readonly status: number | null; readonly gate: readonly string[] } {
    const { CI: _ci, VITEST: _vitest, NODE_OPTIONS: _options, ...env } = process.env;
    const program = path.join(repositoryRoot, 'node_modules/vitest/vitest.mjs');
    const run = spawnSync(process.execPath, [program, 'run', '--root', folder], {
      cwd: folder,
      encoding: 'utf8',
      env: ci === undefined ? env : { ...env, CI: ci },
    });
    const lines = `${run.stdout}\n${run.stderr}`.split('\n');
    return { status: run.status, gate: lines.filter(line => line.startsWith('skip gate: ')) };
  }
});
