import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bug, type Resolution, type RunId } from '@signalbox/model';
import type { Decision } from '@signalbox/runs';
import { type ModelScript, startModelServer } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openHome } from '../src/host/open-home.ts';
import { takeUp } from '../src/host/take-up.ts';
import { thisMachine } from '../src/machine.ts';
import { planText, testHostOf } from './support/open-host.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const approve: Resolution = { resolutionType: 'approve', rationale: '', actionKind: 'review' };
const deny: Resolution = { ...approve, resolutionType: 'reject' };

function idOf(decision: Decision | undefined): Decision['id'] {
  if (decision === undefined) throw new Bug('there is no question');
  return decision.id;
}

/** Four turns with a tool call, then the answer: five calls of 70,000 tokens. */
const fiveCalls: ModelScript = ({ turn }) => ({
  ...(turn <= 4 ? { calls: [{ tool: 'list_files', input: {} }] } : { text: 'done' }),
  usage: { input: 60_000, output: 10_000 },
});
const RUN = 350_000;
const agent = (cwd = 'work') =>
  `<Agent id="agent" model="anthropic:claude-test" cwd="${cwd}" prompt="Go on." maxTurns={50} />`;

/** Homes of one data directory, one after the other, at noon of a day in the future. */
async function place(limits: object) {
  const folder = temporaryFolder();
  const data = path.join(folder, 'data');
  const config = path.join(data, 'config.json');
  const write = (given: object) => writeFileSync(config, JSON.stringify({ limits: given }));
  mkdirSync(data, { mode: 0o700 });
  for (const name of ['work', 'other']) mkdirSync(path.join(folder, name));
  write(limits);
  const server = await startModelServer(fiveCalls);
  const clock = { ms: Date.parse('2040-05-06T12:00:00.000Z'), now: () => clock.ms };
  const closing: (() => Promise<void>)[] = [() => server.close()];
  onTestFinished(async () => {
    for (const close of closing.toReversed()) await close();
  });
  return {
    ...{ folder, data, server, clock, write },
    config: () => JSON.parse(readFileSync(config, 'utf8')).limits,
    async open(resumeOnAnswer = true) {
      const home = await openHome({
        dataDirectory: data,
        machine: { ...thisMachine(), clock },
        env: { ANTHROPIC_API_KEY: 'sk-secret-key', ANTHROPIC_BASE_URL: server.url },
        resumeOnAnswer,
        threads: { threads: 1 },
      });
      if (!home.ok) throw new Bug(home.error.message);
      const { host, owned } = home.value;
      let isClosed = false;
      const close = async () => {
        if (!isClosed) await home.value.close();
        isClosed = true;
      };
      closing.push(close);
      const { store } = owned;
      const questions = async () => (await store.decisions({ status: ['open'] })).map(each => each.decision);
      const waits = async (...runs: readonly RunId[]) => {
        for (const run of runs) {
          await host.finished(run);
          expect((await store.run(run))?.status).toBe('waiting');
        }
      };
      const completes = (run: RunId) =>
        until(async () => ((await store.run(run))?.status === 'completed' ? true : undefined));
      return { ...testHostOf(folder, host, store, close), questions, waits, completes };
    },
  };
}

describe('a limit of a day', () => {
  it('[A1300] [A1301] [A1302] holds over several runs and restarts, waits for a person, and for every run the answer of one is enough', async () => {
    const at = await place({ day: { tokens: 150_000 } });
    const { host, start, questions, waits, completes } = await at.open();
    const [one, two] = [await start('one', planText(agent())), await start('two', planText(agent('other')))];
    await waits(one, two);
    // As with the limit of one run: the call that is under way may end above it.
    expect(at.server.requests).toHaveLength(3);
    const asked = await questions();
    expect(asked).toHaveLength(2);
    expect(asked[0]?.proposal).toEqual({
      prompt:
        'All runs together used 210000 of the 150000 tokens for 2040-05-06 (UTC). Raise the limit to 360000 tokens for this day and go on? ' +
        'Denied, the run is stopped. Unanswered, it goes on the next day.',
      context: {
        ...{ limit: 'maxTotalTokens', allowed: 150_000, spent: 210_000, suggested: 360_000 },
        ceiling: { scope: 'day', day: '2040-05-06' },
      },
    });
    const third = await start('three', planText(agent()));
    await waits(third);
    expect(at.server.requests).toHaveLength(3);
    expect(await host.limits.read()).toMatchObject({
      today: '2040-05-06',
      ceilings: [
        {
          ...{
            scope: 'day',
            day: '2040-05-06',
            configured: { maxTotalTokens: 150_000 },
            limits: { maxTotalTokens: 150_000 },
          },
          spent: { tokens: 210_000 },
          waiting: expect.arrayContaining([one, two, third]),
        },
      ],
    });
    const [first] = asked;
    expect(await host.answer(idOf(first), { resolution: { ...approve, value: 200_000 } }, 'ada')).toMatchObject({
      error: { message: expect.stringContaining('a whole number above 210000') },
    });
    expect(await host.answer(idOf(first), { resolution: { ...approve, value: 9_000_000 } }, 'ada')).toMatchObject({
      ok: true,
    });
    for (const run of [one, two, third]) await completes(run);
    expect(at.server.requests).toHaveLength(15);
    expect(await questions()).toEqual([]);
    // Raised for the day alone.
    expect(at.config()).toEqual({ day: { tokens: 150_000 } });
    expect((await host.limits.read()).ceilings).toMatchObject([
      { configured: { maxTotalTokens: 150_000 }, limits: { maxTotalTokens: 9_000_000 }, spent: { tokens: 3 * RUN } },
    ]);
  });

  it('[A1300] [A1303] counts what was spent before a restart, and lets runs go on when its day is over', async () => {
    const at = await place({ day: { tokens: 70_000 } });
    const before = await at.open();
    const early = await before.start('early', planText(agent()));
    await before.waits(early);
    expect(at.server.requests).toHaveLength(1);
    await before.close();

    const { start, questions, waits, completes, host, store } = await at.open();
    expect(await takeUp(host)).toEqual([]);
    const late = await start('late', planText(agent()));
    await waits(late);
    expect(at.server.requests).toHaveLength(1);
    expect(await questions()).toHaveLength(2);
    at.clock.ms += 86_400_000;
    // One of them spends what the new day allows, and both wait again.
    await until(async () => {
      const about = (await questions()).map(({ call }) => call);
      return about.length === 2 && about.every(call => call.endsWith('day:2040-05-07')) ? true : undefined;
    });
    expect(at.server.requests).toHaveLength(2);
    await waits(early, late);
    expect(await host.limits.change({ scope: 'day' }, { maxTotalTokens: null })).toMatchObject({ ok: true });
    for (const run of [early, late]) await completes(run);
    expect(at.server.requests).toHaveLength(10);
    expect(at.config()).toEqual({});
    expect((await store.decisions({ status: ['open'] })).length).toBe(0);
  });

  it('[A1303] is left to a process that drives runs: one that does not takes back no question', async () => {
    const at = await place({ day: { tokens: 70_000 } });
    const first = await at.open();
    const run = await first.start('one', planText(agent()));
    await first.waits(run);
    await first.close();
    at.clock.ms += 86_400_000;
    const other = await at.open(false);
    expect(await other.host.limits.change({ scope: 'day' }, { maxTotalTokens: 9_000_000 })).toMatchObject({ ok: true });
    expect(await other.questions()).toHaveLength(1);
    await other.close();
    const { completes, questions } = await at.open();
    await completes(run);
    expect(await questions()).toEqual([]);
  });

  it('[A1304] that cannot be read lets nothing through, and half of a file that is being edited changes nothing', async () => {
    const at = await place({ day: { tokens: 'many' } });
    const { start, end, host } = await at.open();
    const run = await start('one', planText(agent()));
    expect(await end(run)).toEqual({
      status: 'stopped',
      stopReason: expect.stringMatching(/config\.json.*limits\.day\.tokens/),
    });
    expect(at.server.requests).toHaveLength(0);
    expect(await host.limits.change({ scope: 'day' }, { maxTotalTokens: 5 })).toMatchObject({
      error: { message: expect.stringContaining('its part "limits" is invalid') },
    });
    at.write({ day: { tokens: 9_000_000 } });
    expect(await end(await start('two', planText(agent())))).toMatchObject({ status: 'completed' });
    writeFileSync(path.join(at.data, 'config.json'), '{"limits":{"day":{"tok');
    expect(await end(await start('three', planText(agent())))).toMatchObject({ status: 'completed' });
  });
});

describe('a limit of a project', () => {
  it('[A1300] [A1305] stands over runs of its directory alone; raised, it is written', async () => {
    const at = await place({});
    const { host, start, end, waits, questions, completes } = await at.open();
    const work = path.join(at.folder, 'work');
    const inWork = { directory: work };
    expect(await host.limits.change({ scope: 'project', directory: work }, { maxTotalTokens: 100_000 })).toMatchObject({
      ok: true,
    });
    const outside = await start('outside', planText(agent('.')), { directory: path.join(at.folder, 'other') });
    expect(await end(outside)).toMatchObject({ status: 'completed' });
    const inside = await start('inside', planText(agent('.')), inWork);
    await waits(inside);
    expect(at.server.requests).toHaveLength(7);
    const [asked] = await questions();
    expect(asked?.proposal).toMatchObject({
      prompt: expect.stringContaining(
        `Project ${work} used 140000 of its 100000 tokens. Raise the limit to 240000 tokens and go on?`,
      ),
    });
    expect(await host.answer(idOf(asked), { resolution: { ...approve, value: 400_000 } }, 'ada')).toMatchObject({
      ok: true,
    });
    await completes(inside);
    expect(at.config()).toEqual({ projects: { [work]: { tokens: 400_000 } } });
    // The day after tomorrow its past is added up once, and is still there.
    at.clock.ms += 2 * 86_400_000;
    expect((await host.limits.read()).ceilings).toMatchObject([{ spent: { tokens: RUN } }]);
    await waits(await start('again', planText(agent('.')), inWork));
    expect((await host.limits.read()).ceilings).toMatchObject([{ spent: { tokens: RUN + 70_000 } }]);
  });

  it('[A1302] denied stops the run', async () => {
    const at = await place({});
    const { host, start, end, waits, questions } = await at.open();
    const work = path.join(at.folder, 'work');
    await host.limits.change({ scope: 'project-day', directory: at.folder }, { maxTotalTokens: 10_000 });
    const run = await start('inside', planText(agent('.')), { directory: work });
    await waits(run);
    const [asked] = await questions();
    expect(await host.answer(idOf(asked), { resolution: deny }, 'ada')).toMatchObject({ ok: true });
    expect(await end(run)).toEqual({
      status: 'stopped',
      stopReason: `A limit was reached and not raised. Project ${at.folder} used 70000 of its 10000 tokens for 2040-05-06 (UTC).`,
    });
  });
});

describe('the limits of new runs', () => {
  it('[A1306] hold for runs that are started without their own', async () => {
    const at = await place({ run: { tokens: 100_000 } });
    const { start, waits, end, store, host } = await at.open();
    const limited = await start('limited', planText(agent()), { limits: { maxToolCalls: 50 } });
    await waits(limited);
    expect((await store.run(limited))?.limits).toEqual({ maxTotalTokens: 100_000, maxToolCalls: 50 });
    expect(await end(await start('own', planText(agent()), { limits: { maxTotalTokens: 500_000 } }))).toMatchObject({
      status: 'completed',
    });
    await host.limits.change({ scope: 'run' }, { maxTotalTokens: null, maxCostMicroUsd: 2_500_000 });
    expect(at.config()).toEqual({ run: { costUsd: 2.5 } });
    expect((await host.limits.read()).run).toEqual({ maxCostMicroUsd: 2_500_000 });
  });
});
