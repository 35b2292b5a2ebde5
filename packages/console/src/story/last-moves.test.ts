import type { WireEvent } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { lastMoves } from './last-moves.ts';

const told = (given: readonly object[], limit = 20) =>
  lastMoves(
    given.map((fields, seq) => ({ seq, ts: `t${seq}`, ...fields }) as unknown as WireEvent),
    limit,
  );
const change = (key: string, trigger: string, node = 'look') => ({
  ...{ type: 'state.changed', frame: 4, key, trigger, node },
  handler: 'onFinished',
});

describe('recent activity', () => {
  it('[K75] shows the state changes of handlers, once for changes made together, with the frame that shows them', () => {
    const moves = told([
      { type: 'task.ended', node: 'look' },
      change('price', 'price.seen'),
      change('looks', 'task.finished'),
      { type: 'handler.ran', node: 'look', handler: 'onFinished' },
      { type: 'frame.committed', frame: 5 },
      change('looks', 'task.finished', 'other'),
    ]);
    expect(moves).toEqual([
      {
        ...{ seq: 2, at: 't2', signal: 'next', node: 'look', who: undefined, frame: 5 },
        words: 'onFinished set price (price.seen), looks',
      },
      {
        ...{ seq: 5, at: 't5', signal: 'next', node: 'other', who: undefined, frame: undefined },
        words: 'onFinished set looks',
      },
    ]);
  });

  it('[K75] says why something waits or is retried, in words, and who did what', () => {
    const moves = told([
      { type: 'node.status', node: 'a', from: 'idle', to: 'running' },
      { type: 'task.retry', node: 'a', error: { message: 'nobody answers' } },
      { type: 'node.status', node: 'a', from: 'running', to: 'blocked', blockReason: 'rate_limit' },
      { type: 'node.status', node: 'a', from: 'blocked', to: 'running' },
      { type: 'node.status', node: 'a', from: 'running', to: 'blocked', blockReason: 'approval_required:file_edit' },
      { type: 'operator.acted', node: 'a', action: 'cancel', by: 'ada' },
      { type: 'node.status', node: 'a', from: 'blocked', to: 'canceled' },
    ]);
    expect(moves.map(({ signal, who, words }) => [signal, who, words])).toEqual([
      ['working', undefined, 'started'],
      ['held', undefined, 'failed and is retried: nobody answers'],
      ['held', undefined, 'the model is busy; it is called again automatically'],
      ['working', undefined, 'continued'],
      ['waiting', undefined, 'wants to change files'],
      ['person', 'ada', 'canceled it'],
      ['skipped', undefined, 'canceled'],
    ]);
  });

  it('[K75] has the latest ones', () => {
    const statuses = Array.from({ length: 9 }, (_, index) => ({ type: 'node.status', node: `${index}`, to: 'failed' }));
    expect(told(statuses, 2).map(({ node }) => node)).toEqual(['7', '8']);
  });
});
