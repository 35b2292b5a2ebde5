import type { RunRecord, StoredEvent } from '@signalbox/app/host';
import { expect, it } from 'vitest';
import { memoryTerminal } from '../test/memory-terminal.ts';
import { describeDuration } from './duration.ts';
import { describeRun } from './look.ts';
import { describeEnd, describeEvent } from './run-report.ts';
import { doAgain, type RunSummary } from './run-summary.ts';
import { describeTree } from './run-tree.ts';
import { paintOf } from './terminal.ts';
import { describeThrown } from './thrown-report.ts';

const paint = paintOf(memoryTerminal());
const style = { paint, editor: '' };
const summary: RunSummary = {
  tasks: 3,
  retries: 0,
  tookMs: 3210,
  tokens: 0,
  costMicroUsd: 0,
  failed: [],
  hasUnhandled: false,
  denied: [],
  open: [],
};

function end(run: Partial<RunRecord>, came: Partial<RunSummary> = {}): readonly string[] {
  return describeEnd({ id: 'RUN', ...run } as RunRecord, { ...summary, ...came }, style).split('\n');
}

it('a run that completed says what it came to', () => {
  expect(end({ status: 'completed', output: null })).toEqual(['✓ completed RUN', '  3 tasks in 3.2 s']);
  expect(
    end(
      { status: 'completed', output: { fixed: true } },
      { tasks: 1, retries: 1, tokens: 12345, costMicroUsd: 1_234_567 },
    ),
  ).toEqual(['✓ completed RUN', '  1 task in 3.2 s · 1 retry · 12,345 tokens · $1.23', '  output {"fixed":true}']);
  expect(end({ status: 'completed', output: 'x'.repeat(300) }, { retries: 2, costMicroUsd: 4200 })).toEqual([
    '✓ completed RUN',
    '  3 tasks in 3.2 s · 2 retries · $0.0042',
    '  output of 302 characters, with --json',
  ]);
});

it('[X62] a run that failed says which nodes, why, and how to try again, with a corrected plan too', () => {
  const failed = [{ node: 'the build', why: 'no\u001b[2J disk', isRepairable: false }];
  expect(
    end({ status: 'failed', error: { class: 'terminal', code: 'x', message: 'Node failed' } }, { failed }),
  ).toEqual([
    '✗ failed RUN: Node failed',
    '  3 tasks in 3.2 s',
    '  ✗ the build: no\\u{1b}[2J disk',
    "    Retry: signalbox retry RUN 'the build'",
    '  If you corrected the plan, first: signalbox resume RUN --use-current',
  ]);
  const many = Array.from({ length: 7 }, (_, index) => ({ node: `n${index}`, why: 'w', isRepairable: true }));
  expect(end({ status: 'failed' }, { failed: many }).slice(-2)).toEqual([
    '  … and 2 more',
    '  If you corrected the plan, instead: signalbox resume RUN --use-current',
  ]);
  expect(end({ status: 'failed' }, { failed: [...many, ...failed] }).at(-1)).toContain('corrected the plan, first:');
});

it('[X89] a run of `do` that failed names its task, and no plan', () => {
  const failed = [{ node: 'claude', why: 'it died', isRepairable: true }];
  const doAgain = "signalbox do 'fix it' --with claude";
  for (const code of ['x', 'plan/handler-failed']) {
    const error = { class: 'terminal', code, message: 'Node failed' } as const;
    expect(end({ status: 'failed', error }, { failed, hasUnhandled: true, doAgain })).toEqual([
      '✗ failed RUN: Node failed',
      '  3 tasks in 3.2 s',
      '  ✗ claude: it died',
      '    Retry: signalbox retry RUN claude',
      "  Start the task again: signalbox do 'fix it' --with claude",
    ]);
  }
});

it('[X89] the command that starts a task again has the task, if it fits on a line, and the agents', () => {
  const agent = (prompt: string, plugin?: string) => ({ kind: 'agent', data: { prompt, plugin } });
  const phase = { kind: 'parallel', data: {} };
  expect(doAgain([phase, agent("fix it's tests", 'claude')])).toBe("signalbox do 'fix it'\\''s tests' --with claude");
  expect(doAgain([agent('fix', 'claude'), agent('fix', 'codex')])).toBe('signalbox do fix --with claude,codex');
  for (const long of ['x'.repeat(201), 'two\nlines', '\u001b[2J'])
    expect(doAgain([agent(long)])).toBe('signalbox do "TASK"');
});

it('a run that waits says for what, and how to answer', () => {
  const open = [{ id: 'D1', node: 'ask', question: 'May it?\nReally?', answer: 'D1 --option yes|no' }];
  expect(end({ status: 'waiting' }, { tookMs: undefined, open })).toEqual([
    '… waiting RUN',
    '  3 tasks',
    '  ? ask: May it?',
    '    Answer: signalbox approve D1 --option yes|no   or: signalbox deny D1',
    '  Details: signalbox decisions --run RUN',
  ]);
});

it.each<[RunRecord['status'], string, string]>([
  ['paused', '… paused RUN', '  Continue with: signalbox resume RUN'],
  ['running', '✗ cut off RUN', '  Continue with: signalbox resume RUN'],
  ['stopped', '✗ stopped RUN: enough', '  Continue with: signalbox resume RUN'],
  ['stalled', '✗ stalled RUN: it kept rendering without progress', '  See what it did: signalbox frames RUN'],
])('a run that is %s says what to do next', (status, first, last) => {
  const lines = end({ status, stopReason: 'enough' });
  expect([lines[0], lines.at(-1)]).toEqual([first, last]);
});

it.each([
  [0, '0.0 s'],
  [9_940, '9.9 s'],
  [59_400, '59 s'],
  [61_000, '1 min 01 s'],
  [3_600_000 + 4 * 60_000, '1 h 04 min'],
])('%d ms are %s', (ms, words) => {
  expect(describeDuration(ms)).toBe(words);
});

it('a run that is taken up says what changed since it was started, if anything did', () => {
  const resumed = (changed: readonly string[]) =>
    describeEvent({ event: { type: 'run.resumed', changed } } as unknown as StoredEvent, node => node, style);
  expect(resumed([])).toBeUndefined();
  expect(resumed(['file plan.tsx', 'engine 1 → 2'])).toBe(
    '! changed since the run was last active: file plan.tsx, engine 1 → 2',
  );
});

it('[P282] what waits for a time is told with that time', () => {
  const until = '2027-01-01T09:00:00.000Z' as NonNullable<Parameters<typeof describeTree>[0]['until']>;
  const blocked = { event: { type: 'node.status', node: 'nap', to: 'blocked', blockReason: `timer:${until}` } };
  expect(describeEvent(blocked as unknown as StoredEvent, node => `timer ${node}`, style)).toBe(
    `… timer nap: waits until ${until}`,
  );
  const timer = { kind: 'timer', id: 'nap', status: 'blocked', data: {}, children: [], until } as const;
  expect(describeTree(timer, paint)).toEqual([`… timer nap waits until ${until}`]);
  const run = { id: 'RUN', status: 'running', name: 'plan', createdAt: 'NOW', frames: 2, tags: [] };
  expect(describeRun(run as unknown as RunRecord, until)).toBe(
    `RUN  running    plan  NOW  2 frames  waits until ${until}`,
  );
});

const thrown = {
  file: '/plans/deep.ts',
  line: 2,
  column: 3,
  code: { from: 1, text: 'one\n  two();\nthree' },
  stack: ['inner (/plans/deep.ts:2:3)', 'run (/plans/plan.tsx:9:20)'],
  element: { kind: 'task', id: 't', at: { file: '/plans/plan.tsx', line: 9, column: 5 } },
  reads: ['draft'],
};

it('[X130] a run that failed in its code shows the place, the lines, the callers and the element', () => {
  const error = { class: 'terminal', code: 'plan/task-failed', message: 'Node t failed: no', thrown } as const;
  expect(end({ status: 'failed', error }).slice(2)).toEqual([
    '  at /plans/deep.ts:2:3',
    '      1 | one',
    '    > 2 |   two();',
    '        |   ^',
    '      3 | three',
    '  from run (/plans/plan.tsx:9:20)',
    '  in task t (/plans/plan.tsx:9:5), having read draft',
  ]);
});

it('[X130] a place opens the editor, in a terminal with colours', () => {
  const coloured = { paint: paintOf(memoryTerminal(true)), editor: 'vscode://file/{file}:{line}:{column}' };
  const link = '\u001b]8;;vscode://file/plans/deep.ts:2:3\u001b\\/plans/deep.ts:2:3\u001b]8;;\u001b\\';
  expect(describeThrown(thrown, coloured)[0]).toBe(`at ${link}`);
});
