import path from 'node:path';
import type { RunComparison, RunId } from '@signalbox/model';
import { openReader } from '@signalbox/store';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compareRuns } from '../src/compare/compare-runs.ts';
import { openTestHost, planText } from './support/open-host.ts';
import { temporaryFolder } from './temporary-folder.ts';

const PLAN = planText(
  `<Phase name="count"><While id="l" condition={ctx.state.get('n') < 4} maxIterations={9}>
    <Task id="one" run={() => 1} onFinished={() => ctx.state.update('n', n => n + ctx.input.by)} />
  </While></Phase>
  <Phase name="ask"><Human id="ask" prompt="Go on?" onFinished={() => ctx.state.set('answer', 'yes')} /></Phase>`,
  'z.object({ n: z.number().default(0), answer: z.string().optional() })',
);

async function opened() {
  const folder = temporaryFolder();
  const test = await openTestHost(folder);
  onTestFinished(() => test.close());
  const begin = async (by: number, source = PLAN) => {
    const run = await test.start('plan', source, { input: { by } });
    await test.end(run);
    return run;
  };
  const compare = async (a: RunId, b: RunId): Promise<RunComparison> => {
    const reader = openReader({ path: path.join(folder, 'data', 'db.sqlite') });
    if (!reader.ok) throw new Error(reader.error.message);
    const ports = {
      reader: reader.value,
      contents: reader.value,
      dataDirectory: path.join(folder, 'data'),
      now: Date.now,
    };
    const compared = await compareRuns(ports, a, b);
    reader.value.close();
    if (!compared.ok) throw new Error(compared.error.message);
    return compared.value;
  };
  const answer = async (run: RunId, resolutionType: 'approve' | 'reject') => {
    const [open] = await test.store.decisions({ run, status: ['open'] });
    const resolution = { resolutionType, rationale: 'because', actionKind: 'review' } as const;
    if (open !== undefined) await test.host.answer(open.decision.id, { resolution }, 'ada');
    await test.host.resume(run);
    await test.end(run);
  };
  return { ...test, begin, compare, answer };
}

describe('two runs', () => {
  it('[A1089] of one plan are compared by input, state, decisions, work and frames', async () => {
    const { begin, compare, answer } = await opened();
    const [a, b] = [await begin(1), await begin(2)];
    await answer(a, 'approve');
    const compared = await compare(a, b);
    expect(compared).toMatchObject({
      a: { run: a, status: 'completed' },
      b: { run: b, status: 'waiting' },
      relation: { kind: 'same-plan' },
      plan: { same: true, files: [] },
      input: [{ key: 'by', a: 1, b: 2 }],
      // A plan without an output of its own answers with its state, once it has ended.
      output: [
        { key: 'answer', a: 'yes' },
        { key: 'n', a: 4 },
      ],
      state: [{ key: 'answer', a: 'yes' }],
      files: [],
    });
    expect(compared.decisions).toEqual([
      {
        node: 'ask',
        kind: expect.any(String),
        a: { status: 'answered', answer: 'approve', by: 'ada', reason: 'because' },
        b: { status: 'open' },
      },
    ]);
    expect(compared.nodes.find(({ node }) => node === 'one')).toMatchObject({ a: { attempts: 4 }, b: { attempts: 2 } });
    // The first frame is the same; the first change of the counter parts them.
    expect(compared.frames).toMatchObject({ partAt: { a: 1, b: 1 }, same: 1 });
    expect(compared.frames.pairs[0]).toMatchObject({
      a: 1,
      b: 1,
      same: false,
      differs: expect.arrayContaining(['state']),
      keys: ['n'],
    });
    expect(compared.frames.pairs.at(-1)?.b).toBeUndefined();
  });

  it('[A1090] of which one is a fork are compared from the forked frame on, in either order', async () => {
    const { host, begin, compare, end } = await opened();
    const parent = await begin(1);
    const forked = await host.fork(parent, { at: { kind: 'frame', frame: 2 } } as never, 'ada');
    if (!forked.ok) throw new Error(forked.error.message);
    await end(forked.value);
    const compared = await compare(parent, forked.value);
    expect(compared.relation).toEqual({ kind: 'fork', parent, frame: 2 });
    expect(compared).toMatchObject({ input: [], state: [], frames: { more: 0 } });
    expect(compared.frames.pairs[0]?.a ?? 2).toBeGreaterThanOrEqual(2);
    const turned = await compare(forked.value, parent);
    expect(turned.relation).toEqual(compared.relation);
    expect(turned.frames.same).toBe(compared.frames.same);
    const again = await compare(parent, parent);
    expect(again).toMatchObject({
      relation: { kind: 'same' },
      frames: { pairs: [], more: 0 },
      nodes: [],
      decisions: [],
    });
    expect(again.frames.partAt).toBeUndefined();
  });

  it('[A1089] of different files say which differ', async () => {
    const { begin, compare } = await opened();
    const a = await begin(1);
    const b = await begin(1, PLAN.replace('Go on?', 'Go further?'));
    const compared = await compare(a, b);
    expect(compared.plan).toEqual({ same: false, files: [{ path: 'plan.tsx', change: 'changed' }] });
    expect(compared.frames.partAt).toEqual({ a: 0, b: 0 });
    expect(compared.frames.pairs[0]?.differs).toEqual(['plan']);
  });
});
