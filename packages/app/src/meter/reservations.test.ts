import { createIdSource, type RunId } from '@signalbox/model';
import { type Budgeted, NO_USAGE, type StopConditions } from '@signalbox/runs';
import { fakeClock, seededRng } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { createReservations } from './reservations.ts';

const ids = createIdSource(fakeClock(), seededRng(1));
const [root, child, other] = [ids.mint<RunId>(), ids.mint<RunId>(), ids.mint<RunId>()];
const never = new AbortController().signal;

/** A tree of two sub-plans below one run, whose spending the test decides. */
function tree(limits: StopConditions) {
  let tokens = 0;
  const budgeted = (run: RunId, own: StopConditions): Budgeted => ({
    ...{ run, limits: own, elapsedMs: 0, stopRequested: false },
    spent: { ...NO_USAGE, inputTokens: tokens },
  });
  return {
    path: (run: RunId) => async () => [budgeted(run, {}), budgeted(root, limits)],
    spend(more: number) {
      tokens += more;
    },
  };
}

describe('reservations', () => {
  it('[A1100] are of the run and of everything above it, until they are released', async () => {
    const { path } = tree({ maxTotalTokens: 100 });
    const desk = createReservations();
    const first = await desk.reserve(path(child), { tokens: 60 }, never);
    expect(first).toMatchObject({ kind: 'go', left: { tokens: 100 } });
    expect([desk.held(child).tokens, desk.held(root).tokens, desk.held(other).tokens]).toEqual([60, 60, 0]);
    if (first?.kind === 'go') first.release();
    expect([desk.held(child).tokens, desk.held(root).tokens]).toEqual([0, 0]);
  });

  it('[A1100] let no number of parallel calls pass a limit together', async () => {
    const { path, spend } = tree({ maxTotalTokens: 100 });
    const desk = createReservations();
    let most = 0;
    let spent = 0;
    const call = async (run: RunId) => {
      const room = await desk.reserve(path(run), { tokens: 30 }, never);
      if (room?.kind !== 'go') return room?.kind;
      most = Math.max(most, spent + desk.held(root).tokens);
      await new Promise(resolve => setImmediate(resolve));
      spend(10);
      spent += 10;
      room.release();
      return 'went';
    };
    const ended = await Promise.all(Array.from({ length: 20 }, (_, at) => call(at % 2 === 0 ? child : other)));
    // A call fits while at most 70 are spent: 0, 10, … 70.
    expect([ended.filter(end => end === 'went').length, spent, most <= 100]).toEqual([8, 80, true]);
    expect(ended.filter(end => end === 'stop')).toHaveLength(12);
  });

  it('[A1100] stop a call that would not fit alone, and say what it may take', async () => {
    const { path, spend } = tree({ maxTotalTokens: 100 });
    spend(80);
    expect(await createReservations().reserve(path(child), { tokens: 30 }, never)).toMatchObject({
      ...{ kind: 'stop', run: root, condition: 'tokens' },
      reached: { name: 'maxTotalTokens', allowed: 100, used: 80, wanted: 30 },
      reason: `Run ${root} used 80 of its 100 tokens, and the next call may take 30.`,
    });
  });

  it('[A1100] give a call that can make do with less what is left, and others wait for it', async () => {
    const { path, spend } = tree({ maxTotalTokens: 100 });
    const desk = createReservations();
    const wanted = { tokens: 5_000, least: { tokens: 71 } };
    const first = await desk.reserve(path(child), wanted, never);
    expect([first, desk.held(root).tokens]).toMatchObject([{ kind: 'go', left: { tokens: 100 } }, 100]);
    const second = desk.reserve(path(other), wanted, never);
    spend(30);
    if (first?.kind === 'go') first.release();
    expect(await second).toMatchObject({ kind: 'stop', reached: { used: 30, wanted: 71 } });
    const third = await desk.reserve(path(other), { ...wanted, least: { tokens: 70 } }, never);
    expect([third, desk.held(root).tokens]).toMatchObject([{ kind: 'go', left: { tokens: 70 } }, 70]);
  });

  it('[A1100] end their wait when the work is canceled', async () => {
    const { path } = tree({ maxTotalTokens: 100 });
    const desk = createReservations();
    await desk.reserve(path(child), { tokens: 60 }, never);
    const aborter = new AbortController();
    const waits = desk.reserve(path(other), { tokens: 60 }, aborter.signal);
    aborter.abort();
    expect(await waits).toBeUndefined();
  });

  it('[A1100] refuse a call of unknown cost where cost is limited', async () => {
    const { path } = tree({ maxCostMicroUsd: 100 });
    expect(await createReservations().reserve(path(child), { tokens: 1 }, never)).toMatchObject({
      ...{ kind: 'stop', condition: 'cost' },
      reached: { name: 'maxCostMicroUsd', allowed: 100, used: 0 },
    });
  });
});
