import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { planText } from './support/open-host.ts';
import { MODEL_KEY, openScriptedHome } from './support/open-scripted-home.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const approve = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;

const agentPlan = (props: string, state = 'z.object({ said: z.any(), failed: z.any() })') =>
  planText(
    `<Agent id="agent" model="anthropic:claude-test" cwd="work" prompt="Do it." maxTurns={6} ${props}
       onFinished={said => ctx.state.set('said', said)} onError={({ error }) => ctx.state.set('failed', error.message)} />`,
    state,
  );

describe('an agent of a plan', () => {
  it('[A33] streams what it says, uses tools on its files, and its result is durable', async () => {
    const folder = temporaryFolder();
    const { server, store, start, end, state } = await openScriptedHome(folder, [
      { text: 'I write a file.', calls: [{ tool: 'write_file', input: { path: 'a.txt', content: 'hello' } }] },
      { text: 'It is written.', usage: { input: 10, output: 5 } },
    ]);
    const run = await start('plan', agentPlan(''));
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect(await state(run)).toEqual({ said: 'It is written.' });
    expect(readFileSync(path.join(folder, 'work', 'a.txt'), 'utf8')).toBe('hello');
    const [task] = await store.tasks(run);
    const chunks = await store.stream(run, task?.id as never, 0, 500);
    const tokens = chunks.filter(({ kind }) => kind === 'token').map(({ payload }) => payload);
    expect(tokens.join('')).toBe('I write a file.It is written.');
    expect(chunks.filter(({ kind }) => kind === 'tool_end')).toHaveLength(1);
    expect(await store.usageOfTree(run)).toMatchObject({ calls: 2, toolCalls: 1 });
    expect(server.requests.map(({ status }) => status)).toEqual([200, 200]);
    expect(JSON.stringify([await store.events(run, 0, 500), chunks])).not.toContain(MODEL_KEY);
  });

  it('[A33] gives an answer that fits the schema of its node, after being told what was wrong', async () => {
    const { start, end, state } = await openScriptedHome(temporaryFolder(), ({ turn, wantsJson, tools }) => {
      const answer = { verdict: turn === 1 ? 7 : 'good' };
      if (wantsJson) return { text: JSON.stringify(answer) };
      return { calls: [{ tool: tools.at(-1)?.name ?? '', input: answer }] };
    });
    const run = await start('plan', agentPlan('schema={z.object({ verdict: z.string() })}'));
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect(await state(run)).toEqual({ said: { verdict: 'good' } });
  });

  it('[A33] that fails tells its handler, and the state says why', async () => {
    const { start, end, state } = await openScriptedHome(temporaryFolder(), [
      { status: 401, message: 'invalid x-api-key' },
    ]);
    const run = await start('plan', agentPlan(''));
    expect(await end(run)).toMatchObject({ status: 'failed' });
    expect((await state(run)).failed).toMatch(/agent failed/);
  });

  it('[A33] that is refused for a while waits as long as it was told, durably, and goes on', async () => {
    const { server, store, start, end } = await openScriptedHome(temporaryFolder(), ({ call }) =>
      call === 1 ? { status: 429, retryAfter: '1' } : { text: 'Here.' },
    );
    const run = await start('plan', agentPlan(''));
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const events = (await store.events(run, 0, 500)).map(({ event }) => event);
    const retry = events.find(({ type }) => type === 'task.retry');
    expect(retry).toMatchObject({ error: { code: 'rate_limit', retryAfterMs: 1000 } });
    expect(
      events.filter(event => event.type === 'node.status').map(event => [event.to, event.blockReason]),
    ).toContainEqual(['blocked', 'rate_limit']);
    expect(server.requests.map(({ status }) => status)).toEqual([429, 200]);
  });

  it('[A147] that waits for a busy model holds no end of the process up, and goes on in the next one', async () => {
    const folder = temporaryFolder();
    const first = await openScriptedHome(folder, [{ status: 429, retryAfter: '3600' }]);
    const refused = await first.start('refused', agentPlan(''));
    await until(async () => (await first.store.tasks(refused, { status: ['pending'] })).length === 1 || undefined);
    const held = await first.start('held', agentPlan('retries={0}'));
    const child = agentPlan('retries={0}').replace('export default', 'const child =');
    const above = await first.start(
      'above',
      `${child}\nexport default definePlan({ name: 'above', input: z.any(), render: () => <SubPlan id="sub" plan={child} input={{}} /> });`,
    );
    const waiting = () => first.host.providers.list().providers.flatMap(({ models }) => models)[0]?.waiting;
    await until(() => waiting() === 2 || undefined);
    await first.close();

    const second = await openScriptedHome(folder, [{ text: 'Here.' }, { text: 'Here.' }, { text: 'Here.' }]);
    const [below] = await second.store.children(above);
    const agents = [refused, held, below?.id ?? above];
    for (const [index, run] of agents.entries()) {
      const [task] = await second.store.tasks(run);
      expect(task).toMatchObject({ status: 'pending', retryCount: index === 0 ? 1 : 0 });
      expect(Date.parse(task?.nextRetryAt ?? '')).toBeGreaterThan(Date.now() + 1_800_000);
    }
    for (const run of [refused, held, above]) {
      expect(await second.store.run(run)).toMatchObject({ status: 'paused' });
      expect(await second.host.resume(run)).toMatchObject({ ok: true });
    }
    // Their time is an hour away; a person need not wait for it either.
    for (const run of agents) {
      await until(async () => (await second.host.act(run, { kind: 'retry', node: 'agent' }, 'ada')).ok || undefined);
    }
    for (const run of [refused, held, above]) expect(await second.end(run)).toMatchObject({ status: 'completed' });
    expect(second.server.requests).toHaveLength(3);
  });

  it('[A34] does nothing that a person must allow before the person did; what was denied it is told', async () => {
    const folder = temporaryFolder();
    const { host, store, start, end } = await openScriptedHome(folder, ({ since }) => {
      const result = since.find(part => part.kind === 'result');
      if (result === undefined) {
        return {
          calls: [
            { tool: 'write_file', input: { path: 'yes.txt', content: 'yes' } },
            { tool: 'write_file', input: { path: 'no.txt', content: 'no' } },
          ],
        };
      }
      return { text: JSON.stringify(since) };
    });
    const run = await start('plan', agentPlan('permissions="gated"'));
    expect(await end(run)).toEqual({ status: 'waiting' });
    const asked = await store.decisions({ run, status: ['open'] });
    expect(
      asked.map(({ decision }) => [decision.kind, (decision.proposal as { input: { path: string } }).input.path]),
    ).toEqual([
      ['file_edit', 'yes.txt'],
      ['file_edit', 'no.txt'],
    ]);
    expect(() => readFileSync(path.join(folder, 'work', 'yes.txt'))).toThrow();
    const [first, second] = asked.map(({ decision }) => decision.id);
    await host.answer(
      second as never,
      { resolution: { ...approve, resolutionType: 'reject', rationale: 'not that one' } },
      'ada',
    );
    await host.finished(run);
    await host.answer(first as never, { resolution: approve }, 'ada');
    expect(await end(run)).toMatchObject({
      status: 'completed',
      output: { said: expect.stringContaining('not that one') },
    });
    expect(readFileSync(path.join(folder, 'work', 'yes.txt'), 'utf8')).toBe('yes');
    expect(() => readFileSync(path.join(folder, 'work', 'no.txt'))).toThrow();
  });

  it('[A35] spends no more than the run, or the run above it, may', async () => {
    const { server, store, start, end } = await openScriptedHome(temporaryFolder(), () => ({
      calls: [{ tool: 'list_files', input: {} }],
      usage: { input: 60_000, output: 10_000 },
    }));
    const inner = `const inner = definePlan({
      name: 'inner',
      render: () => <Agent id="agent" model="anthropic:claude-test" prompt="Go on." maxTurns={50} />,
    });`;
    const outer = planText('<SubPlan id="sub" plan={inner} />', 'z.object({})', inner);
    const run = await start('plan', outer, { limits: { maxTotalTokens: 150_000 } });
    expect(await end(run)).toEqual({ status: 'waiting' });
    // The call that reached the limit was the last.
    expect(server.requests).toHaveLength(3);
    expect((await store.usageOfTree(run)).inputTokens).toBe(180_000);
  });
});
