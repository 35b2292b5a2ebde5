import * as fs from 'node:fs';
import path from 'node:path';
import { type EchoStep, echoAgentProgram, echoPrompt } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { main } from '../src/main.ts';
import { memoryTerminal } from './memory-terminal.ts';
import { signalbox, temporaryFolder } from './program.ts';

const folder = temporaryFolder();

function given() {
  const place = fs.mkdtempSync(path.join(folder, 'do-'));
  const [data, work] = [path.join(place, 'data'), path.join(place, 'work')];
  for (const one of [data, work]) fs.mkdirSync(one, { mode: 0o700 });
  const agents = { echo: { command: [process.execPath, echoAgentProgram], title: 'Echo' } };
  fs.writeFileSync(path.join(data, 'config.json'), JSON.stringify({ agents }));
  fs.writeFileSync(path.join(work, 'a.txt'), 'first\n');
  const args = (task: string, ...more: readonly string[]) => ['do', task, '--cwd', work, '--data-dir', data, ...more];
  return { data, work, args, content: () => fs.readFileSync(path.join(work, 'a.txt'), 'utf8') };
}

const allowed: EchoStep[] = [{ do: 'append', file: 'a.txt', text: 'edited' }];
const edit: EchoStep = { do: 'ask', id: 'e', kind: 'edit', title: 'Edit a.txt', input: { file: 'a.txt' }, allowed };
const command: EchoStep = { ...edit, id: 'c', kind: 'execute', title: 'Run a command', input: { command: 'x' } };
const task = (step: EchoStep) => echoPrompt([{ do: 'say', text: 'I edit it.\n' }, step, { do: 'say', text: 'Done.' }]);
const DIFF = '--- a.txt\n+++ a.txt\n@@ -1 +1,2 @@\n first\n+edited';

describe.skipIf(process.platform !== 'linux')('do', () => {
  it('[X31] without a terminal waits with the changes, and says how to answer', () => {
    const { data, work, args, content } = given();
    const asked = signalbox(args(task(edit)), { cwd: folder });
    expect(asked).toMatchObject({ status: 3, stdout: expect.stringMatching(/^I edit it\.\n• Edit a\.txt\nDone\.\n/) });
    expect(content()).toBe('first\n');
    const id = /signalbox approve (\S+) --option apply-all\|drop/.exec(asked.stdout)?.[1] ?? '';
    const answer = ['approve', id, '--option', 'apply-all', '--data-dir', data];
    const answered = signalbox(answer, { cwd: folder });
    const run = /signalbox resume (\S+)/.exec(answered.stdout)?.[1] ?? '';
    expect(signalbox(['resume', run, '--data-dir', data], { cwd: folder })).toMatchObject({ status: 0 });
    expect([content(), fs.readdirSync(work)]).toEqual(['first\nedited\n', ['a.txt']]);
  });

  it('[X95] without a terminal shows the call that it waits for', () => {
    const { args } = given();
    const asked = signalbox(args(task(command)), { cwd: folder });
    expect(asked).toMatchObject({
      status: 3,
      stdout: expect.stringContaining('? agent echo: execute: Run a command\n'),
    });
  });

  it('[X31] applies and shows, or shows and drops, as it is told', () => {
    const { args, content } = given();
    const never = signalbox(args(task(edit), '--apply', 'never'), { cwd: folder });
    expect(never).toMatchObject({ status: 0, stdout: expect.stringContaining(DIFF) });
    expect(content()).toBe('first\n');
    const auto = signalbox(args(task(edit), '--apply', 'auto', '--with', 'echo'), { cwd: folder });
    expect(auto).toMatchObject({ status: 0, stdout: expect.stringContaining('\n first\n+edited\n') });
    expect(content()).toBe('first\nedited\n');
  });

  it('[X31] asks the person at the terminal about commands and changes', async () => {
    for (const [last, after] of [
      ['2', 'first\n'],
      ['apply', 'first\nedited\n'],
    ] as const) {
      const { args, content } = given();
      const answers = ['what?', 'y', 'neither', last].values();
      const questions: string[] = [];
      const ask = async (question: string) => {
        questions.push(question);
        const { value, done } = answers.next();
        // A refused answer is asked again.
        return done === true ? undefined : value === 'what?' ? '' : value;
      };
      const terminal = { ...memoryTerminal(), ask };
      const code = await main(args(task(command)), terminal);
      expect([code, questions.length, content()]).toEqual([0, 4, after]);
      expect(questions[0]).toBe('Allow? [y]es, [n]o, or no with a reason: ');
      expect(questions.at(-1)).toBe('[1] Apply  [2] Drop: ');
      expect(terminal.printed.join('\n')).toContain(DIFF);
    }
  });

  it('[X89] names the task and no plan when it failed, also when it is resumed or explained', () => {
    const { data, args } = given();
    const failing = echoPrompt([{ do: 'fail', code: -32000, message: 'no model' }]);
    const failed = signalbox(args(failing, '--apply', 'auto'), { cwd: folder });
    const run = /failed (\S+):/.exec(failed.stdout)?.[1] ?? '';
    // A task of several lines is not shown whole.
    const again = 'Start the task again: signalbox do "TASK" --with echo';
    const resumed = signalbox(['resume', run, '--data-dir', data], { cwd: folder });
    const why = [[run], [run, 'echo']].map(more => signalbox(['why', ...more, '--data-dir', data], { cwd: folder }));
    for (const { status, stdout } of [failed, resumed]) {
      expect({ status, stdout }).toEqual({ status: 1, stdout: expect.stringContaining(again) });
    }
    for (const { stdout } of [failed, resumed, ...why]) expect(stdout).not.toMatch(/\bplan\b|--use-current/i);
    expect(why.map(({ status }) => status)).toEqual([0, 0]);
  });

  it('[X31] names what is missing', () => {
    const { data, args } = given();
    const said = (...more: readonly string[]) => signalbox(args('x', ...more), { cwd: folder });
    expect(said('--apply', 'later')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--apply must be ask'),
    });
    expect(said('--with', 'nobody')).toMatchObject({ status: 2, stderr: expect.stringContaining('There is no agent') });
    expect(said('--with', 'builtin')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('writes files at once'),
    });
    fs.rmSync(path.join(data, 'config.json'));
    expect(said()).toMatchObject({ status: 2, stderr: expect.stringContaining('No agent is installed.') });
  });
});
