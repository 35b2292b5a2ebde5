import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { manualMachine } from '../../test/support/run-builders.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { openAcceptedRules } from './accepted-rules.ts';

const { clock } = manualMachine();

function place() {
  const folder = temporaryFolder();
  const data = path.join(folder, 'data');
  const write = (rules: object, at = path.join(folder, 'project')) => {
    mkdirSync(path.join(at, '.signalbox'), { recursive: true });
    writeFileSync(path.join(at, '.signalbox/sandbox.json'), JSON.stringify(rules));
    return at;
  };
  return { data, folder, write, rules: openAcceptedRules(data, '/home/ada') };
}

const refused = (message: string) => ({
  ok: false,
  error: {
    code: 'tool/refused',
    message: expect.stringContaining(message),
    suggestion: expect.stringContaining('signalbox sandbox accept'),
  },
});

describe('what a project allows its commands', () => {
  it('[A261] counts once a person accepted it, also in directories below and for the next process', () => {
    const { data, write, rules } = place();
    const project = write({ network: 'host' });
    mkdirSync(path.join(project, 'deep/er'), { recursive: true });
    expect(rules.rulesFor(project)).toMatchObject(refused('has not been accepted'));
    expect(rules.accept(path.join(project, 'deep'), clock)).toMatchObject({ ok: true });
    for (const root of [project, path.join(project, 'deep/er')]) {
      expect(openAcceptedRules(data, '/home/ada').rulesFor(root)).toMatchObject({
        ok: true,
        value: { rules: { network: 'host' } },
      });
    }
    expect(statSync(path.join(data, 'sandbox-accepted.json')).mode & 0o777).toBe(0o600);
  });

  it('[A261] a change refuses commands until it is accepted; the earlier version counts again', () => {
    const { write, rules } = place();
    const project = write({ read: ['~/a'] });
    rules.accept(project, clock);
    write({ read: ['~/a', '~/.ssh'] });
    expect(rules.rulesFor(project)).toMatchObject(refused('has changed since'));
    expect(rules.look(project)).toMatchObject({ value: { state: 'changed' } });
    write({ read: ['~/a'] });
    expect(rules.rulesFor(project)).toMatchObject({ ok: true });
  });

  it('[A261] is accepted for one project: another with the same file is asked about', () => {
    const { folder, data, write, rules } = place();
    rules.accept(write({ network: 'host' }), clock);
    const other = write({ network: 'host' }, path.join(folder, 'other'));
    expect(rules.rulesFor(other)).toMatchObject(refused('has not been accepted'));
    // Files of a run's own are a copy of the project.
    const copy = write({ network: 'host' }, path.join(`${data}-workspaces`, 'run'));
    expect(rules.rulesFor(copy)).toMatchObject({ ok: true, value: { rules: { network: 'host' } } });
    write({ network: 'host', read: ['~'] }, copy);
    expect(rules.rulesFor(copy)).toMatchObject(refused('has changed since'));
  });

  it('[A261] is nothing without a file, and nothing is accepted there', () => {
    const { folder, rules } = place();
    expect(rules.rulesFor(folder)).toEqual({ ok: true, value: undefined });
    expect(rules.accept(folder, clock)).toMatchObject({ ok: false, error: { code: 'command/usage' } });
  });

  it('[A261] what was accepted and cannot be read any more accepts nothing', () => {
    const { data, write, rules } = place();
    const project = write({});
    rules.accept(project, clock);
    const file = path.join(data, 'sandbox-accepted.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ v: 1, accepted: [{ at: expect.any(String) }] });
    writeFileSync(file, '{}');
    expect(rules.rulesFor(project)).toMatchObject(refused('has not been accepted'));
  });
});
