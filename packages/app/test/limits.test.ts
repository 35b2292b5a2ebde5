import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type Resolution, type RunId } from '@signalbox/model';
import { type ModelScript, startModelServer } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDecisionDesk } from '../src/decisions/decision-desk.ts';
import { openHome } from '../src/host/open-home.ts';
import { takeUp } from '../src/host/take-up.ts';
import { thisMachine } from '../src/machine.ts';
import { verifyRunReplay } from '../src/replay/verify-replay.ts';
import { planText, testHostOf } from './support/open-host.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const approve: Resolution = { resolutionType: 'approve', rationale: '', actionKind: 'review' };
const deny: Resolution = { ...approve, resolutionType: 'reject' };

/** A home whose agents talk to a scripted model. A run that waits goes on when it is answered. */
async function open(script: ModelScript = []) {
  const folder = temporaryFolder();
  const server = await startModelServer(script);
  const home = await openHome({
    dataDirectory: path.join(folder, 'data'),
    machine: thisMachine(),
    env: { ANTHROPIC_API_KEY: 'sk-secret-key', ANTHROPIC_BASE_URL: server.url },
    resumeOnAnswer: true,
    threads: { threads: 1 },
  });
  if (!home.ok) throw new Bug(home.error.message);
  const { host, owned, close } = home.value;
  onTestFinished(async () => {
    await close();
    await server.close();
  });
  mkdirSync(path.join(folder, 'work'), { recursive: true });
  const { store } = owned;
  const questions = async (run: RunId) =>
    (await store.decisions({ run, status: ['open'] })).map(({ decision }) => decision);
  return {
    ...testHostOf(folder, host, store, close),
    folder,
    server,
    questions,
    /** Whether every frame of the run comes out again. */
    async isVerified(run: RunId) {
      const verdict = await verifyRunReplay(path.join(folder, 'data'), run, { machine: thisMachine() });
      return verdict.ok && verdict.value.ok;
    },
    async question(run: RunId) {
      const [first, second] = await questions(run);
      if (first === undefined || second !== undefined) throw new Bug('there is not one question');
      return first;
    },
  };
}

/** Five turns with a tool call each, then the answer. Each turn takes 70,000 tokens. */
const fiveTurns: ModelScript = ({ turn }) => ({
  ...(turn <= 5 ? { calls: [{ tool: 'list_files', input: {} }] } : { text: 'done' }),
  usage: { input: 60_000, output: 10_000 },
});
const agent = (id = 'agent') =>
  `<Agent id="${id}" model="anthropic:claude-test" cwd="work" prompt="Go on." maxTurns={50} />`;

describe('a limit that is reached', () => {
  it('[A181] is a question that names the limit, what was spent and what to raise it to; raised, the run goes on from there', async () => {
    const { host, start, end, store, server, question, isVerified } = await open(fiveTurns);
    const run = await start('plan', planText(agent()), { limits: { maxTotalTokens: 150_000 } });
    expect(await end(run)).toEqual({ status: 'waiting' });
    expect(server.requests).toHaveLength(3);
    const asked = await question(run);
    expect(asked).toMatchObject({
      kind: 'confirmation',
      proposal: {
        prompt: `Run ${run} used 210000 of its 150000 tokens. Raise the limit to 360000 tokens and go on? Denied, the run is stopped.`,
        context: { limit: 'maxTotalTokens', allowed: 150_000, spent: 210_000, suggested: 360_000 },
      },
    });
    expect(await host.answer(asked.id, { resolution: { ...approve, value: 210_000 } }, 'ada')).toMatchObject({
      ok: false,
      error: { code: 'VALIDATION_ERROR' },
    });
    expect(await host.answer(asked.id, { resolution: { ...approve, value: 300_000 } }, 'ada')).toMatchObject({
      ok: true,
    });
    expect(await end(run)).toEqual({ status: 'waiting' });
    expect(server.requests).toHaveLength(5);
    expect((await store.run(run))?.limits).toEqual({ maxTotalTokens: 300_000 });
    const again = await question(run);
    expect(await host.answer(again.id, { resolution: approve }, 'ada')).toMatchObject({ ok: true });
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect(server.requests).toHaveLength(6);
    const tasks = await store.tasks(run);
    expect(tasks.map(({ status, retryCount }) => [status, retryCount])).toEqual([['done', 0]]);
    expect(await isVerified(run)).toBe(true);
  });

  it('[A181] stops the run with the reason when it is denied', async () => {
    const { host, start, end, question, questions } = await open(fiveTurns);
    const run = await start('plan', planText(agent()), { limits: { maxToolCalls: 2 } });
    expect(await end(run)).toEqual({ status: 'waiting' });
    const { id } = await question(run);
    expect(await host.answer(id, { resolution: deny }, 'ada')).toMatchObject({ ok: true });
    expect(await end(run)).toEqual({
      status: 'stopped',
      stopReason: `A limit was reached and not raised. Run ${run} used 2 of its 2 tool calls.`,
    });
    expect(await questions(run)).toEqual([]);
  });

  it.each([
    ['denied', deny, { status: 'stopped', stopReason: expect.stringContaining('used 2 of its 2 tool calls.') }],
    ['raised', { ...approve, value: 1000 }, { status: 'completed' }],
  ] as const)('[A1010] is %s as a person said before the process died', async (_, resolution, ended) => {
    const { host, start, end, store, question } = await open(fiveTurns);
    const run = await start('plan', planText(agent()), { limits: { maxToolCalls: 2 } });
    expect(await end(run)).toEqual({ status: 'waiting' });
    expect(await takeUp(host)).toEqual([]);
    const { id } = await question(run);
    // The answer is durable, and nobody hears of it: as if the process had died then.
    const desk = createDecisionDesk({ commit: store, reader: store, machine: thisMachine() });
    expect(await desk.answer(id, { resolution }, 'ada')).toMatchObject({ ok: true });
    expect(await takeUp(host)).toEqual(ended.status === 'stopped' ? [] : [run]);
    expect(await end(run)).toMatchObject(ended);
  });

  it('[A181] is asked once for all that wait for it, also in runs of sub-plans', async () => {
    const { host, start, end, question, isVerified } = await open(fiveTurns);
    const inner = `const inner = definePlan({ name: 'inner', render: () => <Parallel>${agent('a')}${agent('b')}</Parallel> });`;
    const outer = planText('<SubPlan id="sub" plan={inner} />', undefined, inner);
    const run = await start('plan', outer, { limits: { maxTotalTokens: 100_000 } });
    expect(await end(run)).toEqual({ status: 'waiting' });
    const { id } = await question(run);
    expect(await host.answer(id, { resolution: { ...approve, value: 100_000_000 } }, 'ada')).toMatchObject({
      ok: true,
    });
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect(await isVerified(run)).toBe(true);
  });

  it('[A181] keeps work of the plan itself from starting, until it is raised by a resume', async () => {
    const { host, start, end, store, questions } = await open(fiveTurns);
    const run = await start(
      'plan',
      planText(`<Phase name="one">${agent()}</Phase><Phase name="two"><Task id="after" run={() => 1} /></Phase>`),
      {
        limits: { maxTotalTokens: 420_000 },
      },
    );
    expect(await end(run)).toEqual({ status: 'waiting' });
    expect((await store.tasks(run)).map(({ node, status }) => [node, status])).toEqual([
      ['agent', 'done'],
      ['after', 'pending'],
    ]);
    expect(await questions(run)).toHaveLength(1);
    expect(
      await host.resume(run, { limits: { maxTotalTokens: 900_000, maxRetriesPerTask: 7 }, by: 'ada' }),
    ).toMatchObject({
      ok: true,
    });
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect(await questions(run)).toEqual([]);
    expect((await store.run(run))?.limits).toEqual({ maxTotalTokens: 900_000, maxRetriesPerTask: 7 });
  });

  it('[A329] [A319] is asked about once, also after a resume with a limit that is below what was spent', async () => {
    const { host, start, end, question, questions } = await open(fiveTurns);
    const run = await start('plan', planText(agent()), { limits: { maxTotalTokens: 150_000 } });
    expect(await end(run)).toEqual({ status: 'waiting' });
    const first = await question(run);
    expect(await host.resume(run, { limits: { maxTotalTokens: 100_000 }, by: 'ada' })).toMatchObject({ ok: true });
    expect(await end(run)).toEqual({ status: 'waiting' });
    expect(await questions(run)).toHaveLength(1);
    const second = await question(run);
    expect([second.id === first.id, second.proposal]).toMatchObject([false, { context: { allowed: 100_000 } }]);
    // An answer to the first one is refused with why it was withdrawn.
    const late = await host.answer(first.id, { resolution: approve }, 'ada');
    expect(late).toMatchObject({
      error: { code: 'decision/withdrawn', message: expect.stringContaining(`the limit of run ${run} was changed`) },
    });
  });

  it('[A182] of time lets go of work that never settles, and more time begins it again', async () => {
    const { host, start, end, folder, store, question, isVerified } = await open();
    const begun = path.join(folder, 'begun');
    const go = path.join(folder, 'go');
    const text = planText(
      `<Task id="long" run={async () => {
        writeFileSync(${JSON.stringify(begun)}, '');
        while (!existsSync(${JSON.stringify(go)})) await new Promise(resolve => setTimeout(resolve, 5));
        return 'good';
      }} />`,
      undefined,
      "import { existsSync, writeFileSync } from 'node:fs';",
    );
    const run = await start('plan', text, { limits: { maxWallClockMs: 300 } });
    expect(await end(run)).toEqual({ status: 'waiting' });
    const { id, proposal } = await question(run);
    expect(proposal).toMatchObject({ context: { limit: 'maxWallClockMs', allowed: 300 } });
    expect((await store.tasks(run)).map(({ status }) => status)).toEqual(['pending']);
    await until(() => existsSync(begun) || undefined);
    writeFileSync(go, '');
    const hour = 3_600_000;
    expect(await host.answer(id, { resolution: { ...approve, value: hour } }, 'ada')).toMatchObject({ ok: true });
    expect(await end(run)).toMatchObject({ status: 'completed' });
    expect(await isVerified(run)).toBe(true);
  });

  it('[A183] clamps a call to what is left', async () => {
    const { start, end, server } = await open([{ text: 'done', usage: { input: 10, output: 5 } }]);
    const run = await start('plan', planText(agent()), { limits: { maxTotalTokens: 12_000 } });
    expect(await end(run)).toMatchObject({ status: 'completed' });
    const [request] = server.requests;
    const { max_tokens: most } = (request?.body ?? {}) as { max_tokens?: number };
    expect(most).toBeGreaterThan(1000);
    expect(most).toBeLessThan(12_000);
  });

  it('[A1330] lets the built-in agent call its model as often as the input of its calls and their answers fit, also with eight nodes at once', async () => {
    // A call takes a prompt of 300,000 bytes: 100,000 tokens by estimate, and up to 10,000 more with its tools and what was said. What it spends:
    const spends = { input: 50_000, output: 10_000 };
    const { start, end, server, store, question } = await open(({ turn }) => ({
      ...(turn <= 4 ? { calls: [{ tool: 'list_files', input: {} }] } : { text: 'done' }),
      usage: spends,
    }));
    const long = "const long = 'a '.repeat(150_000);";
    const nodes = Array.from(
      { length: 8 },
      (_, at) => `<Agent id="n${at}" model="anthropic:claude-test" cwd="work" prompt={long} maxTurns={50} />`,
    ).join('');
    const limit = 460_000;
    const run = await start('plan', planText(`<Parallel>${nodes}</Parallel>`, undefined, long), {
      limits: { maxTotalTokens: limit },
    });
    expect(await end(run)).toEqual({ status: 'waiting' });
    // One fits where 110,000 are left, and none where 100,000 are: six go out, after 0, 60,000, … 300,000 of 460,000. After them 100,000 are left.
    expect(server.requests).toHaveLength(6);
    const { inputTokens, outputTokens } = await store.usageOfTree(run);
    expect(inputTokens + outputTokens).toBe(360_000);
    const { wanted, ...asked } = (await question(run)).proposal as unknown as { wanted?: number; prompt: string };
    expect([wanted, asked.prompt]).toMatchObject([
      undefined,
      expect.stringContaining('and the next call takes at least 1'),
    ]);
    for (const [at, { body }] of server.requests.entries()) {
      const { max_tokens: most = 0 } = body as { max_tokens?: number };
      expect(most).toBeLessThanOrEqual(limit - at * 60_000 - 100_000);
    }
  });
});
