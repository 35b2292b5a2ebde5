import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { signalbox, temporaryFolder } from './program.ts';

const examples = fileURLToPath(new URL('../../../examples/', import.meta.url));
const readme = (name: string) => readFileSync(path.join(examples, name, 'README.md'), 'utf8');

/** What was printed, with what differs from run to run named: and without the line that sums it up. */
function named(stdout: string): string {
  return stdout
    .replace(/^ {2}\d+ tasks? in .*\n( {2}output.*\n)?/m, '')
    .replace(/^( {2}\d+ tasks?) · .*$/m, '$1')
    .replace(/(approve|deny) [0-9a-f-]{36}/g, '$1 <decision>')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<run>');
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
});
