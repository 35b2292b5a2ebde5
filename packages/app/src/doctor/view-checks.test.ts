import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { manualMachine } from '../../test/support/run-builders.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { openAcceptedRules } from '../sandbox/accepted-rules.ts';
import { checkView } from './view-checks.ts';

describe('what commands may do in a directory', () => {
  const folder = realpathSync(temporaryFolder());
  const data = path.join(folder, 'data');
  const project = path.join(folder, 'project');
  mkdirSync(path.join(project, '.signalbox'), { recursive: true });
  mkdirSync(path.join(folder, 'shared'));
  writeFileSync(path.join(project, '.netrc'), 'x');
  const write = (text: string) => writeFileSync(path.join(project, '.signalbox/sandbox.json'), text);
  const found = () => new Map(checkView(data, project).map(check => [check.name, check]));

  it('[A262] names what they read and change, what is hidden, and the limits', () => {
    const checks = found();
    expect([...checks.keys()]).toEqual(['commands', 'may read', 'toolchains', 'caches', 'hidden', 'limits']);
    expect(checks.get('commands')?.found).toBe(`may change ${project}`);
    expect(checks.get('may read')?.found).toMatch(/\/usr\b/);
    expect(checks.get('hidden')?.found).toContain(path.join(project, '.netrc'));
    expect(checks.get('limits')?.found).toMatch(/^2048 MB memory, 1024 processes, /);
  });

  it('[A262] [A261] names the file of the project with its digest, and what it adds once it is accepted', () => {
    write(JSON.stringify({ read: ['../shared'], env: ['CI'], network: 'host', limits: { memoryMb: 64 } }));
    expect(found().get('sandbox.json')).toMatchObject({
      status: 'warn',
      found: expect.stringMatching(/sandbox\.json \(sha256 [0-9a-f]{12}\) was not accepted$/),
      advice: expect.stringContaining(`signalbox sandbox accept '${project}'`),
    });
    expect(found().get('limits')?.found).toMatch(/^2048 MB/);
    openAcceptedRules(data).accept(project, manualMachine().clock);
    expect(found().get('sandbox.json')).toMatchObject({
      status: 'warn',
      found: expect.stringMatching(/also read .*shared; see the variables CI; use this machine's network/),
    });
    expect(found().get('limits')?.found).toMatch(/^64 MB/);
  });

  it('[A262] says what is wrong with a file that cannot be used', () => {
    write('{"raed": []}');
    expect(checkView(data, project)).toMatchObject([
      { name: 'commands', status: 'fail', found: expect.stringContaining('"raed", which is not a setting') },
    ]);
  });
});
