import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import {
  Agent,
  Claude,
  Each,
  Effect,
  If,
  Keep,
  Parallel,
  Phase,
  Step,
  Switch,
  Task,
  While,
} from '../nodes/components.ts';
import { EventValidationError, PlanError } from '../plan-error.ts';
import { Fragment, isElement } from './element.ts';
import { jsxDEV } from './jsx-dev-runtime.ts';
import { jsx, jsxs } from './jsx-runtime.ts';

const run = () => 1;

function thrownBy(make: () => unknown): PlanError {
  try {
    make();
  } catch (error) {
    if (error instanceof PlanError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('jsx runtimes', () => {
  it('[P1] jsxDEV keeps the position that the compiler gives', () => {
    const element = jsxDEV(Phase as never, { name: 'a' }, 'k', false, {
      fileName: 'p.tsx',
      lineNumber: 4,
      columnNumber: 7,
    });
    expect({ key: element.key, source: element.source, props: element.props }).toEqual({
      key: 'k',
      source: { file: 'p.tsx', line: 4, column: 7 },
      props: { name: 'a' },
    });
    expect(jsx(Phase as never, { name: 'a' }).source).toBeUndefined();
  });

  it('[P5] children in their own places hold them, even when they are empty', () => {
    const task = jsx(Task as never, { run });
    expect(jsxs(Fragment, { children: [false, task, null, undefined, true] }).slots).toEqual([
      undefined,
      task,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('[P5] children passed to a component keep their places wherever it puts them', () => {
    const Wrap = (props: { children?: unknown }) => props.children as never;
    const task = jsx(Task as never, { run });
    const element = jsxs(Wrap as never, { children: [task, task] });
    expect(isElement(element.props.children)).toBe(true);
    expect((element.props.children as ReturnType<typeof jsx>).slots).toEqual([task, task]);
    expect(jsx(Wrap as never, { children: () => task }).props.children).toBeTypeOf('function');
  });
});

describe('props', () => {
  it('[P301] an agent says when its changes are applied', () => {
    expect(el(Claude, { apply: 'ask', prompt: 'Do it.', line: 3 }).props).toMatchObject({ apply: 'ask' });
    expect(() => el(Claude, { apply: 'later', prompt: 'Do it.', line: 3 } as never)).toThrow('apply: ');
  });

  it('[A803] a Keep names nodes, each once, and who decides', () => {
    const from = ['one', 'two'];
    expect(el(Claude, { apply: 'hold', check: 'npm test', prompt: 'Do it.', line: 3 }).props).toMatchObject({
      apply: 'hold',
    });
    expect(el(Keep, { from, apply: 'check', line: 3 }).props).toMatchObject({ from, apply: 'check' });
    for (const [props, why] of [
      [{ from: [] }, 'from: '],
      [{ from: ['one', 'one'] }, 'from: names a node twice'],
      [{ from: ['none'] }, 'from: "none" is the answer that keeps nothing'],
      [{ from, apply: 'auto' }, 'apply: '],
    ] as const)
      expect(() => el(Keep, { ...props, line: 3 } as never)).toThrow(why);
  });

  it('[P300] an agent names its plugin; an Agent without one names a model', () => {
    expect(el(Claude, { plugin: 'builtin', prompt: 'Do it.', line: 3 }).props).toMatchObject({ plugin: 'builtin' });
    expect(el(Agent, { plugin: 'opencode', prompt: 'Do it.', line: 3 }).props).toMatchObject({ plugin: 'opencode' });
    expect(el(Agent, { model: 'a:b', prompt: 'Do it.', line: 3 }).props).toMatchObject({ model: 'a:b' });
    expect(() => el(Agent, { prompt: 'Do it.', line: 3 } as never)).toThrow(
      '<Agent> has props that do not fit: model: name a model, or an installed agent as its plugin',
    );
  });

  it.each([
    ['a missing prop', () => el(Phase, { line: 3 }), '<Phase> has props that do not fit: name: '],
    [
      'a wrong type',
      () => el(Parallel, { limit: 0, line: 3 }),
      '<Parallel> has props that do not fit: limit: must be at least 1',
    ],
    [
      'an unknown prop',
      () => el(Phase, { name: 'a', nme: 1, line: 3 }),
      '<Phase> has props that do not fit: Unrecognized key: "nme"',
    ],
    [
      'code where data belongs',
      () => el(Task, { run, input: () => 1, line: 3 }),
      '<Task> has props that do not fit: input: function has no JSON form',
    ],
    [
      'an unknown handler on an observable node',
      () => el(Task, { run, onDone: run, line: 3 }),
      'Unrecognized key: "onDone"',
    ],
    ['an effect without an id', () => el(Effect, { run, line: 3 }), '<Effect> has props that do not fit: id: '],
    ['a tag that is no component', () => el('div', { line: 3 }), '<div> is not a component; plans have no HTML'],
    ['a component that is undefined', () => el(undefined, { line: 3 }), 'undefined is not a component'],
    ['text where nodes belong', () => el(Phase, { name: 'a', line: 3 }, 'hello'), 'text cannot be a child of <Phase>'],
    [
      'a function where nodes belong',
      () => el(Phase, { name: 'a', line: 3 }, () => null),
      'a function cannot be a child of <Phase>',
    ],
    [
      'a node inside an agent',
      () => el(Claude, { line: 3 }, el(Task, { run })),
      'only text can be between the tags of <Claude>',
    ],
    [
      'a node inside a task',
      () => el(Task, { run, line: 3 }, el(Task, { run })),
      'nothing can be between the tags of <Task>',
    ],
    [
      'an Each without a function',
      () => el(Each, { items: [], line: 3 }),
      'one function that makes an item is the only child of <Each>',
    ],
    ['a promise as a child', () => el(Step, { line: 3 }, Promise.resolve()), 'a promise cannot be a child of <Step>'],
    [
      'a body function beside other children',
      () => el(While, { condition: true, line: 3 }, () => null, el(Task, { run })),
      'must be the only child of <While>',
    ],
  ])('[P2] refuses %s at the author’s position', (_what, make, message) => {
    const error = thrownBy(make);
    expect(error.code).toBe('plan/invalid-props');
    expect(error.message).toContain(message);
    expect(error.message).toContain('at plan.tsx:3:1');
    expect(error.source).toEqual({ file: 'plan.tsx', line: 3, column: 1 });
  });

  it('[P2] accepts valid props, for every kind that has its own shape', () => {
    expect(el(If, { condition: true, else: null }, el(Task, { run })).props).toEqual({ condition: true, else: null });
    expect(el(Switch, { value: 'a', cases: { a: null } }).props).toEqual({ value: 'a', cases: { a: null } });
    expect(el(Agent, { model: 'm', schema: z.string() }, 'Say hello').slots).toEqual(['Say hello']);
  });
});

describe('handlers', () => {
  it('[P3] are refused on nodes that are not observable, with the position', () => {
    const error = thrownBy(() => el(Phase, { name: 'a', onFinished: run, line: 9 }));
    expect(error).toBeInstanceOf(EventValidationError);
    expect({ code: error.code, message: error.message }).toEqual({
      code: 'plan/handler-refused',
      message: "event prop 'onFinished' is not allowed on <Phase>, which is not observable at plan.tsx:9:1",
    });
  });

  it('[P3] are allowed on nodes that start work', () => {
    const handlers = { onFinished: () => {}, onError: () => {}, onProgress: () => {}, onBlocked: () => {} };
    expect(el(Task, { run, ...handlers }).props).toEqual({ run, ...handlers });
    expect(el(Claude, { prompt: 'p', ...handlers }).props).toEqual({ prompt: 'p', ...handlers });
  });
});

describe('keys', () => {
  it('[P4] an item of a list without a key is an error at the item', () => {
    const error = thrownBy(() => el(Phase, { name: 'a', line: 1 }, [el(Task, { run, line: 2 })]));
    expect({ code: error.code, message: error.message }).toEqual({
      code: 'plan/key-missing',
      message: '<Task> is an item of a list in <Phase> and has no key at plan.tsx:2:1',
    });
  });

  it('[P4] two items with one key are an error', () => {
    const items = ['a', 'a'].map(key => el(Task, { run, key, line: 2 }));
    expect(thrownBy(() => el(Phase, { name: 'a' }, items)).message).toBe(
      "two items of one list in <Phase> have the key 'a' at plan.tsx:2:1",
    );
  });

  it('[P4] a key is a text or a number', () => {
    expect(el(Task, { run, key: 0 }).key).toBe('0');
    expect(thrownBy(() => el(Task, { run, key: '' })).code).toBe('plan/key-missing');
    expect(thrownBy(() => el(Task, { run, key: {} })).code).toBe('plan/key-missing');
  });

  it('[P4] omitted items of a list need no key', () => {
    expect(el(Phase, { name: 'a' }, [false, null, el(Task, { run, key: 'a' })]).slots).toMatchObject([
      { items: [{ key: 'a' }] },
    ]);
  });
});
