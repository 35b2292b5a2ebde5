import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isProgramStale } from '../../../scripts/staleness.ts';
import { signalbox, temporaryFolder } from './program.ts';

const examples = fileURLToPath(new URL('../../../examples/', import.meta.url));
const readme = (name: string) => readFileSync(path.join(examples, name, 'README.md'), 'utf8');

/** The output, with values that differ from run to run replaced by names, and without the line that sums it up. */
function named(stdout: string): string {
  return stdout
    .replace(/^ {2}\d+ tasks? in .*\n( {2}output.*\n)?/m, '')
    .replace(/^( {2}\d+ tasks?) · .*$/m, '$1')
    .replace(/(approve|deny) [0-9a-f-]{36}/g, '$1 <decision>')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<run>');
}

/** The directory of the example has another name for everybody. */
function placed(cwd: string, stdout: string): string {
  return stdout.replaceAll(path.join(realpathSync(cwd), '08-undo-an-edit'), '<directory>');
}

/** The run that was followed to its end. */
function completed(stdout: string): string {
  return /completed ([0-9a-f-]{36})/.exec(stdout)?.[1] ?? '';
}

/** Runs an example in a place of its own. */
function play(name: string) {
  const cwd = temporaryFolder();
  cpSync(path.join(examples, name), path.join(cwd, name), { recursive: true });
  const call = (...args: readonly string[]) => signalbox(args, { cwd });
  const lines = (...args: readonly string[]) =>
    call(...args, '--json')
      .stdout.trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
  return { cwd, call, run: call('run', path.join(name, 'plan.tsx')), lines };
}

describe('the examples', () => {
  it('[X131] [X132] 07: a plan is run, and a recorded run is replayed, in a test', () => {
    const folder = path.join(examples, '07-replay-in-a-test');
    const cwd = temporaryFolder();
    const replayed = signalbox(['replay', path.join(folder, 'run.bundle'), '--verify'], { cwd });
    expect(replayed).toMatchObject({ status: 0, stderr: '' });
    expect(readme('07-replay-in-a-test')).toContain(replayed.stdout.split('\n')[0]);
    const config = path.join(cwd, 'vitest.config.mjs');
    const [sources, built] = ['../src/', '../dist/'].map(folder => fileURLToPath(new URL(folder, import.meta.url)));
    const alias = isProgramStale()
      ? {
          'signalbox/testing': `${sources}testing.ts`,
          'signalbox/jsx-dev-runtime': fileURLToPath(new URL('../../plan/src/jsx/jsx-dev-runtime.ts', import.meta.url)),
          signalbox: `${sources}index.ts`,
        }
      : {
          'signalbox/testing': `${built}testing.js`,
          'signalbox/jsx-dev-runtime': `${built}jsx-dev-runtime.js`,
          signalbox: `${built}index.js`,
        };
    writeFileSync(
      config,
      `export default { test: { testTimeout: 300_000 }, resolve: { alias: ${JSON.stringify(alias)} } };`,
    );
    const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));
    const tested = spawnSync(process.execPath, [vitest, 'run', '--root', folder, '--config', config], {
      encoding: 'utf8',
    });
    expect([tested.status, tested.stdout]).toEqual([0, expect.stringMatching(/4 passed/)]);
  });

  it('03: a person decides, and the run goes on', () => {
    const { call, run, lines } = play('03-review');
    expect(run).toMatchObject({ status: 3, stderr: '' });
    expect(readme('03-review')).toContain(named(run.stdout));
    const [{ run: id, decision }] = lines('decisions');
    expect(call('approve', decision.id, '--option', 'publish').status).toBe(0);
    const resumed = call('resume', id);
    expect(resumed).toMatchObject({ status: 0, stderr: '' });
    expect(readme('03-review')).toContain(named(resumed.stdout));
  });

  it('04: agents side by side, on a scripted model', () => {
    const { run, lines } = play('04-research');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const sorted = (text: string) => text.split('\n').sort();
    const [shown = ''] = /(?<=```\n)[^`]*/.exec(readme('04-research')) ?? [];
    // Two of them work at once, and either may be first.
    expect(sorted(named(run.stdout))).toEqual(sorted(shown));
    const [{ id }] = lines('ls');
    expect(lines('state', id)[0]).toMatchObject({
      findings: { 'What is a signal box?': { confidence: 1 } },
      report: 'Three questions were asked, and all three have an answer.',
    });
  });

  it('05: an agent repairs a project until its tests pass, and a person keeps it', () => {
    const { cwd, call, run, lines } = play('05-fix-tests');
    expect(run).toMatchObject({ status: 3, stderr: '' });
    const [shown = ''] = /(?<=```\n)[^`]*/.exec(readme('05-fix-tests')) ?? [];
    expect(named(run.stdout)).toContain(shown);
    expect(readFileSync(path.join(cwd, '05-fix-tests/project/slug.js'), 'utf8')).toContain(
      "replace(/[^a-z0-9]+/g, '-')",
    );
    const [{ run: id, decision }] = lines('decisions');
    expect(call('logs', id).stdout).toContain('repair token: Only the first space is replaced.');
    expect(call('approve', decision.id).status).toBe(0);
    expect(call('resume', id)).toMatchObject({ status: 0, stderr: '' });
    expect(lines('state', id)[0]).toMatchObject({ passed: true, approved: true });
  });

  it('06: a rerun with another input goes on from what was gathered, and both can be compared', () => {
    const { call, run, lines } = play('06-fork-and-compare');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(readme('06-fork-and-compare')).toContain(named(run.stdout));
    const id = completed(run.stdout);
    const asked = call('rerun', id, 'write', '--input', '{"style": "sentence"}');
    expect(asked).toMatchObject({ status: 4, stdout: '' });
    const forked = call('rerun', id, 'write', '--input', '{"style": "sentence"}', '--yes');
    expect(forked).toMatchObject({ status: 0, stderr: '' });
    expect(readme('06-fork-and-compare')).toContain(named(forked.stdout));
    const fork = completed(forked.stdout);
    expect(call('show', id).stdout).toContain(`frame 3 → ${fork}  completed`);
    const facts = ['faster start (measured)', 'fewer clicks (measured)', 'a dark theme (measured)'];
    expect(lines('show', fork)[0]).toMatchObject({
      lineage: { parent: { run: id, frame: 3 } },
      run: { output: { facts, notes: `New: ${facts.join(', ')}.` } },
    });
  });

  /** A data directory with stand-ins for the vendors' agents of an example. */
  function standIns(name: string, cwd: string): readonly string[] {
    const data = path.join(cwd, 'agents-data');
    const program = path.join(examples, 'stand-ins.ts');
    const made = spawnSync(process.execPath, [program, path.join(cwd, name, 'agents.json'), data], {
      encoding: 'utf8',
    });
    expect(made).toMatchObject({ status: 0, stderr: '' });
    return ['--data-dir', data];
  }

  it.skipIf(process.platform !== 'linux')('[A801] 10: three agents write, review and test, with one approval', () => {
    const name = '10-three-vendors';
    const cwd = temporaryFolder();
    cpSync(path.join(examples, name), path.join(cwd, name), { recursive: true });
    const data = standIns(name, cwd);
    const call = (...args: readonly string[]) => signalbox([...args, ...data], { cwd });
    const project = (file: string) => path.join(cwd, name, 'project', file);
    const run = call('run', path.join(name, 'plan.tsx'));
    expect([run.status, run.stderr, readFileSync(project('stations.js'), 'utf8')]).toEqual([
      3,
      '',
      expect.not.stringContaining('next'),
    ]);
    expect(readme(name)).toContain(named(run.stdout));
    const [, decision = ''] = /approve (\S+) --option apply-all/.exec(run.stdout) ?? [];
    const [, id = ''] = /waiting (\S+)/.exec(run.stdout) ?? [];
    expect(call('approve', decision, '--option', 'apply-all').status).toBe(0);
    expect(call('resume', id)).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(project('stations.js'), 'utf8')).toContain('export function next(name)');
    expect(readFileSync(project('stations.test.js'), 'utf8')).toContain("next('Paris')");
    const shown = call('show', id).stdout;
    for (const by of ['Claude Code (stand-in)', 'Codex (stand-in)', 'Gemini CLI (stand-in)'])
      expect(shown).toMatch(new RegExp(`succeeded by ${by.replaceAll(/[()]/g, '\\$&')}`));
  });

  it.skipIf(process.platform !== 'linux')(
    '[X63] [X64] 11: two agents are compared, and the one that is chosen is kept',
    () => {
      const name = '11-do';
      const cwd = temporaryFolder();
      cpSync(path.join(examples, name), path.join(cwd, name), { recursive: true });
      const data = standIns(name, cwd);
      const project = path.join(cwd, name, 'project');
      const call = (...args: readonly string[]) => signalbox([...args, ...data], { cwd: project });
      const run = call('do', 'Make the tests pass.', '--with', 'claude,codex', '--check', 'node --test');
      expect([run.status, run.stderr]).toEqual([3, '']);
      const compared = (text: string) =>
        /^agent .*\nclaude .*passed.*\$0\.02.*\ncodex .*exited with 1.*not reported/m.test(text);
      expect([compared(run.stdout), compared(readme(name))]).toEqual([true, true]);
      const [, decision = ''] = /approve (\S+) --option claude\|codex\|none/.exec(run.stdout) ?? [];
      const [, id = ''] = /waiting (\S+)/.exec(run.stdout) ?? [];
      expect(call('approve', decision, '--option', 'claude').status).toBe(0);
      expect(call('resume', id)).toMatchObject({ status: 0, stderr: '' });
      expect(readFileSync(path.join(project, 'slug.js'), 'utf8')).toContain("replace(/[^a-z0-9]+/g, '-')");
    },
  );

  it('[A215] [A216] [A217] [X7] 08: a run is rolled back to an edit, which asks first, and continues in a new run', () => {
    const { cwd, call, run, lines } = play('08-undo-an-edit');
    const id = completed(run.stdout);
    const file = (name: string) => path.join(cwd, '08-undo-an-edit/project', name);
    const notes = () => readFileSync(file('notes.txt'), 'utf8');
    const calls = lines('checkpoints', id).map(({ call: one }) => one);
    expect(call('rollback', id)).toMatchObject({ status: 2, stderr: expect.stringContaining('--to') });
    const shown = readme('08-undo-an-edit').replaceAll('<call>', calls[1]);
    expect(shown).toContain(placed(cwd, call('rollback', id, '--to', calls[1], '--dry-run').stdout));
    expect(call('rollback', id, '--to', calls[1])).toMatchObject({ status: 4, stdout: '' });
    writeFileSync(file('notes.txt'), 'mine');
    expect(call('rollback', id, '--to', calls[1], '--yes')).toMatchObject({
      status: 4,
      stderr: expect.stringContaining('notes.txt'),
    });
    writeFileSync(file('notes.txt'), '');
    const [done] = lines('rollback', id, '--to', calls[1], '--yes', '--paused');
    expect(done).toMatchObject({ calls: [{ call: calls[1] }], paths: [expect.stringContaining('notes.txt')] });
    expect(notes()).toBe('Call Ada about the signals on Monday.\n');
    const resumed = call('rollback', id, '--to', calls[1]);
    expect(resumed).toMatchObject({ status: 0, stdout: expect.stringContaining(`completed ${done.run}`) });
    expect(notes()).toBe('');
    expect(lines('show', done.run)[0]).toMatchObject({ lineage: { parent: { run: id } } });
    const { directory: _, ...same } = done;
    expect(lines('rollback', id, '--to', calls[1])).toEqual([{ ...same, calls: [], paths: [] }]);
    expect(notes()).toBe('');
  });

  it('[X11] 08: one edit of an agent is undone, the other stays', () => {
    const { cwd, call, run, lines } = play('08-undo-an-edit');
    const id = completed(run.stdout);
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const file = (name: string) => path.join(cwd, '08-undo-an-edit/project', name);
    const text = (name: string) => readFileSync(file(name), 'utf8');
    const shown = readme('08-undo-an-edit');
    const listed = call('checkpoints', id)
      .stdout.replace(/[0-9a-f-]{36}\S*/g, '<call>')
      .replace(/\d{4}-\S+Z/g, '<time>');
    expect(shown).toContain(listed);
    const calls = lines('checkpoints', id).map(({ call: one }) => one);
    expect([text('greeting.txt'), text('notes.txt')]).toEqual(['Hello, world\n', '']);
    expect(shown).toContain(placed(cwd, call('undo', id, calls[1], '--dry-run').stdout));
    expect(call('undo', id, calls[1])).toMatchObject({ status: 4, stdout: '' });
    expect(text('notes.txt')).toBe('');
    expect(shown).toContain(placed(cwd, call('undo', id, calls[1], '--yes').stdout));
    expect([text('greeting.txt'), text('notes.txt')]).toEqual([
      'Hello, world\n',
      'Call Ada about the signals on Monday.\n',
    ]);
    writeFileSync(file('greeting.txt'), 'Good morning');
    expect(call('undo', id, calls[0], '--yes')).toMatchObject({
      status: 4,
      stderr: expect.stringContaining('greeting.txt'),
    });
    expect(text('greeting.txt')).toBe('Good morning');
  });
});
