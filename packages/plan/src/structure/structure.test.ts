import { describe, expect, it } from 'vitest';
import { branch, each, loop, node, parallel, phase, plan, step, task } from '../../test/trees.ts';
import { walkOf } from '../../test/walk.ts';
import { iterationOf } from './node-record.ts';

describe('what may run', () => {
  it('[P14] siblings run together', () => {
    expect(walkOf(plan(task('a'), task('b'), each('e', task('c')))).ready()).toEqual(['a', 'b', 'c']);
  });

  it('[P15] phases among siblings run in order, and steps inside a phase; the rest is idle', () => {
    const walk = walkOf(
      plan(phase('one', step('s1', task('a'), task('b')), step('s2', task('c'))), task('x'), phase('two', task('d'))),
    );
    expect(walk.ready()).toEqual(['x', 'a', 'b']);
    walk.set('a', 'succeeded');
    expect(walk.ready()).toEqual(['x', 'b']);
    walk.set('b', 'succeeded');
    expect(walk.ready()).toEqual(['x', 'c']);
    expect(walk.statuses()).toEqual({
      root: 'running',
      one: 'running',
      s1: 'succeeded',
      a: 'succeeded',
      b: 'succeeded',
      s2: 'idle',
      c: 'idle',
      x: 'idle',
      two: 'idle',
      d: 'idle',
    });
    walk.set('c', 'succeeded');
    expect(walk.ready()).toEqual(['x', 'd']);
  });

  it('[P15] steps outside any phase run together', () => {
    const steps = [step('s1', task('a')), step('s2', task('b'))];
    expect(walkOf(plan(...steps)).ready()).toEqual(['a', 'b']);
    expect(walkOf(plan(parallel('p', undefined, ...steps))).ready()).toEqual(['a', 'b']);
    expect(walkOf(plan(phase('one', ...steps))).ready()).toEqual(['a']);
  });

  it('[P15] order goes through If, Switch and Each', () => {
    const walk = walkOf(
      plan(
        phase('p', each('e', step('s1', task('a')), step('s2', task('b'))), branch('if', true, step('s3', task('c')))),
      ),
    );
    expect(walk.ready()).toEqual(['a']);
    walk.set('a', 'succeeded');
    expect(walk.ready()).toEqual(['b']);
    walk.set('b', 'succeeded');
    expect(walk.ready()).toEqual(['c']);
  });

  it('[P16] inside a Step everything starts at once', () => {
    expect(
      walkOf(
        plan(
          phase(
            'p',
            step('s', step('s1', task('a')), step('s2', task('b')), phase('q', task('c')), phase('r', task('d'))),
          ),
        ),
      ).ready(),
    ).toEqual(['a', 'b', 'c', 'd']);
  });

  it('[P17] Parallel frees phases and steps, and a limit counts running children', () => {
    const children = [step('s1', task('a'), task('b')), step('s2', task('c')), each('e', task('d'), task('x'))];
    expect(walkOf(plan(phase('p', parallel('free', undefined, ...children)))).ready()).toEqual([
      'a',
      'b',
      'c',
      'd',
      'x',
    ]);
    const walk = walkOf(plan(phase('p', parallel('two', 2, ...children))));
    expect(walk.ready()).toEqual(['a', 'b', 'c']);
    walk.set('c', 'running');
    walk.set('a', 'succeeded');
    expect(walk.ready()).toEqual(['b']);
    walk.set('b', 'succeeded');
    expect(walk.ready()).toEqual(['d']);
    walk.set('d', 'blocked');
    expect(walk.ready()).toEqual([]);
    walk.set('c', 'failed');
    expect(walk.ready()).toEqual(['x']);
  });

  it('[P18] a branch that was not taken is skipped with everything in it, and holds nothing up', () => {
    const walk = walkOf(plan(phase('one', branch('if', false, task('a'))), phase('two', task('b'))));
    expect(walk.ready()).toEqual(['b']);
    expect(walk.statuses()).toEqual({
      root: 'idle',
      one: 'idle',
      if: 'idle',
      'if.then': 'skipped',
      a: 'skipped',
      two: 'idle',
      b: 'idle',
    });
  });

  it('[P19] a failed node holds up what comes after it, not what is beside it', () => {
    const walk = walkOf(plan(phase('one', task('a'), task('b')), phase('two', task('c'))));
    walk.set('a', 'failed');
    expect(walk.ready()).toEqual(['b']);
    walk.set('b', 'succeeded');
    const { ready, live, blocked, failed, done } = walk.activity();
    expect({ ready, live, blocked, failed, done }).toEqual({ ready: [], live: 0, blocked: 0, failed: 1, done: false });
    expect(walk.statuses()).toMatchObject({ root: 'failed', one: 'failed', two: 'idle' });
  });

  it('[P20] work that succeeded does not run again unless its signature changed', () => {
    const walk = walkOf(plan(task('a', 1), task('b', 1)));
    walk.set('a', 'succeeded');
    walk.set('b', 'succeeded');
    expect(walk.activity().done).toBe(true);
    walk.show(plan(task('a', 2), task('b', 1)));
    expect(walk.ready()).toEqual(['a']);
  });

  it('[P20] running work is not started again when its signature changes', () => {
    const walk = walkOf(plan(task('a', 1)));
    walk.set('a', 'running');
    walk.show(plan(task('a', 2)));
    expect(walk.ready()).toEqual([]);
    expect(walk.statuses()).toEqual({ root: 'running', a: 'running' });
  });

  it('[P23] End and Stop are reached in their place', () => {
    const walk = walkOf(plan(phase('one', task('a')), phase('two', node('end', 'end'))));
    expect(walk.activity().ending).toBeUndefined();
    walk.set('a', 'succeeded');
    expect(walk.activity().ending?.id).toBe('end');
  });

  it('[P24] an effect is reached in its place, and stays reached', () => {
    const effect = (id: string) => node('effect', id, [], { deps: [] });
    const walk = walkOf(
      plan(phase('one', effect('e1'), task('a')), phase('two', effect('e2')), phase('three', task('b'))),
    );
    const reached = () => walk.activity().effects.map(({ id }) => id);
    expect(reached()).toEqual(['e1']);
    walk.set('a', 'succeeded');
    expect(reached()).toEqual(['e1', 'e2']);
    walk.set('b', 'succeeded');
    expect(reached()).toEqual(['e1', 'e2']);
  });
});

describe('loops', () => {
  it('[P21] run the body again for each iteration, up to the maximum', () => {
    const walk = walkOf(
      plan(
        phase(
          'p',
          loop('w', { maxIterations: 2 }, step('s1', task('a')), step('s2', task('b'))),
          step('s3', task('c')),
        ),
        phase('q', task('d')),
      ),
    );
    const seen: string[] = [];
    for (let ready = walk.ready(); ready.length > 0; ready = walk.ready()) {
      seen.push(`${iterationOf(walk.records.get('w'))}:${ready.join()}`);
      for (const id of ready) walk.set(id, 'succeeded');
    }
    expect(seen).toEqual(['0:a,c', '0:b', '1:a', '1:b', '1:d']);
    expect(walk.statuses()).toMatchObject({ root: 'succeeded', w: 'succeeded', p: 'succeeded' });
  });

  it('[P21] a loop whose condition does not hold at first runs nothing; one that was left stays left', () => {
    const tree = (goesOn: boolean) => plan(phase('p', loop('w', { goesOn }, task('a'))), phase('q', task('b')));
    const walk = walkOf(tree(false));
    expect(walk.ready()).toEqual(['b']);
    walk.show(tree(true));
    expect(walk.ready()).toEqual(['b']);
    expect(walk.statuses()).toMatchObject({ w: 'succeeded', a: 'idle' });
  });

  it('[P21] a started body is finished, even when the condition no longer holds', () => {
    const tree = (goesOn: boolean) => plan(loop('w', { goesOn }, phase('p', task('a')), phase('q', task('b'))));
    const walk = walkOf(tree(true));
    expect(walk.ready()).toEqual(['a']);
    walk.set('a', 'succeeded');
    walk.show(tree(false));
    expect(walk.ready()).toEqual(['b']);
    walk.set('b', 'succeeded');
    expect(walk.activity().done).toBe(true);
  });

  it('[P22] a loop inside a loop starts from 0 each time, and no earlier record counts', () => {
    const walk = walkOf(plan(loop('out', { maxIterations: 2 }, loop('in', { maxIterations: 2 }, task('a')))));
    const seen: string[] = [];
    for (let ready = walk.ready(); ready.length > 0; ready = walk.ready()) {
      seen.push(['out', 'in'].map(id => iterationOf(walk.records.get(id))).join('.') + ready.join());
      for (const id of ready) walk.set(id, 'succeeded');
    }
    expect(seen).toEqual(['0.0a', '0.1a', '1.0a', '1.1a']);
    expect(walk.records.get('a')?.iteration).toBe(3);
  });

  it('[P22] records are enough to continue: a rebuilt structure continues with the same iteration', () => {
    const tree = plan(loop('w', { maxIterations: 5 }, task('a'), task('b')));
    const walk = walkOf(tree);
    for (let round = 0; round < 3; round++) for (const id of walk.ready()) walk.set(id, 'succeeded');
    expect(walk.ready()).toEqual(['a', 'b']);
    walk.set('a', 'succeeded');
    const again = walkOf(tree);
    for (const [id, record] of walk.records) again.records.set(id, record);
    again.show(plan(...tree.children));
    again.structure.touch('w');
    expect(again.ready()).toEqual(['b']);
    expect(iterationOf(again.records.get('w'))).toBe(3);
  });
});
