import * as fs from 'node:fs';
import path from 'node:path';
import { type EchoStep, echoAgentProgram, echoPrompt } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { main } from '../src/main.ts';
import { memoryScreen } from './memory-screen.ts';
import { memoryTerminal } from './memory-terminal.ts';
import { temporaryFolder } from './program.ts';

const folder = temporaryFolder();

/** Two agents that do the same task, each its own way: the variable says which of them it is. */
function given() {
  const place = fs.mkdtempSync(path.join(folder, 'several-'));
  const [data, work] = [path.join(place, 'data'), path.join(place, 'work')];
  for (const one of [data, work]) fs.mkdirSync(one, { mode: 0o700 });
  const agent = (name: string) => ({
    command: [process.execPath, echoAgentProgram],
    title: `Agent ${name}`,
    settings: { [name.toUpperCase()]: '1' },
  });
  const agents = { ada: agent('ada'), bob: agent('bob'), gone: { command: ['/no/such/agent'] } };
  fs.writeFileSync(path.join(data, 'config.json'), JSON.stringify({ agents }));
  fs.writeFileSync(path.join(work, 'a.txt'), 'first\n');
  const args = (task: string, ...more: readonly string[]) => ['do', task, '--cwd', work, '--data-dir', data, ...more];
  const files = () =>
    Object.fromEntries(fs.readdirSync(work).map(name => [name, fs.readFileSync(path.join(work, name), 'utf8')]));
  return { data, work, args, files };
}

const only = (variable: string, ...steps: readonly EchoStep[]): EchoStep => ({ do: 'when', variable, steps });
const append = (text: string): EchoStep => ({ do: 'append', file: 'a.txt', text });
const command: EchoStep = {
  ...{ do: 'ask', id: 'c', kind: 'execute', title: 'Run a command', input: { command: 'x' } },
  allowed: [append('allowed')],
};
const both = echoPrompt([
  only('ADA', { do: 'say', text: 'Ada edits.\n' }, append('ada'), {
    do: 'tokens',
    inputTokens: 1200,
    outputTokens: 34,
  }),
  only('BOB', { do: 'say', text: 'Bob edits.\n' }, append('bob'), append('more'), { do: 'cost', amount: 0.5 }),
]);

async function said(args: readonly string[], answers: readonly string[] = [], width?: number) {
  const left = [...answers];
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return left.shift();
  };
  const { screen, state } = memoryScreen();
  if (width !== undefined) state.width = width;
  const own = memoryTerminal();
  const terminal = { ...own, ...(answers.length > 0 && { ask }), ...(width !== undefined && { screen }) };
  const code = await main(args, terminal);
  return { code, questions, out: own.printed.join('\n'), complaints: own.complaints.join('\n') };
}

describe.skipIf(process.platform !== 'linux')('do with several agents', () => {
  it('[X63] runs them side by side, compares them, and the person keeps one', async () => {
    const { args, files } = given();
    const { code, questions, out } = await said(args(both, '--with', 'ada,bob', '--check', 'grep -q bob a.txt'), ['2']);
    expect([code, questions]).toEqual([0, ['[1] Keep ada (Agent ada)  [2] Keep bob (Agent bob)  [3] Keep none: ']]);
    expect(files()).toEqual({ 'a.txt': 'first\nbob\nmore\n' });
    for (const part of [
      'ada │ Ada edits.\n',
      'bob │ Bob edits.\n',
      'bob │ • Check: grep -q bob a.txt\n',
      '\n+ada\n',
      '\n+more\n',
    ])
      expect(`\n${out}`).toContain(part);
    expect(out).toMatch(/^agent {2}files {2}lines {2}check {10}tokens {8}cost {10}time$/m);
    expect(out).toMatch(/^ada {4}1 {6}\+1 -0 {2}exited with 1 {2}1,234 {9}not reported {2}\d/m);
    expect(out).toMatch(/^bob {4}1 {6}\+2 -0 {2}passed {9}not reported {2}\$0\.50 {9}\d/m);
    expect(out).toContain('Kept the changes of bob. Dropped ada.\n');
  });

  it('[X63] names the agent that asks, tells them apart on a narrow terminal, and keeps none', async () => {
    const { args, files } = given();
    const task = echoPrompt([{ do: 'say', text: 'I try a long line of words.\n' }, command]);
    const answers = ['y', 'no, not this', 'none'];
    const { code, questions, out } = await said(args(task, '--with', 'ada,ada'), answers, 30);
    expect(questions.slice(0, 2).toSorted()).toEqual(
      ['ada-1', 'ada-2'].map(name => `${name}: Allow? [y]es, [n]o, or no with a reason: `),
    );
    expect([code, files()]).toEqual([0, { 'a.txt': 'first\n' }]);
    expect(out).toMatch(/^── ada-[12] ──\nI try a long line of words\.$/m);
    expect(out).toMatch(/^ {2}lines \+1 -0$/m);
    expect(out).toContain('Kept none: nothing of it is in');
  });

  it('[X64] keeps the first whose check passed, shows all of them, or fails where none passed', async () => {
    const { args, files } = given();
    const auto = ['--with', 'ada,bob', '--apply', 'auto'];
    const none = await said(args(both, ...auto, '--check', 'echo why; false', '--json'));
    const { kept, attempts } = JSON.parse(none.out.split('\n').at(-1) ?? '');
    expect([none.code, kept, files()]).toEqual([1, null, { 'a.txt': 'first\n' }]);
    expect(attempts).toMatchObject([
      {
        node: 'ada',
        agent: 'Agent ada',
        check: { passed: false, output: 'why' },
        diff: expect.stringContaining('+ada'),
      },
      { node: 'bob', costMicroUsd: 500_000 },
    ]);
    const never = await said(args(both, '--with', 'ada,bob', '--apply', 'never'));
    expect([never.code, files()]).toEqual([0, { 'a.txt': 'first\n' }]);
    for (const part of ['\n# bob\n', '+ada', '+more', 'Kept none']) expect(`\n${never.out}`).toContain(part);
    const first = await said(args(both, ...auto, '--check', 'grep -q bob a.txt'));
    expect([first.code, files()]).toEqual([0, { 'a.txt': 'first\nbob\nmore\n' }]);
    expect(first.out).toContain('✗ the check of ada exited with 1');
  });

  it('[X63] goes on with the others if an agent fails, and waits with one decision without a terminal', async () => {
    const { data, args, files } = given();
    const task = echoPrompt([only('ADA', { do: 'fail', code: -32_000, message: 'no credit' }), append('bob')]);
    const waits = await said(args(task, '--with', 'ada,bob'));
    expect([waits.code, files()]).toEqual([3, { 'a.txt': 'first\n' }]);
    const id = /signalbox approve (\S+) --option bob\|none/.exec(waits.out)?.[1] ?? '';
    const run = /signalbox decisions --run (\S+)/.exec(waits.out)?.[1] ?? '';
    expect((await said(['approve', id, '--option', 'bob', '--data-dir', data])).code).toBe(0);
    expect((await said(['resume', run, '--data-dir', data])).code).toBe(0);
    expect(files()).toEqual({ 'a.txt': 'first\nbob\n' });
  });

  it('[X65] refuses before anything starts, and says why', async () => {
    const { args, data, work } = given();
    for (const [more, why] of [
      [['--with', 'ada,nobody'], 'There is no agent "nobody".'],
      [['--with', 'ada,gone'], 'The program "/no/such/agent" of agent gone was not found.'],
      [['--with', 'ada,bob', '--apply', 'auto'], '--apply auto cannot tell which of several agents to keep.'],
      [['--with', 'ada,builtin'], 'comparing agents needs an installed agent.'],
      [['--with', 'builtin', '--apply', 'auto', '--check', 'true'], '--check needs an installed agent.'],
      [['--with', 'ada,,bob'], '--with names agents, separated by commas; got "ada,,bob".'],
      [['--check', ' '], '--check is empty.'],
      [['--with', 'ada', '--cwd', path.join(work, 'gone')], 'is not a directory.'],
      [['--with', 'ada', '--cwd', path.join(work, 'a.txt')], 'is not a directory.'],
      [['--with', 'ada', '--cwd', path.dirname(data)], 'the data directory is inside it'],
    ] as const) {
      const { code, out, complaints } = await said(args('x', ...more));
      expect([code, out, complaints]).toEqual([2, '', expect.stringContaining(why)]);
    }
    expect((await said(args(' \n'))).complaints).toContain('The task is empty.');
    expect(fs.existsSync(path.join(data, 'db.sqlite'))).toBe(false);
  });
});
