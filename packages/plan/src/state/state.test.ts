import type { Json } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlanError } from '../plan-error.ts';
import { inOrder, type QueuedAction } from './action.ts';
import { createActionQueue } from './action-queue.ts';
import { flush } from './flush.ts';
import { frozen } from './frozen.ts';

const at = (node: string, index: number, transaction = 0, frame = 1) => ({
  frame,
  node,
  index,
  transaction,
  trigger: 'test',
});
const set = (key: string, value: Json, origin = at('n', 0)): QueuedAction => ({ kind: 'set', key, value, ...origin });
const add = (key: string, n: number, origin = at('n', 0)): QueuedAction => ({
  kind: 'update',
  key,
  reduce: value => ((value as number | undefined) ?? 0) + n,
  ...origin,
});
const fits = () => undefined;
const empty = () => undefined;
const from = (values: Record<string, Json>) => (key: string) => values[key];

describe('a flush', () => {
  it('[P27] applies actions by frame, node and index, whatever order they came in', () => {
    const actions = [
      set('k', 'late', at('a', 0, 4, 2)),
      set('k', 'b0', at('b', 0, 3)),
      set('k', 'a1', at('a', 1, 2)),
      set('k', 'a0', at('a', 0, 1)),
    ];
    expect(flush(actions, empty, fits).applied.map(action => action.new)).toEqual(['a0', 'a1', 'b0', 'late']);
  });

  it('[P27] comes out the same for every order of arrival', () => {
    const action = fc
      .tuple(
        fc.constantFrom('a', 'b', 'c'),
        fc.nat({ max: 3 }),
        fc.nat({ max: 2 }),
        fc.constantFrom('x', 'y'),
        fc.nat({ max: 9 }),
        fc.boolean(),
      )
      .map(([node, index, frame, key, n, sets]) => (sets ? set : add)(key, n, at(node, index, 0, frame)));
    fc.assert(
      fc.property(
        fc
          .uniqueArray(action, { selector: a => `${a.frame} ${a.node} ${a.index}` })
          .chain(all => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([all, shuffled]) => {
          expect(flush(shuffled, empty, fits).changes).toEqual(flush(all, empty, fits).changes);
          expect(inOrder(shuffled)).toEqual(inOrder(all));
        },
      ),
    );
  });

  it('[P28] the last set wins, update sees the latest value, delete removes, init counts only if the key is absent', () => {
    const actions: QueuedAction[] = [
      set('a', 1, at('n', 0)),
      set('a', 2, at('n', 1)),
      add('a', 5, at('n', 2)),
      { kind: 'delete', key: 'b', ...at('n', 3) },
      { kind: 'init', key: 'b', value: 'again', ...at('n', 4) },
      { kind: 'init', key: 'c', value: 'no', ...at('n', 5) },
    ];
    const { changes } = flush(actions, from({ a: 0, b: 'old', c: 'kept' }), fits);
    expect([...changes]).toEqual([
      ['a', 7],
      ['b', 'again'],
    ]);
  });

  it('[P28] a value that ends as it began is not a change, but every step is in the log', () => {
    const { changes, applied } = flush(
      [set('a', 2, at('n', 0)), set('a', 1, at('n', 1)), set('b', { a: [1] }, at('n', 2))],
      from({ a: 1, b: { a: [1] } }),
      fits,
    );
    expect([...changes]).toEqual([]);
    expect(applied.map(({ key, old, new: now }) => [key, old, now])).toEqual([
      ['a', 1, 2],
      ['a', 2, 1],
    ]);
  });

  it('[P29] a transaction whose reducer throws, or whose result is invalid, leaves no trace', () => {
    const boom: QueuedAction = {
      kind: 'update',
      key: 'a',
      reduce: () => {
        throw new Error('boom');
      },
      ...at('m', 1, 2),
    };
    const actions = [set('a', 1, at('l', 0, 1)), set('a', 100, at('m', 0, 2)), boom, add('a', 1, at('n', 0, 3))];
    const { changes, failed } = flush(actions, empty, fits);
    expect([...changes]).toEqual([['a', 2]]);
    expect([...failed.keys()]).toEqual([2]);
    expect(failed.get(2)?.message).toBe("the reducer of 'a' threw Error: boom");
    const unfit = flush([add('a', 1)], empty, key => new PlanError('plan/state-invalid', `${key} does not fit`));
    expect([unfit.changes.size, unfit.failed.get(0)?.code]).toEqual([0, 'plan/state-invalid']);
    const notPlain = flush([{ kind: 'update', key: 'a', reduce: () => new Date(0), ...at('n', 0) }], empty, fits);
    expect(notPlain.failed.get(0)?.message).toContain('did not return plain data: an instance of a class');
  });
});

describe('the queue of actions', () => {
  it('[P29] the actions of a handler count only if it returns', () => {
    const queue = createActionQueue(
      () => 3,
      () => {},
    );
    queue.transact({ node: 'n', handler: 'onFinished', trigger: 'task.finished' }, () => {
      queue.push({ kind: 'set', key: 'a', value: 1 });
      queue.push({ kind: 'set', key: 'b', value: 2 }, 'mine');
    });
    expect(() =>
      queue.transact({ node: 'm', trigger: 't' }, () => {
        queue.push({ kind: 'set', key: 'c', value: 3 });
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(queue.take()).toEqual([
      {
        kind: 'set',
        key: 'a',
        value: 1,
        frame: 3,
        node: 'n',
        index: 0,
        transaction: 1,
        trigger: 'task.finished',
        handler: 'onFinished',
      },
      {
        kind: 'set',
        key: 'b',
        value: 2,
        frame: 3,
        node: 'n',
        index: 1,
        transaction: 1,
        trigger: 'mine',
        handler: 'onFinished',
      },
    ]);
    expect(queue.take()).toEqual([]);
  });

  it('[P29] a write outside every handler is its own transaction, and is reported', () => {
    let told = 0;
    const queue = createActionQueue(
      () => 0,
      () => told++,
    );
    queue.push({ kind: 'delete', key: 'a' });
    queue.push({ kind: 'delete', key: 'b' });
    const [first, second] = queue.take();
    expect([told, first?.node, first?.trigger, first?.transaction !== second?.transaction]).toEqual([
      2,
      '',
      'code',
      true,
    ]);
  });
});

describe('frozen values', () => {
  it('[P30] are deeply frozen, and share parts that were already frozen', () => {
    const inner = { list: [1, { deep: true }] };
    const value = { inner };
    expect(frozen(value)).toEqual({ ok: true, value });
    expect([value, inner, inner.list, inner.list[1]].every(Object.isFrozen)).toBe(true);
    const next = { inner, more: 1 };
    expect(frozen(next)).toEqual({ ok: true, value: next });
  });

  it.each([
    ['a date', new Date(0), 'an instance of a class is not plain data'],
    ['a function inside', { a: [() => 1] }, 'function has no JSON form'],
    ['a hole', { a: [undefined] }, 'undefined has no JSON form'],
    ['NaN', Number.NaN, 'NaN is not a JSON number'],
    ['a lone surrogate', { a: '\ud800' }, 'a string has a lone surrogate'],
    ['a key with a lone surrogate', { '\ud800': 1 }, 'a key has a lone surrogate'],
  ])('[P30] are plain data: %s is refused', (_what, value, reason) => {
    expect(frozen(value)).toEqual({ ok: false, error: reason });
  });

  it('[P30] cyclic values are refused', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(frozen(circle)).toEqual({ ok: false, error: 'nested deeper than 500 levels, or without end' });
  });
});
