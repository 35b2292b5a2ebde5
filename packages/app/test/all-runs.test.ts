import { type ArtifactId, deriveId, type RunId, shortId } from '@signalbox/model';
import { describe, expect, it, onTestFinished } from 'vitest';
import { filledIn, NOTES } from '../../guided/test/support/agent-calls.ts';
import { dataDirectory, errorOf, value } from '../../guided/test/support/guided-walk.ts';
import { asked, at, changed, key, newRun, startRun } from '../../runs/test/builders.ts';
import { findListedRun, findPlanRun, readHome } from '../src/all-runs/index.ts';
import { openGuidedSessions } from '../src/guided/index.ts';
import { openOwnedStore } from '../src/host/owned-store.ts';
import { thisMachine } from '../src/machine.ts';
import { openTools } from './support/open-tools.ts';

/** A data directory with a run of a plan that asks, and a guided run that asks. */
async function bothKinds() {
  const directory = dataDirectory();
  const machine = thisMachine();
  const { store, close } = value(openOwnedStore(directory, machine));
  onTestFinished(close);
  const plan = await startRun(store);
  const question = asked(plan.run);
  await plan.write({ at: at(2), decisions: [{ kind: 'ask', decision: question }] });
  const tools = openTools(directory);
  const started = value(await tools.start({ workflowId: 'wr.research' }));
  const needsFromUser = [{ reason: 'needs_user_approval' as const, summary: 'May I?' }];
  const call = filledIn(started);
  value(await tools.continue({ ...call, output: { notesMarkdown: NOTES, needsFromUser } }));
  const sessions = openGuidedSessions({ dataDirectory: directory, directories: [], machine });
  const runs = readHome({ dataDirectory: directory, reader: store, guided: sessions.runs, env: {} });
  return { directory, store, runs, plan: plan.run, guided: started.runId, question: question.id };
}

describe('all runs', () => {
  it('[A610] are one list, and what they ask is one queue', async () => {
    const { runs, plan, guided } = await bothKinds();
    // The run of the plan is of an earlier year.
    expect(value(await runs.list({})).items.map(({ id, kind }) => [id, kind])).toEqual([
      [guided, 'guided'],
      [plan, 'plan'],
    ]);
    expect(value(await runs.list({ kind: 'plan' })).items.map(({ id }) => id)).toEqual([plan]);
    const first = value(await runs.list({ limit: 1 }));
    const second = value(await runs.list({ limit: 1, after: first.next }));
    expect([first.items, second.items].map(([one]) => one?.id)).toEqual([guided, plan]);
    expect(second.next).toBeUndefined();
    const { items } = value(await runs.decisions({}));
    expect(items.map(({ runId, kind }) => [runId, kind])).toEqual([
      [plan, 'plan'],
      [guided, 'guided'],
    ]);
    expect(value(await runs.decisions({ run: guided })).items).toEqual([items[1]]);
  });

  it('[A611] are found whichever driver has them, and nothing else is', async () => {
    const { runs, plan, guided, question } = await bothKinds();
    for (const [id, kind] of [
      [plan, 'plan'],
      [guided, 'guided'],
    ] as const) {
      expect(value(await runs.find(id))).toMatchObject({ id, kind });
      expect(value(await runs.show(id))).toMatchObject({ id, kind });
      expect(value(await runs.events(id, { from: 0, limit: 10, view: 'contract' }))?.[0]?.event).toMatchObject({
        runId: id,
        seq: 0,
      });
    }
    expect(value(await runs.decision(question))).toMatchObject({ approvalId: question, kind: 'plan' });
    const nobody = deriveId<RunId>('test', 'nobody');
    expect(value(await runs.find(nobody))).toBeUndefined();
    expect(value(await runs.show(nobody))).toBeUndefined();
    expect(value(await runs.events(nobody, { from: 0, limit: 10, view: 'stored' }))).toBeUndefined();
    expect(errorOf(await runs.decision(nobody)).code).toBe('decision/unknown');
    expect(errorOf(await runs.artifact(deriveId<ArtifactId>('test', 'nothing'))).code).toBe('artifact/unknown');
  });

  it('[A611] are named by the beginning of an id that only one has', async () => {
    const { directory, store, plan, guided } = await bothKinds();
    const found = async (given: string) => value(await findListedRun(store, directory, given)).id;
    expect([await found(plan), await found(guided)]).toEqual([plan, guided]);
    expect([await found(plan.slice(0, 30)), await found(guided.slice(0, 30))]).toEqual([plan, guided]);
    const { run: second } = await startRun(store);
    expect(errorOf(await findListedRun(store, directory, '01890000'))).toMatchObject({
      message: `01890000 could be 2 runs: ${shortId(second)}, ${shortId(plan)}.`,
      details: { matches: 2 },
    });
    expect(errorOf(await findListedRun(undefined, directory, plan)).code).toBe('run/unknown');
  });

  it('[A1020] are named by the end of an id, by a name that only one has, and as the last or the last that failed', async () => {
    const { directory, store, plan, guided } = await bothKinds();
    const found = async (given: string) => value(await findListedRun(store, directory, given)).id;
    const matches = async (given: string) => errorOf(await findListedRun(store, directory, given)).details;
    expect([await found(shortId(plan)), await found(shortId(guided).toUpperCase())]).toEqual([plan, guided]);
    expect(await found('@last')).toBe(guided);
    expect(value(await findPlanRun(store, directory, '@last')).id).toBe(plan);
    expect(await matches('@failed')).toEqual({ matches: 0 });

    const failed = await startRun(store, newRun({ name: 'release' }));
    await failed.write(changed({ status: 'failed' }));
    const { run: part } = await startRun(
      store,
      newRun({ name: 'release', origin: { kind: 'sub-plan', run: plan, node: key('part'), iteration: 0 } }),
    );
    expect([await found('release'), await found('@failed')]).toEqual([failed.run, failed.run]);
    expect(value(await findPlanRun(store, directory, '@last')).id).not.toBe(part);

    await startRun(store, newRun({ name: 'release' }));
    expect([await matches('release'), await matches('')]).toEqual([{ matches: 2 }, { matches: 0 }]);
    expect(errorOf(await findListedRun(store, directory, 'nothing')).suggestion).toContain('@last');
  });

  it('[A640] are refused as guided, with their session, where a run of a plan is needed', async () => {
    const { directory, store, plan, guided } = await bothKinds();
    expect(value(await findPlanRun(store, directory, plan)).id).toBe(plan);
    const { sessionId } = value(await findListedRun(store, directory, guided)).guided ?? {};
    for (const given of [guided, guided.slice(0, 30)]) {
      expect(errorOf(await findPlanRun(store, directory, given))).toMatchObject({
        code: 'run/guided',
        suggestion: expect.stringContaining(`signalbox show ${sessionId}`),
        details: { run: guided, sessionId },
      });
    }
    const nobody = deriveId<RunId>('test', 'nobody');
    expect(errorOf(await findPlanRun(store, directory, nobody)).code).toBe('run/unknown');
  });
});
