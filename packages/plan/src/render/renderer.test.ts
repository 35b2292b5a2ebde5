import { describe, expect, it } from 'vitest';
import { el, nodesOf, rendererOf, shapeOf, treeOf } from '../../test/elements.ts';
import { Fragment } from '../jsx/element.ts';
import { Claude, Each, If, Phase, Ralph, Step, Switch, Task, While } from '../nodes/components.ts';
import { createReadable } from './tracked.ts';

const run = () => 1;
const task = (id: string) => el(Task, { id, run });

describe('a render', () => {
  it('[P9] keeps the branch that was not taken in the tree, and does not call its components', () => {
    const calls: string[] = [];
    const Part = (props: { name: string }) => {
      calls.push(props.name);
      return task(props.name);
    };
    const tree = treeOf(() =>
      el(
        If,
        { condition: false, else: el(Part, { name: 'no' }) },
        el(Part, { name: 'yes' }),
        el(Each, { items: [1] }, () => task('x')),
      ),
    );
    expect(calls).toEqual(['no']);
    expect(shapeOf(tree)).toBe('plan(if(branch(component each) branch(task)))');
    expect(
      nodesOf(tree)
        .filter(node => node.kind === 'branch')
        .map(node => node.data),
    ).toEqual([
      { name: 'then', taken: false },
      { name: 'else', taken: true },
    ]);
  });

  it('[P9] a Switch shows every case and the taken one', () => {
    const branches = (value: string) =>
      treeOf(() =>
        el(Switch, { value, cases: { a: task('a'), b: task('b') }, default: task('c') }),
      ).children[0]?.children.map(branch => branch.data);
    const shown = (taken: string) => ['a', 'b', 'default'].map(name => ({ name, taken: name === taken }));
    expect(branches('b')).toEqual(shown('b'));
    expect(branches('z')).toEqual(shown('default'));
  });

  it('makes the nodes of Each, and the body of a loop for its iteration', () => {
    const renderer = rendererOf(
      () => [
        el(Each, { items: ['a', 'b'], key: 'each' }, (id: string) => el(Task, { key: id, id, run })),
        el(
          While,
          { key: 'while', id: 'loop', condition: true, maxIterations: 3 },
          ({ iteration }: { iteration: number }) => el(Task, { id: `body${iteration}`, run }),
        ),
        el(Ralph, { key: 'ralph', until: () => false }, task('r')),
      ],
      () => 2,
    );
    const tree = renderer.render();
    expect(
      nodesOf(tree)
        .map(node => node.id)
        .filter(id => id.length < 16),
    ).toEqual(['a', 'b', 'loop', 'body2', 'r']);
    expect(tree.children.map(node => node.data)).toEqual([
      { items: 2 },
      { goesOn: true, maxIterations: 3 },
      { goesOn: true, maxIterations: 100 },
    ]);
  });

  it('[P4] an item of Each without a key is an error at the author’s position', () => {
    expect(() => treeOf(() => el(Each, { items: [1], line: 5 }, () => el(Task, { run, line: 6 })))).toThrow(
      '<Task> is an item of a list in <Each> and has no key at plan.tsx:6:1',
    );
  });

  it('[P8] two nodes with one id are an error that names both positions', () => {
    expect(() =>
      treeOf(() => el(Fragment, {}, el(Task, { id: 'x', run, line: 2 }), el(Step, { id: 'x', line: 7 }))),
    ).toThrow("two nodes have the id 'x': at plan.tsx:2:1 and at plan.tsx:7:1");
  });

  it('[P8] an id may move from one place to another between frames', () => {
    const state = createReadable('', new Map([['first', true as never]]));
    const renderer = rendererOf(() => {
      const first = state.read('first');
      return el(Fragment, {}, first ? task('x') : null, first ? null : task('x'));
    });
    renderer.render();
    state.write(new Map([['first', false]]));
    expect(nodesOf(renderer.render()).map(node => node.id)).toContain('x');
  });

  it('[P2] a component that throws is reported with its name, its position and the reason', () => {
    const Broken = () => {
      throw new RangeError('no such thing');
    };
    expect(() => treeOf(() => el(Broken, { line: 12 }))).toThrow(
      '<Broken> threw RangeError: no such thing at plan.tsx:12:1',
    );
  });

  it('[P2] an agent has one prompt', () => {
    expect(() => treeOf(() => el(Claude, { line: 2 }))).toThrow('there is no prompt at plan.tsx:2:1');
    expect(() => treeOf(() => el(Claude, { prompt: 'a', line: 2 }, 'b'))).toThrow('not both');
    expect(treeOf(() => el(Claude, { line: 2 }, 'Count to ', 3)).children[0]?.data).toEqual({
      prompt: 'Count to 3',
      maxTurns: 50,
      resume: 'continue',
      permissions: 'skip',
      retries: 3,
    });
  });
});

describe('rendering again', () => {
  it('[P11] calls only the components whose props or reads changed, and keeps every other node', () => {
    const state = createReadable(
      '',
      new Map<string, number>([
        ['a', 1],
        ['b', 1],
      ]),
    );
    const calls: string[] = [];
    const Leaf = (props: { name: string }) => {
      calls.push(props.name);
      return el(Task, { id: props.name, run, input: state.read(props.name) ?? null });
    };
    const Group = () => el(Step, { id: 'group' }, el(Leaf, { name: 'a' }), el(Leaf, { name: 'b' }));
    const renderer = rendererOf(() => {
      calls.push('root');
      return el(Phase, { id: 'phase', name: 'p' }, el(Group, {}), task('still'));
    });
    const before = new Map(nodesOf(renderer.render()).map(node => [node.id, node]));
    expect(calls.splice(0)).toEqual(['root', 'a', 'b']);

    expect(renderer.render()).toBe(before.get([...before.keys()][0] ?? ''));
    state.write(new Map([['a', 2]]));
    const after = nodesOf(renderer.render());

    expect(calls).toEqual(['a']);
    expect(after.filter(node => before.get(node.id) === node).map(node => node.id)).toEqual(['b', 'still']);
    expect(after.find(node => node.id === 'a')?.data).toEqual({ input: 2, retries: 3 });
    expect([...renderer.reads].sort()).toEqual(['a', 'b']);
  });

  it('[P11] a component is called again when its props changed, and not when they are the same', () => {
    const state = createReadable('', new Map([['n', 1]]));
    const calls: number[] = [];
    const Leaf = (props: { parity: number }) => {
      calls.push(props.parity);
      return task('t');
    };
    const renderer = rendererOf(() => el(Leaf, { parity: ((state.read('n') as number) ?? 0) % 2 }));
    renderer.render();
    for (const n of [3, 4, 6]) {
      state.write(new Map([['n', n]]));
      renderer.render();
    }
    expect(calls).toEqual([1, 0]);
  });

  it('[P11] a condition and the body of a loop are separate pieces', () => {
    const state = createReadable(
      '',
      new Map([
        ['go', true as never],
        ['i', 0 as never],
      ]),
    );
    let roots = 0;
    const renderer = rendererOf(
      () => {
        roots++;
        return el(
          While,
          { id: 'w', condition: () => state.read('go') as boolean },
          ({ iteration }: { iteration: number }) => el(Task, { id: 't', run, input: iteration }),
        );
      },
      () => state.read('i') as number,
    );
    const seen = () => {
      const loop = renderer.render().children[0];
      return [loop?.data, loop?.children[0]?.data];
    };
    expect(seen()).toEqual([
      { goesOn: true, maxIterations: 100 },
      { input: 0, retries: 3 },
    ]);
    state.write(new Map([['i', 1]]));
    expect(seen()).toEqual([
      { goesOn: true, maxIterations: 100 },
      { input: 1, retries: 3 },
    ]);
    state.write(new Map([['go', false]]));
    expect(seen()).toEqual([
      { goesOn: false, maxIterations: 100 },
      { input: 1, retries: 3 },
    ]);
    expect(roots).toBe(1);
  });

  it('[P11] what left the tree is no longer read', () => {
    const state = createReadable('', new Map([['on', true as never]]));
    const Reader = () => {
      state.read('x');
      return task('t');
    };
    const renderer = rendererOf(() => (state.read('on') ? el(Reader, {}) : null));
    renderer.render();
    expect([...renderer.reads].sort()).toEqual(['on', 'x']);
    state.write(new Map([['on', false]]));
    renderer.render();
    expect([...renderer.reads]).toEqual(['on']);
  });

  it('[P7] items keep their nodes when the list is reordered', () => {
    const state = createReadable('', new Map([['order', ['a', 'b', 'c'] as never]]));
    const renderer = rendererOf(() =>
      el(Each, { items: state.read('order') as string[] }, (key: string) => el(Task, { key, run, input: key })),
    );
    const ids = () =>
      Object.fromEntries(renderer.render().children[0]?.children.map(node => [node.key, node.id]) ?? []);
    const before = ids();
    state.write(new Map([['order', ['c', 'a', 'b']]]));
    expect(ids()).toEqual(before);
  });
});
