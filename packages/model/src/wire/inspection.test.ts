import { describe, expect, it } from 'vitest';
import { refusal } from '../../test/refusal.ts';
import { nodeInput } from './node-input.ts';
import { planDescription, planFileQuery, planList, plansQuery } from './plans.ts';
import { replayBody, replayReport, runCheck, verifyBody } from './run-checks.ts';

const run = '01890000-0000-7000-8000-00000000dead';
const head = `sha256:${'0'.repeat(64)}`;
const problem = {
  code: 'plan/load-failed',
  message: 'no',
  retry: { kind: 'not_retryable' },
  suggestion: 'Mend it.',
} as const;

describe('looking closer', () => {
  it('[M53] asks for what is declared, and nothing else', () => {
    expect(plansQuery.parse({ limit: '5', after: 'a.tsx' })).toEqual({ limit: 5, after: 'a.tsx' });
    expect(verifyBody.parse({ expectHead: head })).toEqual({ expectHead: head });
    expect(replayBody.parse({})).toEqual({});
    for (const [schema, given] of [
      [plansQuery, { limit: '501' }],
      [plansQuery, { from: '1' }],
      [planFileQuery, {}],
      [planFileQuery, { file: '' }],
      [planFileQuery, { file: 'x'.repeat(4097) }],
      [verifyBody, { expectHead: 'abc' }],
      [verifyBody, { head }],
      [replayBody, { plan: '' }],
    ] as const) {
      expect(refusal(schema, given), JSON.stringify(given).slice(0, 60)).not.toEqual([]);
    }
  });

  it.each([
    [
      'a node',
      nodeInput,
      { node: 'a', kind: 'task', frame: 0, props: { input: [1] }, leftOut: { prompt: 3 } },
      'leftOut',
    ],
    ['plans', planList, { plans: [], next: 'a.tsx', lookedAt: 2 }, 'plans'],
    ['a plan', planDescription, { file: 'a.tsx', problem }, 'file'],
    [
      'a check',
      runCheck,
      { ok: false, run, records: 0, events: 0, head, defects: [{ where: 'log', record: 0, what: 'changed' }] },
      'head',
    ],
    [
      'a replay',
      replayReport,
      {
        ok: true,
        run,
        runs: [{ run, name: 'a', frames: 1, verified: 0, unverified: { count: 1, first: [0] } }],
      },
      'runs',
    ],
  ])(
    '[M54] %s is told without what a newer server adds, and not without what is needed',
    (_what, schema, told, needed) => {
      expect(schema.parse({ ...told, more: 1 })).toEqual(told);
      expect(refusal(schema, { ...told, [needed]: undefined })).not.toEqual([]);
    },
  );
});
