import { describe, expect, it } from 'vitest';
import { el, treeOf } from '../../test/elements.ts';
import { Claude, If, Phase, Step, Task, While } from './components.ts';
import { nodeIdOf } from './node-id.ts';
import { type StatusOf, treeFromJson, treeToJson } from './tree-json.ts';
import { treeToXml } from './tree-xml.ts';

const run = () => 1;
const tree = treeOf(() =>
  el(
    Phase,
    { id: 'fix', name: 'Fix & "go"', line: 4 },
    el(
      While,
      { id: 'loop', condition: true, maxIterations: 5 },
      el(Claude, { id: 'ask', model: 'sonnet', tools: { allow: ['read'] } }, 'Is 1 < 2?'),
    ),
    el(If, { id: 'maybe', condition: false }, el(Task, { id: 'no', run, input: { b: 1, a: [] } })),
    el(Step, { id: 'last', key: 'k', label: 'two\nlines' }),
  ),
);
const statuses: Record<string, ReturnType<StatusOf>> = {
  fix: { status: 'running' },
  loop: { status: 'running', iteration: 2 },
  ask: { status: 'blocked' },
  no: { status: 'skipped' },
};
const statusOf: StatusOf = id => statuses[id];

describe('the JSON of a tree', () => {
  it('[P12] has every node with its data, status and position, and no code', () => {
    const phase = treeToJson(tree, statusOf).children[0];
    expect(phase).toMatchObject({
      kind: 'phase',
      id: 'fix',
      status: 'running',
      source: { file: 'plan.tsx', line: 4, column: 1 },
    });
    expect(phase?.children[0]).toEqual({
      kind: 'while',
      id: 'loop',
      status: 'running',
      iteration: 2,
      data: { goesOn: true, maxIterations: 5 },
      children: [
        {
          kind: 'claude',
          id: 'ask',
          status: 'blocked',
          handlers: [],
          data: {
            model: 'sonnet',
            prompt: 'Is 1 < 2?',
            tools: { allow: ['read'] },
            retries: 3,
            maxTurns: 50,
            resume: 'continue',
            permissions: 'skip',
          },
          children: [],
        },
      ],
    });
  });

  it('[P12] goes both ways unchanged', () => {
    const json = treeToJson(tree, statusOf);
    expect(treeFromJson(JSON.parse(JSON.stringify(json)))).toEqual({ ok: true, value: json });
  });

  it.each([
    ['a kind that does not exist', { kind: 'goto', id: 'a', data: {}, children: [] }, '/', /^kind: /],
    [
      'data of another kind',
      { kind: 'plan', id: 'a', data: { name: 'p' }, children: [{ kind: 'phase', id: 'b', data: {}, children: [] }] },
      '/plan[0]/phase',
      /^name: /,
    ],
    ['what is not plain data', { kind: 'plan', id: 'a', data: { name: run }, children: [] }, '/', /function/],
  ])('[P12] refuses %s and says where', (_what, value, place, reason) => {
    expect(treeFromJson(value)).toEqual({
      ok: false,
      error: { code: 'tree_invalid', place, reason: expect.stringMatching(reason) },
    });
  });
});

it('[P13] the XML of a tree is one text, with statuses, and escapes the author’s text', () => {
  const branch = nodeIdOf('#maybe/$then:branch');
  expect(treeToXml(treeToJson(tree, statusOf))).toBe(`<plan id="${nodeIdOf('root')}" name="test">
  <phase id="fix" status="running" name="Fix &amp; &quot;go&quot;">
    <while id="loop" status="running" iteration="2" goesOn="true" maxIterations="5">
      <claude id="ask" status="blocked" maxTurns="50" model="sonnet" permissions="skip" resume="continue" retries="3" tools="{&quot;allow&quot;:[&quot;read&quot;]}">
        Is 1 &lt; 2?
      </claude>
    </while>
    <if id="maybe" condition="false">
      <branch id="${branch}" name="then" taken="false">
        <task id="no" status="skipped" input="{&quot;a&quot;:[],&quot;b&quot;:1}" retries="3"/>
      </branch>
    </if>
    <step id="last" key="k" label="two&#10;lines"/>
  </phase>
</plan>`);
  expect(treeToXml({ kind: 'stop', id: '\u0000', data: {}, children: [] })).toBe('<stop id="\ufffd"/>');
});
