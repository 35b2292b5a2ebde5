import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { canonicalJson } from '@signalbox/model';
import type { EchoSetup, EchoStep } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { type AcpLifeOptions, openAcpLife, SECRET } from './acp-life.ts';
import { createMemoryTask, entriesOf, type MemoryTask } from './memory-session.ts';

const done: EchoStep = { do: 'say', text: 'Done.' };
const command = (id: string, text = id): Extract<EchoStep, { do: 'ask' }> => ({
  ...{ do: 'ask', id, kind: 'execute', title: `echo ${text}`, name: 'shell', input: { command: `echo ${text}` } },
  allowed: [{ do: 'say', text: `ran ${text}. ` }],
  denied: [{ do: 'say', text: `skipped ${text}. ` }],
});
const resumes: EchoSetup = { continues: ['resume', 'load'] };
const loads: EchoSetup = { continues: ['load'] };

const notesOf = (task: MemoryTask) => entriesOf<{ text: string }>(task, 'note').map(({ text }) => text);
const promptsOf = (task: MemoryTask) => entriesOf<{ text: string; prompt: number; isFull: boolean }>(task, 'prompted');
const saidIn = (task: MemoryTask) =>
  task.streamed.flatMap(({ kind, payload }) => (kind === 'token' ? [payload] : [])).join('');
const openedIn = (task: MemoryTask) => entriesOf<{ opened: string }>(task, 'begun').map(({ opened }) => opened);

/** A life on layers. */
const openLife = (options: AcpLifeOptions = {}) => openAcpLife({ isOnLayer: true, setup: resumes, ...options });

/** Lets an attempt wait for a person until it is parked. */
async function parked(task: MemoryTask, running: Promise<unknown>): Promise<void> {
  await task.asked();
  task.park();
  expect(await running).toMatchObject({ kind: 'blocked' });
}

describe('a session that was cut off', () => {
  it.each([
    ['resumed', resumes],
    ['loaded', loads],
  ] as const)('[B84, B86] is %s, and nothing of it is told twice', async (opened, setup) => {
    const life = openLife({ setup });
    const task = createMemoryTask();
    const steps = [{ do: 'say', text: 'First. ' }, { do: 'cost', amount: 0.25 }, command('one'), done] as const;
    await parked(task, life.run(task.session(), steps));
    expect(life.keptHomes()).toEqual([life.homes[0]]);
    task.answer('shell', { resolutionType: 'approve' });
    expect(await life.run(task.session(), steps)).toEqual({ kind: 'done', output: 'ran one. Done.' });
    expect(openedIn(task)).toEqual(['new', opened]);
    expect(new Set(entriesOf(task, 'begun').map(({ session }) => session)).size).toBe(1);
    expect(notesOf(task)).toEqual([
      expect.stringMatching(
        `^Echo continues its session echo-\\d+ \\(session/${opened === 'resumed' ? 'resume' : 'load'}\\)\\.$`,
      ),
    ]);
    expect(saidIn(task)).toBe('First. ran one. Done.');
    expect(promptsOf(task).map(({ prompt, isFull }) => [prompt, isFull])).toEqual([
      [1, true],
      [1, false],
    ]);
    expect(promptsOf(task)[1]?.text).toMatch(/^You were interrupted while a person was asked\. /);
    expect([...task.spent.values()].reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0)).toBe(250_000);
    expect(task.questions.size).toBe(1);
    expect(fs.existsSync(life.homes[0] ?? '')).toBe(false);
  });

  it('[B157] is not continued if the agent had not begun to work in it', async () => {
    for (const first of [[{ do: 'hang' }], [{ do: 'think', text: 'Hm.' }, { do: 'hang' }]] as const) {
      const life = openLife();
      const task = createMemoryTask();
      const session = task.session();
      const running = life.run(session, first);
      await expect.poll(() => promptsOf(task).length).toBe(1);
      if (first.length > 1) await expect.poll(() => task.streamed.some(({ kind }) => kind === 'thinking')).toBe(true);
      session.abort();
      expect(await running).not.toMatchObject({ kind: 'done' });
      await life.run(task.session(), [done]);
      const isBegun = first.length > 1;
      expect(openedIn(task)).toEqual(['new', isBegun ? 'resumed' : 'new']);
      expect(promptsOf(task)[1]).toMatchObject({ isFull: !isBegun });
    }
  });

  it('[B84] is continued after the agent died, and after a cancellation', async () => {
    const life = openLife();
    for (const cut of ['kill', 'cancel'] as const) {
      const task = createMemoryTask();
      const session = task.session();
      const running = life.run(session, [command('one'), done]);
      await task.asked();
      if (cut === 'kill') life.children.at(-1)?.kill('SIGKILL');
      else session.abort();
      expect(await running).not.toMatchObject({ kind: 'done' });
      task.answer('shell', { resolutionType: 'reject' });
      expect(await life.run(task.session(), [command('one'), done])).toEqual({
        kind: 'done',
        output: 'skipped one. Done.',
      });
      expect([openedIn(task), task.questions.size]).toEqual([['new', 'resumed'], 1]);
    }
  });

  it('[B86] counts a cost once, whether the agent goes on counting or begins again', async () => {
    for (const [second, sum] of [
      [0.4, 400_000],
      [0.1, 350_000],
    ] as const) {
      const life = openLife();
      const task = createMemoryTask();
      const steps = [{ do: 'cost', amount: 0.25 }, command('one'), { do: 'cost', amount: second }, done] as const;
      await parked(task, life.run(task.session(), steps));
      task.answer('shell', { resolutionType: 'approve' });
      await life.run(task.session(), steps);
      expect([...task.spent.values()].reduce((all, { costMicroUsd }) => all + costMicroUsd, 0)).toBe(sum);
    }
  });

  it('[B87] keeps what was allowed, and asks again about a call that ended', async () => {
    const life = openLife();
    const task = createMemoryTask();
    const web = { ...command('web'), name: 'fetch', kind: 'fetch' } as const;
    const steps = [command('one'), web, command('two'), web, done];
    task.answerOnce('echo one', { resolutionType: 'approve', alwaysApprove: true });
    await parked(task, life.run(task.session(), steps));
    task.answer('fetch', { resolutionType: 'approve' });
    const running = life.run(task.session(), steps);
    const again = await task.asked();
    expect([...task.questions.values()].map(({ proposal }) => (proposal as { title: string }).title)).toEqual([
      'echo one',
      'echo web',
      'echo web',
    ]);
    expect(again.call).toMatch(/\/2$/);
    task.answer('fetch', { resolutionType: 'reject' });
    expect(await running).toEqual({ kind: 'done', output: expect.stringMatching(/skipped web\. Done\.$/) });
    expect(openedIn(task)).toEqual(['new', 'resumed']);
    expect(saidIn(task)).toBe('ran one. ran web. ran two. skipped web. Done.');
  });

  it('[B87] is given the words of a person that it has not heard, and may make the call that the person wants', async () => {
    const life = openLife();
    const task = createMemoryTask();
    const steps = [
      [command('one'), command('two'), done],
      [{ do: 'repeat' } as const, command('b', 'changed'), done],
    ];
    task.answerOnce('echo one', { resolutionType: 'modify', modifiedArgs: { command: 'echo changed' } });
    await parked(task, life.run(task.session(), steps));
    task.answer('shell', { resolutionType: 'reject' });
    expect(await life.run(task.session(), steps)).toMatchObject({ kind: 'done' });
    const [, second] = promptsOf(task);
    expect(second?.text).toMatch(
      /^A person did not approve the call "echo one" as it was\..*\n\nYou were interrupted/s,
    );
    expect(task.questions.size).toBe(2);
  });
});

describe('a session that cannot be continued', () => {
  const change: EchoStep = { do: 'write', file: 'a.txt', text: 'a' };

  it('[B85] because something was on its layer: a new one is told what happened, and that it was undone', async () => {
    const life = openLife();
    const task = createMemoryTask();
    const steps = [{ do: 'say', text: 'I write. ' } as const, change, command('one'), done];
    await parked(task, life.run(task.session(), steps));
    expect([life.keptHomes(), fs.existsSync(life.homes[0] ?? '')]).toEqual([[], false]);
    task.answer('shell', { resolutionType: 'approve' });
    expect(await life.run(task.session(), steps)).toMatchObject({ kind: 'done' });
    expect(openedIn(task)).toEqual(['new', 'new']);
    const [first, second] = promptsOf(task);
    expect(second?.isFull).toBe(true);
    expect(second?.text.startsWith(`${first?.text}\n\nYou began this task before and were interrupted. `)).toBe(true);
    expect(second?.text).toContain('Everything that had been changed in the directory was undone');
    expect(second?.text).toContain('You said: I write. \nYou called shell with {"command":"echo one"}');
    expect(notesOf(task)).toEqual([
      'Echo begins a new session, and is told how far the turn came. What it had changed was undone.',
    ]);
    expect(task.questions.size).toBe(1);
  });

  it.each([
    ['its row does not trust it', { continues: [] }, {}, 'Echo does not continue sessions reliably.'],
    ['it cannot', {}, { continues: [] }, 'Echo cannot continue sessions.'],
    [
      'its row trusts another way',
      { continues: ['load'] },
      { continues: ['resume'] },
      'Echo cannot continue sessions.',
    ],
    ['it fails', {}, { forgets: true }, 'Echo could not resume its session: No such session.'],
    [
      'it fails to load',
      {},
      { continues: ['load'], forgets: true },
      'Echo could not load its session: No such session.',
    ],
  ] as const)('[B85] because %s', async (_, row, setup, why) => {
    const life = openLife({ row, setup: { ...resumes, ...setup } });
    const task = createMemoryTask();
    await parked(task, life.run(task.session(), [command('one'), done]));
    task.answer('shell', { resolutionType: 'approve' });
    expect(await life.run(task.session(), [command('one'), done])).toEqual({ kind: 'done', output: 'ran one. Done.' });
    expect(notesOf(task)).toEqual([`Echo begins a new session, and is told how far the turn came. ${why}`]);
    expect(promptsOf(task)[1]?.text).toContain('Nothing had been changed in the directory.');
    expect(task.questions.size).toBe(1);
  });

  it('[B85] because it does not ask in it', async () => {
    const asking = { kind: 'mode', mode: 'ask' } as const;
    const modes = { current: 'ask', available: ['auto', 'ask'] };
    const life = openLife({ row: { asking }, setup: { ...loads, modes } });
    const task = createMemoryTask();
    const leaves: EchoStep = { do: 'when', variable: 'ECHO_LEAVES', steps: [{ do: 'mode', mode: 'auto' }] };
    life.variables.ECHO_LEAVES = 'yes';
    // It leaves the mode while nobody asks it anything: what is repeated says so.
    const first = life.run(task.session(), [command('one'), leaves, done]);
    await parked(task, first);
    const [home = ''] = life.homes;
    const log = fs.readdirSync(home).find(name => name.endsWith('.ndjson')) ?? '';
    const left = { sessionUpdate: 'current_mode_update', currentModeId: 'auto' };
    fs.appendFileSync(`${home}/${log}`, `${JSON.stringify(left)}\n`);
    delete life.variables.ECHO_LEAVES;
    task.answer('shell', { resolutionType: 'approve' });
    expect(await life.run(task.session(), [command('one'), done])).toMatchObject({ kind: 'done' });
    expect([openedIn(task).length, promptsOf(task).length]).toEqual([2, 2]);
  });

  it('[B85] because the plan says to begin again', async () => {
    const life = openLife();
    const task = createMemoryTask();
    await parked(task, life.run(task.session(), [command('one'), done]));
    task.answer('shell', { resolutionType: 'approve' });
    await life.run(task.session(), [command('one'), done], { resume: 'restart' });
    expect(openedIn(task)).toEqual(['new', 'new']);
    expect(promptsOf(task)[1]?.text).toBe(promptsOf(task)[0]?.text);
  });
});

describe('a home that is kept', () => {
  it('[B88] is not written through the links in it', async () => {
    const life = openLife({ row: { homeFiles: { 'deep/config.json': 'ours', 'plain.json': 'ours' } } });
    const outside = `${life.root}/../outside`;
    fs.mkdirSync(outside);
    fs.writeFileSync(`${outside}/plain.json`, 'theirs');
    const task = createMemoryTask();
    await parked(task, life.run(task.session(), [command('one'), done]));
    const [home = ''] = life.homes;
    fs.rmSync(`${home}/deep`, { recursive: true });
    fs.symlinkSync(outside, `${home}/deep`);
    fs.rmSync(`${home}/plain.json`);
    fs.symlinkSync(`${outside}/plain.json`, `${home}/plain.json`);
    task.answer('shell', { resolutionType: 'approve' });
    const read: EchoStep = { do: 'homeRead', file: 'deep/config.json' };
    expect(await life.run(task.session(), [command('one'), read])).toMatchObject({ kind: 'done' });
    expect(fs.readdirSync(outside)).toEqual(['plain.json']);
    expect(fs.readFileSync(`${outside}/plain.json`, 'utf8')).toBe('theirs');
  });
});

describe('names', () => {
  it('[B89] are keyed hashes of what was sent, also where a secret is shown as a mark', async () => {
    const names: string[] = [];
    const hashes: unknown[] = [];
    for (const secret of [SECRET, '[redacted]']) {
      const task = createMemoryTask();
      task.answerAll({ resolutionType: 'approve' });
      await openAcpLife().run(task.session(), [command('one', secret), done]);
      const [question] = [...task.questions.values()];
      expect(question?.proposal).toMatchObject({ input: { command: 'echo [redacted]' } });
      names.push(String(question?.call));
      hashes.push(question?.proposalHash);
      const input = { command: `echo ${secret}` };
      const plain = (value: object) =>
        createHash('sha256')
          .update(canonicalJson(value as never))
          .digest('hex');
      expect(question?.call).not.toContain(plain({ kind: 'execute', tool: 'shell', input }));
    }
    expect([new Set(names).size, new Set(hashes).size]).toEqual([2, 2]);
  });
});
