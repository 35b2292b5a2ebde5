import type { TreeNode, WireDecision, WireEvent, WireTask } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { runTimes, withMoves, workTimes } from './run-spans.ts';
import { moved, ticksOf, WHOLE, zoomed } from './time-axis.ts';

const at = (second: number): string => new Date(second * 1000).toISOString();
const node = (id: string) => ({ id, kind: 'task', label: id, status: 'succeeded', index: 0 }) as unknown as TreeNode;
const task = (id: string, fields: object) =>
  ({
    id,
    node: 'build',
    iteration: 0,
    status: 'done',
    retryCount: 0,
    createdAt: at(0),
    ...fields,
  }) as unknown as WireTask;
const event = (type: string, second: number, fields: object = {}) =>
  ({ type, ts: at(second), seq: second, ...fields }) as unknown as WireEvent;
const none = { decisions: [], events: [], begun: 0, end: 20_000 };

describe('the time of a run', () => {
  it('[K182] has a lane for each node that did something, in the order of the plan', () => {
    const tasks = [
      task('2', { node: 'ship', startedAt: at(4), endedAt: at(5) }),
      task('1', { startedAt: at(1), endedAt: at(3) }),
      task('0', { node: 'gone', startedAt: at(0), endedAt: at(1), status: 'error' }),
    ];
    const { lanes } = runTimes({ ...none, nodes: [node('build'), node('ship'), node('idle')], tasks });
    expect(
      lanes.map(({ node: id, ms, spans }) => [id, ms, spans.map(({ kind, from, to }) => [kind, from, to])]),
    ).toEqual([
      [
        'build',
        2000,
        [
          ['queued', 0, 1000],
          ['done', 1000, 3000],
        ],
      ],
      [
        'ship',
        1000,
        [
          ['queued', 0, 4000],
          ['done', 4000, 5000],
        ],
      ],
      ['gone', 1000, [['failed', 0, 1000]]],
    ]);
  });

  it('[K182] shows attempts, waits between them, and waits for people', () => {
    const events = [
      event('task.started', 1, { task: '1', node: 'build', attempt: 1 }),
      event('task.retry', 2, { task: '1', node: 'build', attempt: 1, retryAt: at(5) }),
      event('task.started', 5, { task: '1', node: 'build', attempt: 2 }),
      event('message.said', 6, { task: '1', node: 'build' }),
      event('task.ended', 9, { task: '1', node: 'build', attempt: 2, outcome: 'done' }),
    ];
    const decision = {
      decision: { node: 'build', status: 'answered', askedAt: at(6), closedAt: at(8) },
    } as unknown as WireDecision;
    const tasks = [task('1', { startedAt: at(5), endedAt: at(9), retryCount: 1 })];
    const [lane] = runTimes({ ...none, nodes: [node('build')], tasks, events, decisions: [decision] }).lanes;
    expect(lane?.spans.map(({ kind, from, to }) => [kind, from / 1000, to / 1000])).toEqual([
      ['queued', 0, 1],
      ['failed', 1, 2],
      ['retry', 2, 5],
      ['done', 5, 9],
      ['person', 6, 8],
      ['turn', 6, 6],
    ]);
    expect(lane).toMatchObject({ ms: 5000, retries: 1 });
  });

  it('[K182] shows when a run was paused, and when its process was gone', () => {
    const events = [
      event('task.started', 1, { task: '1', node: 'build' }),
      event('run.claimed', 4),
      event('run.status', 5, { from: 'running', to: 'paused' }),
      event('run.claimed', 9),
    ];
    expect(runTimes({ ...none, nodes: [], tasks: [], events }).gaps).toEqual([
      { kind: 'crash', from: 1000, to: 4000 },
      { kind: 'paused', from: 5000, to: 9000 },
    ]);
  });

  it('[K182] goes on with events that came after the tasks were read', () => {
    const tasks = [task('1', { status: 'running', startedAt: at(1) })];
    const events = [
      event('task.ended', 3, { task: '1', node: 'build', outcome: 'done' }),
      event('task.started', 4, { task: '2', node: 'ship', iteration: 1 }),
    ];
    const now = withMoves(tasks, events);
    expect(workTimes(now)).toEqual(
      new Map([
        ['build', { ms: 2000 }],
        ['ship', { ms: 0, since: 4000 }],
      ]),
    );
    expect(withMoves(tasks, [])).toBe(tasks);
  });
});

describe('the axis', () => {
  it('[K182] zooms around a point and never leaves the run', () => {
    const half = zoomed(WHOLE, 0.5, 0.25);
    expect(half).toEqual({ from: 0.125, to: 0.625 });
    expect(moved(half, 10)).toEqual({ from: 0.5, to: 1 });
    expect(moved(half, -10)).toEqual({ from: 0, to: 0.5 });
    expect(zoomed(half, 100)).toEqual(WHOLE);
  });

  it('[K182] has marks at round times', () => {
    expect(ticksOf(10_000, WHOLE, 6).map(({ words }) => words)).toEqual(['0 s', '2 s', '4 s', '6 s', '8 s', '10 s']);
    expect(ticksOf(10_000, { from: 0.5, to: 0.6 }, 6).map(({ words }) => words)).toEqual(
      ['5000 ms', '5200 ms', '5400 ms', '5600 ms', '5800 ms', '6000 ms'].map(words => words),
    );
  });
});
