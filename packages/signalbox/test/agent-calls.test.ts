import * as fs from 'node:fs';
import path from 'node:path';
import { type EchoStep, echoAgentProgram, echoPrompt } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { signalbox, temporaryFolder } from './program.ts';

const folder = temporaryFolder();

/** A call that the agent asks about, which adds a line to a file. */
const edit = (file: string, text: string): EchoStep => ({
  ...{ do: 'ask', id: text, kind: 'edit', title: `Edit ${file}`, name: 'Edit', input: { file, text } },
  allowed: [{ do: 'append', file, text }],
});

describe.skipIf(process.platform !== 'linux')('the calls of an agent', () => {
  it('[A830] [A832] [A834] are listed, shown, undone and forked from, one by one', () => {
    const [data, work] = [path.join(folder, 'data'), path.join(folder, 'work')];
    for (const one of [data, work]) fs.mkdirSync(one, { mode: 0o700 });
    const agents = { echo: { command: [process.execPath, echoAgentProgram], title: 'Echo' } };
    fs.writeFileSync(path.join(data, 'config.json'), JSON.stringify({ agents }));
    fs.writeFileSync(path.join(work, 'a.txt'), 'first\n');
    const program = (...args: readonly string[]) => signalbox([...args, '--data-dir', data], { cwd: folder });
    const task = echoPrompt([edit('a.txt', 'one'), edit('b.txt', 'two'), { do: 'say', text: 'Done.' }]);
    expect(program('do', task, '--cwd', work, '--apply', 'auto', '--with', 'echo')).toMatchObject({ status: 0 });
    const [run = ''] = program('ls', '--json')
      .stdout.split('\n')
      .map(line => (JSON.parse(line || '{}') as { id: string }).id);
    const lines = program('checkpoints', run).stdout.trim().split('\n');
    const [one = '', two = '', turn = ''] = lines.map(line => line.split(' ')[0] ?? '');
    expect(lines.map(line => line.split('  ').slice(-2))).toEqual([
      ['Edit', `changed files, in ${turn}`],
      ['Edit', `changed files, in ${turn}`],
      ['agent_turn', 'changed files'],
    ]);
    const planned = program('undo', run, one, '--dry-run', '--diff');
    expect(planned).toMatchObject({ status: 0, stdout: expect.stringContaining(' first\n+one\nWould change:') });
    expect(planned.stdout).not.toContain('b.txt');

    const fork = path.join(folder, 'fork');
    const forked = program('fork', run, '--call', two, '--directory', fork, '--paused');
    expect(forked).toMatchObject({ status: 0 });
    const files = fs.readdirSync(fork, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.txt'));
    expect(files.map(name => [path.basename(name), fs.readFileSync(path.join(fork, name), 'utf8')])).toEqual([
      ['a.txt', 'first\none\n'],
    ]);

    expect(program('undo', run, one, '--yes')).toMatchObject({ status: 0, stdout: expect.stringContaining('a.txt') });
    const content = (file: string) => fs.readFileSync(path.join(work, file), 'utf8');
    expect([content('a.txt'), content('b.txt')]).toEqual(['first\n', 'two\n']);
    expect(program('undo', run, turn, '--yes')).toMatchObject({ status: 0 });
    expect(fs.readdirSync(work)).toEqual(['a.txt']);
    expect(program('undo', run, two, '--yes')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('was undone as a whole'),
    });
  });
});
