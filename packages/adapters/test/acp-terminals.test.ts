import type { EchoStep } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { bareTerminal, openAcpLife } from './acp-life.ts';
import { createMemoryTask, entriesOf, type MemoryTask } from './memory-session.ts';

const done: EchoStep = { do: 'say', text: 'Done.' };
const openLife = () => openAcpLife({ ports: { terminal: bareTerminal } });
const saidIn = (task: MemoryTask) =>
  task.streamed.flatMap(({ kind, payload }) => (kind === 'token' ? [payload] : [])).join('');
const titlesOf = (task: MemoryTask) =>
  [...task.questions.values()].map(({ proposal }) => (proposal as { title: string }).title);
const shell = (command: string, more: object = {}): EchoStep => ({ do: 'terminal', command, ...more });
const NOT_FOUND = -32002;

function approving(): MemoryTask {
  const task = createMemoryTask();
  task.answerAll({ resolutionType: 'approve' });
  return task;
}

describe('a terminal', () => {
  it('[B90] runs what a person approved, as a line or as words, in a directory below', async () => {
    const life = openLife();
    const task = approving();
    const steps = [
      shell('mkdir below && echo one | tr o O'),
      shell('pwd', { args: ['-P'], cwd: `${life.root}/below` }),
    ];
    await life.run(task.session(), steps);
    expect(saidIn(task)).toBe(
      [
        JSON.stringify({ exitCode: 0, output: 'One\n', truncated: false, gone: NOT_FOUND }),
        JSON.stringify({ exitCode: 0, output: `${life.root}/below\n`, truncated: false, gone: NOT_FOUND }),
      ].join(''),
    );
    expect(titlesOf(task)).toEqual(['mkdir below && echo one | tr o O', 'pwd -P']);
    expect(entriesOf(task, 'tool_ended').map(({ tool, status }) => `${tool} ${status}`)).toEqual([
      ...['terminal/create succeeded', 'terminal/create succeeded', 'agent_turn succeeded'],
    ]);
  });

  it('[B90] is not opened for a denied command, outside of the directory, or where none can be confined', async () => {
    const life = openLife();
    const task = createMemoryTask();
    task.answerAll({ resolutionType: 'reject' });
    await life.run(task.session(), [shell('touch made.txt'), shell('ls', { cwd: '/etc' })]);
    expect(saidIn(task)).toMatch(/^no terminal: -32600 .*did not allow.*no terminal: -32602 .*outside/);
    expect([titlesOf(task), life.read('made.txt')]).toEqual([['touch made.txt'], undefined]);
    const bare = approving();
    await openAcpLife().run(bare.session(), [shell('touch made.txt')]);
    expect(saidIn(bare)).toMatch(/^no terminal: -32601 /);
  });

  it('[B90] asks nobody about a command that an allowed call shows, and about any other', async () => {
    const call = (input: object, ...allowed: readonly EchoStep[]): EchoStep => ({
      ...{ do: 'ask', id: JSON.stringify(input), kind: 'execute', title: 'Run it', name: 'shell', input },
      allowed,
    });
    const life = openLife();
    const task = approving();
    await life.run(task.session(), [
      call({ command: 'echo one' }, shell('echo one'), shell('echo one two')),
      call({ program: 'echo', args: ['two'] }, shell('echo', { args: ['two'] })),
      // The call has ended.
      shell('echo one'),
    ]);
    expect(titlesOf(task)).toEqual(['Run it', 'echo one two', 'Run it', 'echo one']);
  });

  it('[B91] keeps the newest output, in whole characters', async () => {
    const task = approving();
    await openLife().run(task.session(), [
      shell('printf aäöü', { outputByteLimit: 5 }),
      shell("head -c 3000000 /dev/zero | tr '\\0' x", { outputByteLimit: 9_000_000 }),
    ]);
    const [small, large] = saidIn(task)
      .split('}')
      .filter(part => part !== '')
      .map(part => JSON.parse(`${part}}`) as { output: string; truncated: boolean });
    expect(small).toMatchObject({ output: 'öü', truncated: true });
    expect([large?.output.length, large?.truncated]).toEqual([1_000_000, true]);
  });

  it('[B91] ends when it is killed, and with the turn', async () => {
    const life = openLife();
    const task = approving();
    const left = shell('echo begun > begun; sleep 600; echo late > late', { leave: true });
    const outcome = await life.run(task.session(), [shell('sleep 600', { kill: true }), left, done]);
    expect(outcome.kind).toBe('done');
    expect(saidIn(task)).toContain('"signal":"SIGKILL"');
    expect(life.read('late')).toBeUndefined();
  });
});
