import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { el, nodesOf, treeOf } from '../../test/elements.ts';
import { Fragment } from '../jsx/element.ts';
import { Each, If, Phase, Step, Task } from './components.ts';
import { explicitPath, nodeIdOf, pathOf, placeOf, ROOT_PATH, segmentOf } from './node-id.ts';

interface Vector {
  readonly path: string;
  readonly id: string;
}
const vectors: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../../../spec/vectors/node-ids.json', import.meta.url), 'utf8'),
);
const run = () => 1;

describe('the id of a node', () => {
  it.each(vectors)('[P7] of $path is $id', ({ path, id }) => {
    expect(nodeIdOf(path)).toBe(id);
  });

  it('[P7] comes from its key path, components and fragments included', () => {
    const Part = () => el(Step, {}, el(Task, { run }), el(Task, { run, key: 'a/b' }));
    const tree = treeOf(() =>
      el(Phase, { name: 'p' }, el(Part, {}), el(Fragment, { key: 'f' }, el(Task, { run })), [
        el(Task, { run, key: 'k' }),
      ]),
    );
    const phase = pathOf(ROOT_PATH, '0:phase');
    const step = `${phase}/0:Part/0:step`;
    expect(nodesOf(tree).map(node => node.id)).toEqual(
      [
        ROOT_PATH,
        phase,
        step,
        `${step}/0:task`,
        `${step}/$a%2Fb:task`,
        `${phase}/$f:Fragment/0:task`,
        `${phase}/2/$k:task`,
      ].map(nodeIdOf),
    );
  });

  it('[P7] is the explicit one if there is one, and its content stays the same wherever it goes', () => {
    const step = el(Step, { id: 'my step' }, el(Task, { run }));
    const one = treeOf(() => step).children[0];
    const two = treeOf(() => el(Phase, { name: 'p' }, null, step)).children[0]?.children[0];
    expect(one?.id).toBe('my step');
    expect(one?.children[0]?.id).toBe(nodeIdOf(`${explicitPath('my step')}/0:task`));
    expect(two?.children[0]?.id).toBe(one?.children[0]?.id);
  });

  it('[P5] an omitted sibling does not move the others', () => {
    const third = (second: boolean) =>
      nodesOf(treeOf(() => el(Phase, { name: 'p' }, el(Task, { run }), second && el(Task, { run }), el(Step, {})))).at(
        -1,
      )?.id;
    expect(third(true)).toBe(third(false));
  });

  it('[P7] tells a key from a position, and a branch from the other', () => {
    expect(segmentOf('0', 0, 'task')).not.toBe(segmentOf(undefined, 0, 'task'));
    expect(placeOf('$', 1)).toBe('$%24');
    const tree = treeOf(() => el(If, { condition: true, else: el(Task, { run }) }, el(Task, { run })));
    expect(new Set(nodesOf(tree).map(node => node.id)).size).toBe(6);
    const list = treeOf(() => el(Each, { items: [1, 2] }, (n: number) => el(Task, { key: n, run })));
    expect(list.children[0]?.children.map(node => node.id)).toEqual(
      ['root/0:each/$1:task', 'root/0:each/$2:task'].map(nodeIdOf),
    );
  });
});
