import type { Resolution } from '@signalbox/model';
import type { EchoStep } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { openAcpLife } from './acp-life.ts';
import { assignmentOf } from './builders.ts';
import { createMemoryTask, entriesOf, type MemoryTask } from './memory-session.ts';

const { task: TASK } = assignmentOf();
/** How native calls ended. */
const endsOf = (task: MemoryTask) =>
  entriesOf(task, 'tool_ended')
    .filter(({ tool }) => tool !== 'agent_turn')
    .map(({ tool, status, approval }) => `${tool} ${status} (${approval})`);

/** A command that leaves a trace each time it runs. */
const command = (id: string, text = id): Extract<EchoStep, { do: 'ask' }> => ({
  ...{ do: 'ask', id, kind: 'execute', title: `echo ${text}`, name: 'shell', input: { command: `echo ${text}` } },
  allowed: [{ do: 'append', file: 'log.txt', text }],
});
const done: EchoStep = { do: 'say', text: 'Done.' };
type Answer = Partial<Resolution> & Pick<Resolution, 'resolutionType'>;

/** Runs an attempt whose questions are all answered the same. */
async function answering(steps: readonly EchoStep[] | readonly (readonly EchoStep[])[], answer: Answer) {
  const life = openAcpLife();
  const task = createMemoryTask();
  task.answerAll(answer);
  const outcome = await life.run(task.session(), steps);
  return { life, task, outcome };
}

describe('a question', () => {
  it('[B112] is about the call as it was when it was asked, whatever the agent tells meanwhile', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    task.answerAll({ resolutionType: 'approve' });
    const session = task.session();
    const more: EchoStep = {
      ...{ do: 'tool', id: 'one', kind: 'execute', title: 'shell', name: 'shell', statuses: ['in_progress'] },
      input: { command: 'echo one', description: 'Says one.' },
    };
    const told: EchoStep = { do: 'say', text: 'More is told.' };
    const slow = {
      ...session,
      // The question is kept first, and that takes until the agent has told more.
      async keep(messages: Parameters<typeof session.keep>[0]) {
        if (JSON.stringify(messages).includes('tool_proposed')) await task.said(told.text);
        return session.keep(messages);
      },
    };
    await life.run(slow, [{ ...command('one'), meanwhile: [more, told] }, done]);
    expect([...task.questions.values()].map(({ proposal }) => (proposal as { input: object }).input)).toEqual([
      { command: 'echo one' },
    ]);
  });

  it('[B48] has everything that the agent sent', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    task.answerAll({ resolutionType: 'approve' });
    const path = `${life.root}/a.txt`;
    const diff = { path, oldText: 'a', newText: 'b' };
    await life.run(task.session(), [
      { do: 'say', text: 'It needs a b.' },
      {
        ...{ do: 'ask', id: 'e', kind: 'edit', title: 'Edit a.txt', name: 'Edit', input: { path, text: 'b' } },
        ...{ locations: [{ path }], diff },
      },
    ]);
    const [question] = [...task.questions.values()];
    expect(question).toEqual({
      call: expect.stringMatching(new RegExp(`^${TASK}/acp/[0-9a-f]{64}/1$`)),
      kind: 'file_edit',
      proposalHash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      proposal: {
        ...{ tool: 'Edit', title: 'Edit a.txt', kind: 'edit', input: { path, text: 'b' } },
        ...{ locations: [{ path }], diffs: [diff] },
        options: [
          { id: 'yes', label: 'Allow', kind: 'allow_once' },
          { id: 'always', label: 'Always allow', kind: 'allow_always' },
          { id: 'no', label: 'Reject', kind: 'reject_once' },
        ],
        agent: { id: 'echo', title: 'Echo', version: '1.0.0' },
        ...{ risk: 'medium', effects: 'files', why: 'It needs a b.' },
      },
    });
    expect(entriesOf(task, 'tool_proposed').map(({ call }) => call)).toEqual([question?.call]);
  });

  it('[B48] says that the input is missing', async () => {
    const { task } = await answering([{ do: 'ask', id: 'e', kind: 'execute', title: 'ls' }], {
      resolutionType: 'approve',
    });
    const [question] = [...task.questions.values()];
    expect(question?.kind).toBe('command_exec');
    expect(question?.proposal).toMatchObject({
      input: {},
      missing: 'Echo did not send the arguments of this call: only its title, paths and differences are known.',
    });
  });
});

describe('an answer', () => {
  it('[B50] approves a call once', async () => {
    const { life, task, outcome } = await answering([command('one'), command('two'), done], {
      resolutionType: 'approve',
    });
    expect(outcome).toEqual({ kind: 'done', output: 'Done.' });
    expect(life.read('log.txt')).toBe('one\ntwo\n');
    expect(task.questions.size).toBe(2);
    expect(endsOf(task)).toEqual(['shell succeeded (approve)', 'shell succeeded (approve)']);
  });

  it('[B50] rejects a call, and the agent learns why', async () => {
    const reject = { resolutionType: 'reject', rationale: 'Not on a Friday.' } as const;
    const { life, task, outcome } = await answering([[command('one'), done], [{ do: 'repeat' }]], reject);
    expect(life.read('log.txt')).toBeUndefined();
    expect(endsOf(task)).toEqual(['shell denied (reject)']);
    expect(outcome).toEqual({
      kind: 'done',
      output:
        'A person denied the call "echo one". Do not try it again in another way. Not on a Friday.\n\nContinue with the task, then give the result again.',
    });
    const silent = await answering([command('one'), done], { resolutionType: 'reject' });
    expect(silent.outcome).toEqual({ kind: 'done', output: 'Done.' });
  });

  it('[B50] lets an agent that stops at a denial continue', async () => {
    const stop: EchoStep = { ...command('one'), denied: [{ do: 'stop', reason: 'cancelled' }] };
    const { outcome } = await answering([[stop], [done]], { resolutionType: 'reject' });
    expect(outcome).toEqual({ kind: 'done', output: 'Done.' });
  });

  it('[B50] with other input rejects the call, and allows the one that the person wants', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    task.answerAll({ resolutionType: 'modify', modifiedArgs: { command: 'echo two' }, rationale: '' });
    const again: readonly EchoStep[] = [{ do: 'repeat' }, command('other', 'two'), done];
    const outcome = await life.run(task.session(), [[command('one'), done], again]);
    expect(outcome).toEqual({ kind: 'done', output: 'Done.' });
    expect(life.read('log.txt')).toBe('two\n');
    expect(task.questions.size).toBe(1);
    expect(endsOf(task)).toEqual(['shell denied (modify)', 'shell succeeded (modify)']);
    expect(entriesOf(task, 'tool_ended')[0]?.output).toEqual({
      type: 'error-text',
      value:
        'A person changed the arguments to {"command":"echo two"}. The agent\'s protocol cannot carry changed arguments, so the call was rejected and the agent was asked to make it with these.',
    });
    expect(entriesOf(task, 'prompted')[1]?.text).toBe(
      'A person did not approve the call "echo one" as it was. Make the same call again with exactly these arguments instead: {"command":"echo two"}\n\nContinue with the task, then give the result again.',
    );
  });

  it('[B50] with other input allows nothing else', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const running = life.run(task.session(), [
      [command('one'), done],
      [command('three'), done],
    ]);
    await task.asked();
    task.answer('shell', { resolutionType: 'modify', modifiedArgs: { command: 'echo two' } });
    const second = await task.asked();
    expect(second.proposal).toMatchObject({ input: { command: 'echo three' } });
    task.answerAll({ resolutionType: 'reject' });
    expect(await running).toEqual({ kind: 'done', output: 'Done.' });
    expect(life.read('log.txt')).toBeUndefined();
  });

  it('[B50] for always covers the same tool, and no other', async () => {
    const other: EchoStep = { ...command('web'), name: 'fetch' };
    const { life, task } = await answering([command('one'), command('two'), other, done], {
      ...{ resolutionType: 'approve', alwaysApprove: true },
    });
    expect(life.read('log.txt')).toBe('one\ntwo\nweb\n');
    expect([...task.questions.values()].map(({ proposal }) => (proposal as { title: string }).title)).toEqual([
      'echo one',
      'echo web',
    ]);
  });

  it('[B50] may be one of the agent’s own options', async () => {
    const choose = (chosenOptionId: string) =>
      answering([command('one'), { ...command('two'), do: 'tool', statuses: ['completed'] } as EchoStep, done], {
        ...{ resolutionType: 'choose_option', chosenOptionId },
      });
    const always = await choose('always');
    expect(always.outcome).toEqual({ kind: 'done', output: 'Done.' });
    expect(endsOf(always.task)).toEqual(['shell succeeded (choose_option)', 'shell succeeded (not-needed)']);
    const once = await choose('yes');
    expect(once.outcome).toMatchObject({ kind: 'failed', error: { code: 'agent-violation' } });
    const { task } = await answering([command('one'), done], {
      ...{ resolutionType: 'choose_option', chosenOptionId: 'no' },
    });
    expect(endsOf(task)).toEqual(['shell denied (choose_option)']);
    const unknown = await answering([command('one'), done], {
      ...{ resolutionType: 'choose_option', chosenOptionId: 'maybe' },
    });
    expect(endsOf(unknown.task)).toEqual(['shell denied (choose_option)']);
  });

  it('[B50] that approves denies where the agent cannot be allowed just once', async () => {
    const options = [{ optionId: 'always', name: 'Always', kind: 'allow_always' }];
    const { life, task } = await answering([{ ...command('one'), options } as EchoStep, done], {
      resolutionType: 'approve',
    });
    expect(endsOf(task)).toEqual(['shell denied (approve)']);
    expect(life.read('log.txt')).toBeUndefined();
  });
});

describe('who is asked', () => {
  const ask = (kind: string): EchoStep => ({ do: 'ask', id: kind, kind, title: kind, name: kind, input: { kind } });
  const kinds = ['read', 'search', 'think', 'edit', 'delete', 'move', 'execute', 'fetch', 'other', 'switch_mode'];

  it.each([
    ['gated', ['edit', 'delete', 'move', 'execute', 'fetch', 'other']],
    ['skip', ['execute', 'fetch', 'other']],
  ] as const)('[B51] in a node that is %s, a person is asked about %j', async (permissions, asked) => {
    const life = openAcpLife();
    const task = createMemoryTask();
    task.answerAll({ resolutionType: 'approve' });
    await life.run(task.session(), kinds.map(ask), { permissions });
    expect([...task.questions.values()].map(({ proposal }) => (proposal as { tool: string }).tool)).toEqual(asked);
    expect(endsOf(task).filter(end => end.includes('denied'))).toEqual(['switch_mode denied (not-needed)']);
  });

  it('[B51] nobody is asked about what the plan denies', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    await life.run(task.session(), [ask('execute'), ask('fetch'), done], { tools: { deny: ['run_command', 'fetch'] } });
    expect(endsOf(task)).toEqual(['execute denied (not-needed)', 'fetch denied (not-needed)']);
    const other = createMemoryTask();
    await life.run(other.session(), [ask('read'), ask('execute'), done], { tools: { allow: ['read_file'] } });
    expect(endsOf(other)).toEqual(['read succeeded (not-needed)', 'execute denied (not-needed)']);
    expect([task.questions.size, other.questions.size]).toEqual([0, 0]);
  });
});

describe('an interruption', () => {
  it('[B49, B53] an agent that dies with a question open is started again by the answer, which is delivered once', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const steps: readonly EchoStep[] = [command('one'), done];
    const first = life.run(task.session(), steps);
    await task.asked();
    life.children[0]?.kill('SIGKILL');
    expect(await first).toEqual({ kind: 'blocked', reason: 'approval_required:command_exec' });
    task.answer('shell', { resolutionType: 'approve' });
    expect(await life.run(task.session(), steps)).toEqual({ kind: 'done', output: 'Done.' });
    expect(life.read('log.txt')).toBe('one\n');
    expect(task.questions.size).toBe(1);
    expect(life.children).toHaveLength(2);
  });

  it('[B49, B55] nor is a person asked twice by an attempt that was canceled', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const steps: readonly EchoStep[] = [command('one'), command('two'), done];
    task.answerOnce('echo one', { resolutionType: 'approve' });
    const session = task.session();
    const first = life.run(session, steps);
    await task.asked();
    session.abort();
    expect(await first).toMatchObject({ kind: 'failed', error: { class: 'retryable', code: 'canceled' } });
    expect(life.read('log.txt')).toBeUndefined();
    task.answer('shell', { resolutionType: 'approve' });
    expect(await life.run(task.session(), steps)).toEqual({ kind: 'done', output: 'Done.' });
    expect(life.read('log.txt')).toBe('one\ntwo\n');
    expect(task.questions.size).toBe(2);
  });

  it('[B49] the same call again is another question, and so is the same call with other input', async () => {
    const { life, task } = await answering([command('one'), command('b', 'one'), command('c', 'two'), done], {
      resolutionType: 'approve',
    });
    const calls = [...task.questions.keys()].map(call => call.split('/').slice(2));
    expect(calls.map(([, count]) => count)).toEqual(['1', '2', '1']);
    expect(new Set(calls.map(([hash]) => hash)).size).toBe(2);
    expect(life.read('log.txt')).toBe('one\none\ntwo\n');
  });

  it('[B49] fields that differ each time do not make another question', async () => {
    const names = [];
    for (const id of ['x', 'y']) {
      const life = openAcpLife({ row: { volatile: ['call_id'] } });
      const task = createMemoryTask();
      task.answerAll({ resolutionType: 'approve' });
      await life.run(task.session(), [{ ...command('one'), input: { command: 'ls', call_id: id } }]);
      names.push(...task.questions.keys());
    }
    expect(new Set(names).size).toBe(1);
  });

  it('[B53] an agent that waits too long is parked, and continues with the answer', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const steps: readonly EchoStep[] = [{ do: 'write', file: 'a.txt', text: 'a' }, command('one'), done];
    const first = life.run(task.session(), steps);
    await task.asked();
    task.park();
    expect(await first).toEqual({ kind: 'blocked', reason: 'approval_required:command_exec' });
    expect([life.isAnyAlive(), life.read('a.txt')]).toEqual([false, undefined]);
    task.answer('shell', { resolutionType: 'approve' });
    expect(await life.run(task.session(), steps, { resume: 'fail' })).toEqual({ kind: 'done', output: 'Done.' });
    expect([life.read('a.txt'), life.read('log.txt')]).toEqual(['a', 'one\n']);
  });

  it('[B53] several questions wait together', async () => {
    const life = openAcpLife();
    const task = createMemoryTask();
    const running = life.run(task.session(), [{ do: 'askAtOnce', asks: [command('one'), command('two')] }, done]);
    await task.asked(2);
    task.answer('shell', { resolutionType: 'approve' });
    expect(await running).toEqual({ kind: 'done', output: 'Done.' });
    expect(life.read('log.txt')?.split('\n').toSorted()).toEqual(['', 'one', 'two']);
  });
});
