import { thisMachine } from '@signalbox/app/host';
import { connect, type Question, type Signalbox } from '@signalbox/client';
import { type RunningServer, startServer } from '@signalbox/server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { releasePlan } from '../../server/test/release-plan.ts';
import { type ScriptedHost, scriptedHost } from '../../server/test/scripted-host.ts';

const TOKEN = 'a-token-of-this-test';
const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

let host: ScriptedHost;
let server: RunningServer;
let signalbox: Signalbox;

async function serve(port = 0): Promise<RunningServer> {
  const started = await startServer({ host, token: TOKEN, port, timers: thisMachine().timers });
  if (!started.ok) throw new Error(started.error.message);
  ended.push(() => started.value.close());
  return started.value;
}

beforeEach(async () => {
  host = scriptedHost();
  server = await serve();
  signalbox = connect({ url: server.url, token: TOKEN });
  ended.push(() => signalbox.close());
});

/** Resolves with what has been told once there is that much. */
function told<T>() {
  const values: T[] = [];
  let wake = () => {};
  return {
    values,
    tell(value: T) {
      values.push(value);
      wake();
    },
    async until(count: number) {
      while (values.length < count)
        await new Promise<void>(resolve => {
          wake = resolve;
        });
      return values;
    },
  };
}

describe('handles', () => {
  it('[C41] start runs once for a key, show them, and throw what is refused', async () => {
    const plan = signalbox.plan('a.tsx');
    const run = await plan.start({ count: 1 }, { key: 'k' });
    expect((await plan.start({ count: 1 }, { key: 'k' })).id).toBe(run.id);
    expect(await run.facts()).toMatchObject({ id: run.id, status: 'running', openQuestions: 0 });
    expect((await signalbox.runs({ status: ['running'] })).map(({ id }) => id)).toEqual([run.id]);
    const unknown = signalbox.run('019b76da-a800-7397-a1fa-71531e5ee7fc').facts();
    await expect(unknown).rejects.toMatchObject({
      name: 'SignalboxError',
      code: 'run/unknown',
      suggestion: expect.any(String),
      retry: { kind: 'not_retryable' },
    });
    await expect(connect({ url: server.url, token: 'wrong' }).runs()).rejects.toMatchObject({
      code: 'request/unauthorized',
    });
    await run.signal('go', { a: 1 });
    await run.pause();
    expect((await run.facts()).status).toBe('paused');
    await run.resume();
    await run.stop('late');
    expect(await run.facts()).toMatchObject({ status: 'stopped', reason: 'late' });
  });

  it('[C42] waits for the end over a question and a restart of the server', async () => {
    const run = await host.begin('release');
    const handle = signalbox.run(run.id);
    const events = told<string>();
    ended.push(handle.subscribe(({ type }) => events.tell(type), { from: 0 }));
    const finished = handle.finished();
    await run.become('waiting');
    const { port } = new URL(server.url);
    await server.close();
    await serve(Number(port));
    await run.become('running');
    await run.become('completed');
    expect(await finished).toMatchObject({ id: run.id, status: 'completed' });
    expect((await events.until(1))[0]).toBe('run.created');
    await expect(signalbox.run('019b76da-a800-7397-a1fa-71531e5ee7fc').finished()).rejects.toMatchObject({
      code: 'run/unknown',
    });
    const other = await host.begin('other');
    const control = new AbortController();
    const aborted = signalbox.run(other.id).finished({ signal: control.signal });
    control.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
  });

  it('[C43] delivers each question once, and answers what was shown', async () => {
    const run = await host.begin('release');
    await run.render(releasePlan, { build: 'running' });
    const first = await run.ask('review', { prompt: 'Ship it?' }, 'confirmation');
    const questions = told<Question>();
    ended.push(signalbox.onQuestion(questions.tell));
    expect(await questions.until(1)).toMatchObject([{ id: first.id, node: 'review', prompt: 'Ship it?', options: [] }]);
    const second = await run.ask('build', { prompt: 'Which?', options: [{ id: 'a' }, { id: 'b' }] }, 'choice');
    const [, asked] = await questions.until(2);
    expect(asked).toMatchObject({ id: second.id, options: [{ id: 'a' }, { id: 'b' }] });
    await run.propose(second, { prompt: 'Which now?', options: [{ id: 'a' }] });
    await expect(asked?.answer({ option: 'a' })).rejects.toMatchObject({ name: 'SignalboxError' });
    await signalbox.run(run.id).answer('review', { approve: true, reason: 'good' });
    expect((await signalbox.questions()).map(({ id }) => id)).toEqual([second.id]);
    await signalbox.answer(second.id, { option: 'a' });
    expect(await signalbox.questions()).toEqual([]);
    await expect(signalbox.answer('review', 'approve')).rejects.toThrow('Nothing asks as "review"; open: nothing.');
    expect(questions.values).toHaveLength(2);
  });
});
