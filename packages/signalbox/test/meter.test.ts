import * as fs from 'node:fs';
import path from 'node:path';
import { type EchoStep, echoPrompt, type ModelReply, startModelServer } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasLayers } from '../../adapters/test/real-life.ts';
import { estimateInput } from '../../app/src/meter/call-estimate.ts';
import { ECHO, filesWith, openMeteredHost, REAL_KEY } from './metered-host.ts';
import { realFolder } from './real-host.ts';

/** What each answer of the model took. */
const USAGE = { input: 30, output: 70 };
const EACH = USAGE.input + USAGE.output;
const ANSWER: ModelReply = { text: 'Something.', usage: USAGE };

/** Agents in parallel, each of which does these steps. */
function plan(count: number, steps: readonly EchoStep[], more = ''): string {
  const agents = Array.from(
    { length: count },
    (_, at) => `<Agent id="a${at}" plugin="echo" cwd="work" retries={0} permissions="skip" prompt={PROMPT} ${more}
        onFinished={said => ctx.state.set('said', { ...ctx.state.get('said'), a${at}: said })} onError={({ error }) => ctx.state.set('said', { ...ctx.state.get('said'), a${at}: error.code })} />`,
  );
  return `import { Agent, definePlan, Parallel } from 'signalbox';
import * as z from 'zod';
const PROMPT = ${JSON.stringify(echoPrompt([...steps, { do: 'say', text: '.' }]))};
export default definePlan({
  name: 'calls',
  state: z.object({ said: z.any().default({}) }),
  render: ctx => <Parallel>${agents.join('\n')}</Parallel>,
});
`;
}

async function life(script: Parameters<typeof startModelServer>[0] = () => ANSWER) {
  const folder = realFolder();
  const model = await startModelServer(script, { maxCalls: 500 });
  const open = () => openMeteredHost({ folder, agent: ECHO, model: model.url });
  const opened = await open();
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= opened.close());
  onTestFinished(async () => {
    await close();
    await model.close();
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  });
  const events = async (run: Awaited<ReturnType<typeof opened.start>>) =>
    (await opened.store.events(run, 0, 10_000)).map(({ event }) => event);
  const log = () => fs.readFileSync(path.join(folder, 'data', 'logs', 'host.ndjson'), 'utf8');
  return { ...opened, close, folder, model, events, log };
}

/** What the meter reserves for one of these calls. */
function reserved(): number {
  const messages = [{ role: 'user', content: 'Say something.' }];
  return estimateInput({ model: 'claude-sonnet-5-5', max_tokens: 100, stream: true, messages }) + 100;
}

const test = it.skipIf(!hasLayers);

describe('agents at the meter', () => {
  test('[A1104, B190] eight in parallel, with calls at once, spend as often as fits together, and never more', async () => {
    const { host, store, start, model, events } = await life();
    // Ten answers leave room for exactly one more reservation; the eleventh answer leaves none.
    const limit = 10 * EACH + reserved();
    const run = await start(plan(8, [{ do: 'callModel', times: 5, atOnce: 2 }]), { maxTotalTokens: limit });
    expect(await host.finished(run)).toMatchObject({ status: 'waiting' });
    expect(model.requests).toHaveLength(11);
    const { inputTokens, outputTokens } = await store.usageOfTree(run);
    expect([inputTokens, outputTokens]).toEqual([11 * USAGE.input, 11 * USAGE.output]);
    const open = await store.decisions({ run, status: ['open'] });
    expect(open.map(({ decision }) => decision.call)).toEqual([`limit:maxTotalTokens:${limit}`]);

    const told = await events(run);
    const refused = told.filter(({ type }) => type === 'model.refused');
    const blocked = told.filter(event => event.type === 'node.status' && event.to === 'blocked');
    expect([refused.length > 0, blocked.length > 0]).toEqual([true, true]);
    // Spent and reserved together, as the log tells them, were within the limit at every moment.
    let [spent, held, most] = [0, 0, 0];
    for (const event of told) {
      if (event.type === 'model.called') held += event.input + event.output;
      if (event.type === 'model.answered') [held, spent] = [held - reserved(), spent + EACH];
      most = Math.max(most, spent + held);
    }
    expect([spent, held]).toEqual([11 * EACH, 0]);
    expect(most).toBeLessThanOrEqual(limit);
  });

  test('[A1104] goes on when the limit is raised', async () => {
    const { host, store, start, model } = await life();
    const limit = EACH + reserved();
    const run = await start(plan(1, [{ do: 'callModel', times: 3 }]), { maxTotalTokens: limit });
    expect(await host.finished(run)).toMatchObject({ status: 'waiting' });
    expect(model.requests).toHaveLength(2);
    const [question] = await store.decisions({ run, status: ['open'] });
    const resolution = { resolutionType: 'approve', rationale: '', actionKind: 'review', value: 10_000 } as const;
    await host.answer(question?.decision.id as never, { resolution }, 'ada');
    expect(await host.finished(run)).toMatchObject({ status: 'completed', output: { said: { a0: '200 200 200.' } } });
    // The turn was done again: its three calls came on top.
    expect((await store.usageOfTree(run)).inputTokens).toBe(5 * USAGE.input);
  });

  test('[A1105] a key that is wrong, another’s or void is refused, and the log says whose it was', async () => {
    const { start, host, model, close, log } = await life();
    const wrong = plan(1, [
      { do: 'callModel', key: 'sk-signalbox-guessed' },
      { do: 'variable', name: 'ANTHROPIC_BASE_URL' },
    ]);
    const run = await start(wrong, {});
    const { output } = (await host.finished(run)) as { readonly output?: { readonly said: { readonly a0: string } } };
    const said = output?.said.a0 ?? '';
    expect([said.startsWith('401'), model.requests.length]).toEqual([true, 0]);
    // The attempt has ended: its address still answers, and lets nobody in.
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? '';
    const late = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'sk-signalbox-old' },
      body: '{}',
    });
    expect(late.status).toBe(401);
    await close();
    const lines = log()
      .split('\n')
      .filter(line => line.includes('a call at the meter was refused'));
    expect(lines).toHaveLength(2);
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({ run, node: 'a0', attempt: 1, path: '/v1/messages' });
    expect(lines.join('')).not.toContain('sk-signalbox-');
  });

  test('[A1308] the real key is in nothing that the agent can read, and in no byte that is written', async () => {
    const { start, host, folder, model, close } = await life();
    const half = REAL_KEY.length / 2;
    const halves = [REAL_KEY.slice(0, half), REAL_KEY.slice(half)] as const;
    const directories = [folder, path.join(folder, 'data'), path.join(folder, 'home'), path.dirname(process.execPath)];
    const run = await start(plan(1, [{ do: 'search', halves, directories }]), {});
    const { output } = (await host.finished(run)) as { readonly output?: { readonly said: { readonly a0: string } } };
    const searched = JSON.parse((output?.said.a0 ?? '').replace(/\.$/, ''));
    // It did look: at its files, at its own process, and at its model, which was asked with the real key.
    expect(searched).toEqual({ found: [], files: expect.any(Number), processes: expect.any(Number) });
    expect([searched.files > 5, searched.processes > 0]).toEqual([true, true]);
    expect(model.requests.map(({ path: at }) => at)).toEqual(expect.arrayContaining(['/v1/messages']));
    await close();
    expect(filesWith(folder, REAL_KEY)).toEqual([]);
  });

  test('[A1106] a stream that is cut is counted by what came, and its agent sees a broken connection', async () => {
    const { start, host, store, events } = await life(() => ({
      ...ANSWER,
      text: ['abcdef', 'ghi'],
      fault: { kind: 'cut', after: 4 },
    }));
    const run = await start(plan(1, [{ do: 'callModel' }]), {});
    expect(await host.finished(run)).toMatchObject({ output: { said: { a0: '0.' } } });
    const answered = (await events(run)).filter(({ type }) => type === 'model.answered');
    expect(answered).toMatchObject([{ outcome: 'cut', status: 200, unknown: ['output'] }]);
    const { inputTokens, outputTokens } = await store.usageOfTree(run);
    expect([inputTokens, outputTokens > 0 && outputTokens < USAGE.output]).toEqual([USAGE.input, true]);
  });

  test('[A1106] a provider that refuses for a while holds every call of its model back', async () => {
    let calls = 0;
    const { start, host, model, store } = await life(() =>
      calls++ === 0 ? { status: 429, retryAfter: '0', message: 'slow down' } : ANSWER,
    );
    const run = await start(plan(1, [{ do: 'callModel', times: 2 }]), {});
    expect(await host.finished(run)).toMatchObject({ output: { said: { a0: '429 200.' } } });
    expect([model.requests.length, (await store.usageOfTree(run)).inputTokens]).toEqual([2, USAGE.input]);
    expect(host.providers.list().providers.find(({ name }) => name === 'anthropic')).toMatchObject({
      models: [{ model: 'claude-sonnet-5-5', calls: 2 }],
    });
  });

  test('[A1107] a cost limit refuses a model of unknown price, and holds for one whose price is known', async () => {
    const { start, host, model, store } = await life();
    const run = await start(plan(1, [{ do: 'callModel', times: 50 }]), { maxCostMicroUsd: 5_000 });
    expect(await host.finished(run)).toMatchObject({ status: 'waiting' });
    // An answer costs 30 × 2 + 70 × 10 = 760 millionths; a reservation 1.25 × 2 a token in, and 100 × 10 out.
    const most = Math.ceil((reserved() - 100) * 2.5) + 1_000;
    const fit = Math.floor((5_000 - most) / 760) + 1;
    expect([model.requests.length, (await store.usageOfTree(run)).costMicroUsd]).toEqual([fit, fit * 760]);
    const other = await start(plan(1, [{ do: 'callModel', model: 'house-model' }]), { maxCostMicroUsd: 5_000 });
    const message = expect.stringContaining('price-unknown');
    expect(await host.finished(other)).toMatchObject({ status: 'failed', error: { message } });
    expect(model.requests.length).toBe(fit);
  });
});
