import type { StoredEvent, TreeNode } from '@signalbox/app/host';
import { describe, expect, it } from 'vitest';
import { memoryTerminal } from '../../test/memory-terminal.ts';
import { paintOf } from '../terminal.ts';
import { factsAfter, type LiveFacts, NO_FACTS } from './live-facts.ts';
import { liveScreen } from './live-screen.ts';

const paint = paintOf(memoryTerminal());
const START = Date.parse('2026-01-01T00:00:00.000Z');

type Written = Partial<Omit<TreeNode, 'kind' | 'id' | 'children'>>;
function node(kind: string, id: string, given: Written = {}, ...children: TreeNode[]): TreeNode {
  return { kind, id, data: {}, ...given, children } as TreeNode;
}

/** An event `ms` after the start. */
function event(ms: number, type: string, fields: object): StoredEvent {
  return { event: { type, ts: new Date(START + ms).toISOString(), ...fields } } as unknown as StoredEvent;
}
const started = (ms: number, id: string, iteration = 0, attempt = 1) =>
  event(ms, 'task.started', { task: `of-${id}`, node: id, iteration, attempt });
const ended = (ms: number, id: string) =>
  event(ms, 'task.ended', { task: `of-${id}`, node: id, iteration: 0, attempt: 1, outcome: 'done', stale: false });

function screen(tree: TreeNode, facts: LiveFacts, width = 60, height = 30, now = START + 2000): readonly string[] {
  return liveScreen(tree, facts, { width, height }, now, paint);
}

const many = (count: number, status: TreeNode['status'], from = 0) =>
  Array.from({ length: count }, (_, index) => node('task', `t-${from + index}`, { status } as Written));

describe('the live tree', () => {
  it('has a line a node, with what is known of it', () => {
    const tree = node(
      'plan',
      '0123456789abcdef',
      { status: 'running', data: { name: 'fix' } },
      node('phase', 'p', { status: 'succeeded', data: { name: 'look' } }, node('task', 'a', { status: 'succeeded' })),
      node(
        'while',
        'w',
        { status: 'running', data: { maxIterations: 5 } },
        node('claude', 'c', { status: 'running' }),
        node('task', 'r', { status: 'scheduled' }),
      ),
      node('if', 'aaaaaaaaaaaaaaaa', {}, node('branch', 'b', {}, node('task', 'never', { status: 'skipped' }))),
      node('human', 'ask', { status: 'blocked', data: { label: 'May it?' } }),
      node('task', 'broken', { status: 'failed' }),
      node('end', 'e', { status: 'idle' }),
    );
    const facts = factsAfter(
      NO_FACTS,
      [
        started(0, 'a'),
        ended(400, 'a'),
        started(500, 'c', 1, 2),
        event(600, 'task.retry', {
          ...{ task: 'of-r', node: 'r', iteration: 0, attempt: 1, retryAt: new Date(START + 5000).toISOString() },
          error: { message: 'the model is busy' },
        }),
        event(700, 'node.status', { node: 'ask', to: 'blocked', blockReason: 'human' }),
        event(800, 'task.ended', { node: 'broken', outcome: 'error', error: { message: 'no\u001b[2J' } }),
      ],
      [
        { task: 'of-c', kind: 'token', payload: 'I look\nat the\n' },
        { task: 'of-c', kind: 'token', payload: 'failing tests \n' },
        { task: 'nobody', kind: 'token', payload: 'lost' },
      ],
    );
    expect(screen(tree, facts)).toEqual([
      '⠋ plan fix',
      '  ✓ phase look',
      '    ✓ task a  0.4 s',
      '  ⠋ while w  round 2 of 5',
      '    ⠋ claude c  1.5 s · attempt 2',
      '        failing tests',
      '    · task r  again in 3.0 s · the model is busy',
      '  · if',
      '    – task never',
      '  … human May it?  human',
      '  ✗ task broken  no\\u{1b}[2J',
      '  · end e',
      '2.0 s · 1 done · 1 failed · 1 retried · Ctrl-C pauses',
    ]);
  });

  it('is cut at the width of the terminal, wide characters counted as such', () => {
    const tree = node(
      'plan',
      'p',
      { status: 'succeeded', data: { name: '日本語のとても長い名前' } },
      ...many(1, 'idle'),
    );
    expect(screen(tree, NO_FACTS, 16)).toEqual(['✓ plan 日本語の…', '  · task t-0', '0 done']);
    expect(screen(tree, NO_FACTS, 3)).toEqual(['✓ …', '  ', '0 …']);
  });

  it('puts together what is finished and what is to come where there is too little room', () => {
    const tree = node(
      'plan',
      'p',
      { status: 'running', data: { name: 'big' } },
      node('phase', 'one', { status: 'succeeded', data: { name: 'one' } }, ...many(5, 'succeeded')),
      node(
        'phase',
        'two',
        { status: 'running', data: { name: 'two' } },
        ...many(4, 'succeeded', 10),
        ...many(2, 'running', 14),
        ...many(6, 'idle', 16),
      ),
    );
    const head = ['⠋ plan big', '  ✓ phase one  5 inside', '  ⠋ phase two'];
    const running = ['    ⠋ task t-14', '    ⠋ task t-15'];
    const coming = Array.from({ length: 6 }, (_, index) => `    · task t-${16 + index}`);
    const footer = '0 done · Ctrl-C pauses';
    expect(screen(tree, NO_FACTS, 60, 21)).toHaveLength(21);
    const done = Array.from({ length: 4 }, (_, index) => `    ✓ task t-${10 + index}`);
    expect(screen(tree, NO_FACTS, 60, 20)).toEqual([...head, ...done, ...running, ...coming, footer]);
    expect(screen(tree, NO_FACTS, 60, 14)).toEqual([...head, '    ✓ 4 done', ...running, ...coming, footer]);
    expect(screen(tree, NO_FACTS, 60, 9)).toEqual([...head, '    ✓ 4 done', ...running, '    · 6 to come', footer]);
    expect(screen(tree, NO_FACTS, 60, 5)).toEqual([...head, '… 4 more', footer]);
  });

  it('shows nothing as working once nobody drives the run', () => {
    const tree = node(
      'plan',
      'p',
      { status: 'running', data: { name: 'cut' } },
      ...many(1, 'running'),
      ...many(1, 'idle', 1),
    );
    const facts = factsAfter(NO_FACTS, [started(0, 't-0')]);
    expect(liveScreen(tree, facts, { width: 60, height: 9 }, START + 2000, paint, true)).toEqual([
      '… plan cut',
      '  … task t-0  cut off',
      '  · task t-1',
      '2.0 s · 0 done',
    ]);
  });

  it('never has more lines than the terminal, however small that is', () => {
    const tree = node('plan', 'p', { status: 'running' }, ...many(500, 'running'));
    for (const height of [1, 2, 3, 24])
      expect(screen(tree, NO_FACTS, 20, height).length).toBeLessThanOrEqual(Math.max(2, height));
  });
});
