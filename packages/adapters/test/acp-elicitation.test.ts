import type { Resolution } from '@signalbox/model';
import type { EchoStep } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { openAcpLife, SECRET } from './acp-life.ts';
import { createMemoryTask, entriesOf } from './memory-session.ts';

const elicit = (properties: object, message = 'Which one?'): EchoStep => ({
  ...{ do: 'elicit', message, schema: { type: 'object', properties } },
});
const done: EchoStep = { do: 'say', text: 'Done.' };
const color = {
  type: 'string',
  oneOf: [
    { const: 'r', title: 'Red' },
    { const: 'g', title: 'Green' },
  ],
};
const twoFields = {
  name: { type: 'string', minLength: 1 },
  tags: { type: 'array', items: { type: 'string', enum: ['a'] } },
};
type Answer = Partial<Resolution> & Pick<Resolution, 'resolutionType'>;
const choose = (chosenOptionId: string): Answer => ({ resolutionType: 'choose_option', chosenOptionId });

describe('a question of the agent’s own', () => {
  it.each([
    ['a titled choice', { color }, choose('g'), 'choice', { color: 'g' }],
    ['a plain choice', { size: { type: 'string', enum: ['s', 'l'] } }, choose('s'), 'choice', { size: 's' }],
    ['a yes or no', { keep: { type: 'boolean' } }, choose('false'), 'choice', { keep: false }],
    ['a confirmation', {}, { resolutionType: 'approve' }, 'confirmation', {}],
    [
      'a text',
      { name: { type: 'string' } },
      { resolutionType: 'approve', value: { name: 'Ada' } },
      'human',
      { name: 'Ada' },
    ],
    [
      'a form',
      twoFields,
      { resolutionType: 'approve', value: { name: 'x', tags: ['a'] } },
      'human',
      { name: 'x', tags: ['a'] },
    ],
  ] as const)('[B92] is %s', async (_, properties, answer, kind, content) => {
    const task = createMemoryTask();
    task.answerAll(answer as Answer);
    const outcome = await openAcpLife().run(task.session(), [elicit(properties)]);
    expect(outcome).toEqual({ kind: 'done', output: JSON.stringify({ action: 'accept', content }) });
    const [question] = [...task.questions.values()];
    expect(question).toMatchObject({
      kind,
      proposal: { prompt: 'Which one?', context: { agent: { id: 'echo', title: 'Echo' } } },
    });
    if (kind === 'human') expect(question?.proposal).toMatchObject({ schema: { type: 'object', properties } });
  });

  it('[B92] is declined by a denial, or by an answer without the values', async () => {
    for (const answer of [{ resolutionType: 'reject' }, { resolutionType: 'approve' }] as const) {
      const task = createMemoryTask();
      task.answerAll(answer);
      const outcome = await openAcpLife().run(task.session(), [elicit(twoFields)]);
      expect(outcome).toEqual({ kind: 'done', output: '{"action":"decline"}' });
    }
  });

  it('[B92] is declined if it is a page to visit, and refused for another session', async () => {
    const task = createMemoryTask();
    const outcome = await openAcpLife().run(task.session(), [
      { do: 'elicit', message: 'Log in.', url: 'https://example.com' },
      { do: 'elicit', message: 'Which one?', schema: {}, session: 'other' },
    ]);
    expect(outcome).toEqual({ kind: 'done', output: '{"action":"decline"}not asked: -32002. ' });
    expect(entriesOf(task, 'note').map(({ text }) => text)).toEqual([
      'The agent asked a person in a way that cannot be shown (url). It was declined.',
      'The agent asked for an answer in a session that is not its own. It was refused.',
    ]);
    expect(task.questions.size).toBe(0);
  });

  it.each([true, false])('[B92] survives a parked agent, whose session is continued: %s', async isContinued => {
    const life = openAcpLife({ isOnLayer: true, setup: isContinued ? { continues: ['resume'] } : {} });
    const task = createMemoryTask();
    const steps = [elicit({ color }), elicit({ color }), done];
    const running = life.run(task.session(), steps);
    await task.asked();
    task.park();
    expect(await running).toEqual({ kind: 'blocked', reason: 'approval_required:choice' });
    const [first = ''] = task.questions.keys();
    task.answers.set(first, {
      resolutionType: 'choose_option',
      chosenOptionId: 'r',
      rationale: '',
      actionKind: 'update',
    });
    const again = life.run(task.session(), steps);
    // The same question a second time is another one.
    expect((await task.asked()).call).not.toBe(first);
    task.answerAll(choose('g'));
    const red = JSON.stringify({ action: 'accept', content: { color: 'r' } });
    expect(await again).toEqual({ kind: 'done', output: `${red}${red.replace('"r"', '"g"')}Done.` });
    expect(task.questions.size).toBe(2);
  });

  it('[B89, B92] is named without showing a secret', async () => {
    const names = [];
    for (const secret of [SECRET, '[redacted]']) {
      const task = createMemoryTask();
      task.answerAll({ resolutionType: 'reject' });
      await openAcpLife().run(task.session(), [elicit({}, `Use ${secret}?`)]);
      const [question] = [...task.questions.values()];
      expect(question?.proposal).toMatchObject({ prompt: 'Use [redacted]?' });
      names.push(question?.call, question?.proposalHash);
    }
    expect(new Set(names).size).toBe(4);
  });
});
