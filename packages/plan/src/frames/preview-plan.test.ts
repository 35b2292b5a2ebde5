import { fakeClock } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { harness } from '../../test/harness.ts';
import { Fragment } from '../jsx/element.ts';
import { Claude, Each, Effect, End, If, Phase, Task, While } from '../nodes/components.ts';
import { definePlan } from '../plan-definition.ts';
import type { TraceEntry } from './frame-phase.ts';
import { previewPlan } from './preview-plan.ts';

const clock = fakeClock();

describe('a preview of a plan', () => {
  it('[P80] shows the first frame and what would start first; nothing runs', () => {
    const ran: string[] = [];
    const plan = definePlan({
      name: 'previewed',
      input: z.object({ files: z.array(z.string()) }),
      state: z.object({ n: z.number().default(1), first: z.number().optional() }),
      render: ctx => {
        ctx.state.init('first', 1);
        return el(
          Fragment,
          {},
          el(Effect, { id: 'watch', deps: [], run: () => ran.push('effect') }),
          el(
            Phase,
            { id: 'look', name: 'look' },
            el(While, { id: 'loop', condition: () => ctx.state.get('n') < 2, maxIterations: 3 }, () =>
              el(Each, { items: ctx.input.files }, (file: string) =>
                el(Task, { key: file, id: file, run: () => ran.push(file) }),
              ),
            ),
          ),
          el(If, { id: 'no', condition: false }, el(Task, { id: 'skipped', run: () => ran.push('skipped') })),
          el(Phase, { id: 'ask', name: 'ask' }, el(Claude, { line: 9 }, 'Well?')),
        );
      },
    });
    const seen = previewPlan(plan, { files: ['a', 'b'] }, { clock });
    if (!seen.ok) throw new Error(seen.error.message);
    const { tree, starts, effects, warnings } = seen.value;
    expect({ starts, effects, ran }).toEqual({ starts: ['a', 'b'], effects: ['watch'], ran: [] });
    const [, phase, no] = tree.children;
    expect(phase?.children[0]).toMatchObject({ kind: 'while', status: 'running', iteration: 0 });
    expect(no?.children[0]?.children[0]).toMatchObject({ id: 'skipped', status: 'skipped' });
    expect(warnings.map(({ rule, severity, source }) => [rule, severity, source?.line])).toEqual([
      ['runnable-needs-id', 'warning', 9],
      ['agent-needs-max-turns', 'info', 9],
    ]);
  });

  it('[P80] reports what is wrong, and where', () => {
    const broken = definePlan({ name: 'broken', render: () => el(Phase, { line: 7 }) });
    expect(previewPlan(broken, null, { clock })).toMatchObject({
      ok: false,
      error: { code: 'plan/invalid-props', message: expect.stringContaining('at plan.tsx:7:1') },
    });
    const picky = definePlan({ name: 'picky', input: z.object({ n: z.number() }), render: () => null });
    expect(previewPlan(picky, { n: 'x' }, { clock })).toMatchObject({
      ok: false,
      error: { code: 'plan/input-invalid', message: expect.stringContaining('n: ') },
    });
    const writes = definePlan({
      name: 'writes',
      state: z.object({ n: z.number().default(1) }),
      render: ctx => {
        ctx.state.set('n', 2);
        return null;
      },
    });
    expect(previewPlan(writes, null, { clock })).toMatchObject({ ok: false, error: { code: 'plan/render-write' } });
  });

  it('[P80] warns of loops without their own maximum, and starts nothing behind an End', () => {
    const plan = definePlan({
      name: 'loops',
      render: () =>
        el(
          Fragment,
          {},
          el(End, { id: 'end' }),
          el(While, { id: 'w', condition: true }, el(Task, { id: 't', run: () => 1 })),
        ),
    });
    expect(previewPlan(plan, null, { clock })).toMatchObject({
      ok: true,
      value: { starts: [], warnings: [{ rule: 'loop-needs-max', node: 'w' }] },
    });
  });
});

describe('the trace of a run', () => {
  it('[P78] has one entry for each phase of each frame, with what it did', async () => {
    const world = harness();
    const entries: TraceEntry[] = [];
    const plan = definePlan({
      name: 'traced',
      state: z.object({ n: z.number().default(0) }),
      render: ctx => el(Task, { id: `t${ctx.state.get('n')}`, run: () => 1, onFinished: () => ctx.state.set('n', 1) }),
    });
    await world.end(
      world.start(plan, {
        trace: entry => entries.push(entry),
        commit: {
          commit(writes, guard) {
            world.timers.advance(5);
            return world.runs.commit(writes, guard);
          },
        },
      }),
    );
    const first = entries.slice(0, 7);
    expect(first).toEqual([
      { run: world.run, frame: 0, phase: 'snapshot', ms: 0, triggers: ['start'] },
      { run: world.run, frame: 0, phase: 'render', ms: 0, reads: ['n'], nodes: 2 },
      { run: world.run, frame: 0, phase: 'reconcile', ms: 0, mounted: [expect.any(String), 't0'], unmounted: [] },
      { run: world.run, frame: 0, phase: 'commit', ms: 5, written: ['n'] },
      { run: world.run, frame: 0, phase: 'execute', ms: 0, started: ['t0'] },
      { run: world.run, frame: 0, phase: 'effects', ms: 0 },
      { run: world.run, frame: 0, phase: 'flush', ms: 0 },
    ]);
    expect(entries.slice(7, 12).map(({ phase, frame }) => `${phase} ${frame}`)).toEqual([
      'effects 0',
      'flush 0',
      'snapshot 1',
      'render 1',
      'reconcile 1',
    ]);
    expect(entries.at(-1)).toMatchObject({ phase: 'commit', frame: 2 });
  });
});
