import * as fs from 'node:fs';
import type { EchoStep } from '@signalbox/testkit';
import { expect, it } from 'vitest';
import { openAcpLife } from './acp-life.ts';
import { createMemoryTask, entriesOf } from './memory-session.ts';

const edit = (text: string, more: Partial<Extract<EchoStep, { do: 'ask' }>> = {}): EchoStep => ({
  ...{ do: 'ask', id: text, kind: 'edit', title: `Write ${text}`, input: { text } },
  allowed: [{ do: 'write', file: 'a.txt', text }],
  ...more,
});
const notes = (task: ReturnType<typeof createMemoryTask>) =>
  entriesOf<{ text: string }>(task, 'note').map(({ text }) => text);

it('[B153] an agent works on a copy where there are no layers: said in the log, applied at the end', async () => {
  const life = openAcpLife({ isOnCopy: true });
  fs.writeFileSync(`${life.root}/.env`, 'SECRET=1');
  const task = createMemoryTask();
  const running = life.run(task.session(), [
    edit('one'),
    { do: 'clientRead', path: `${life.root}/.env` },
    edit('two', { id: 'again' }),
  ]);
  for (const title of ['Write one', 'Write two']) {
    const question = await task.asked();
    expect([(question.proposal as { title: string }).title, life.read('a.txt')]).toEqual([title, undefined]);
    task.waiting.get(question.call)?.({ resolutionType: 'approve', rationale: '', actionKind: 'update' });
  }
  expect((await running).kind).toBe('done');
  expect(life.read('a.txt')).toBe('two');
  expect(notes(task)).toEqual([
    expect.stringMatching(
      /^Echo works on a copy.* cannot have layers: .*as from a layer, but its calls are not told apart\.$/,
    ),
  ]);
  expect(entriesOf<object>(task, 'begun')).toMatchObject([{ onLayer: false, onCopy: true }]);
});

it('[B153] finds changes on a copy that nobody was asked about', async () => {
  const life = openAcpLife({ isOnCopy: true });
  const outcome = await life.run(createMemoryTask().session(), [{ do: 'write', file: 'a.txt', text: 'x' }]);
  expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'agent-violation' } });
  expect(fs.readdirSync(life.root)).toEqual([]);
});

it('[B153] changes on a copy that conflict with a person’s, or are to be reviewed, wait for a person', async () => {
  const life = openAcpLife({ isOnCopy: true });
  fs.writeFileSync(`${life.root}/a.txt`, 'before');
  const task = createMemoryTask();
  const running = life.run(task.session(), [edit('mine')], { apply: 'ask' });
  const call = await task.asked();
  fs.writeFileSync(`${life.root}/a.txt`, 'a person’s');
  task.waiting.get(call.call)?.({ resolutionType: 'approve', rationale: '', actionKind: 'update' });
  expect(await running).toEqual({ kind: 'blocked', reason: 'approval_required:choice' });
  const conflict = [...task.questions.values()].at(-1);
  expect([JSON.stringify(conflict?.proposal), life.read('a.txt')]).toEqual([
    expect.stringContaining("An agent's changes conflict with what someone else did to a.txt"),
    'a person’s',
  ]);
  const choose = { resolutionType: 'choose_option', chosenOptionId: 'apply-all' } as const;
  task.answers.set(conflict?.call ?? '', { ...choose, rationale: '', actionKind: 'update' });
  expect((await life.run(task.session(), [edit('mine')], { apply: 'ask' })).kind).toBe('done');
  expect([life.read('a.txt'), life.children.length]).toEqual(['mine', 1]);
});

it('[B153] [B161] refuses a check, and an agent whose directory can neither have layers nor be copied', async () => {
  const life = openAcpLife({ isOnCopy: true });
  const checked = await life.run(createMemoryTask().session(), [edit('x')], { check: 'true' });
  expect(checked).toMatchObject({ kind: 'failed', error: { code: 'no-layer' } });
  fs.rmSync(`${life.root}/../layers`, { recursive: true, force: true });
  fs.symlinkSync('nowhere', `${life.root}/../layers`);
  expect(await life.run(createMemoryTask().session(), [edit('x')])).toMatchObject({
    kind: 'failed',
    error: {
      class: 'terminal',
      code: 'agent-not-started',
      message: expect.stringContaining('and it cannot be copied'),
    },
  });
  expect(life.children).toHaveLength(0);
});

it('[B156] an unconfined agent asks before each change of files, also where its node is not gated', async () => {
  for (const isUnconfined of [false, true]) {
    const life = openAcpLife({ isOnCopy: true, isUnconfined });
    const task = createMemoryTask();
    const running = life.run(task.session(), [edit('one')], { permissions: 'skip' });
    if (isUnconfined) {
      const { call, kind } = await task.asked();
      expect([kind, life.read('a.txt')]).toEqual(['file_edit', undefined]);
      task.waiting.get(call)?.({ resolutionType: 'approve', rationale: '', actionKind: 'update' });
    }
    expect([(await running).kind, life.read('a.txt'), task.questions.size]).toEqual([
      'done',
      'one',
      Number(isUnconfined),
    ]);
  }
});
