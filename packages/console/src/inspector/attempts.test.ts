import type { Json, WireChunk } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { outcomeOf } from './tool-use.ts';
import { transcriptOf } from './transcript.ts';

const chunk = (kind: string, payload: Json) => ({ kind, payload }) as unknown as WireChunk;
const begun = (session: string) =>
  chunk('message', {
    ...{ kind: 'begun', model: 'Echo 1.0', session, onLayer: true, asking: { kind: 'mode', mode: 'ask' } },
    agent: { id: 'echo', title: 'Echo', version: '1.0', from: 'command' },
  });
const agent = (session: string) => ({
  ...{ title: 'Echo', version: '1.0', from: 'command', session, asking: 'by its mode “ask”', onLayer: true },
});
const said = (text: string, reasoning?: string) =>
  chunk('message', {
    kind: 'assistant',
    content: [...(reasoning ? [{ type: 'reasoning', text: reasoning }] : []), { type: 'text', text }],
  });
const partsOf = (...chunks: readonly WireChunk[]) => transcriptOf(chunks).attempts.map(({ parts }) => parts);

describe('the attempts of an agent', () => {
  it('[K97] have the agent, its session, its asking mode and its last plan, each of its own', () => {
    const plan = (status: string) =>
      chunk('message', { kind: 'plan', entries: [{ content: 'Look', status }, { odd: 1 }] });
    const { attempts } = transcriptOf([
      chunk('tool_start', { call: 't', tool: 'agent_turn', input: {} }),
      begun('one'),
      plan('in_progress'),
      plan('completed'),
      chunk('message', {
        kind: 'tool_ended',
        call: 't',
        tool: 'agent_turn',
        status: 'failed',
        output: { value: 'It died.' },
      }),
      begun('two'),
      chunk('message', { kind: 'prompted', text: 'Do it.' }),
    ]);
    expect(attempts.map(({ tools, ...rest }) => ({ ...rest, calls: tools.size }))).toEqual([
      {
        ...{ agent: agent('one'), plan: [{ text: 'Look', status: 'completed' }], parts: [], calls: 0 },
        end: { status: 'failed', words: 'It died.' },
      },
      { agent: agent('two'), plan: [], parts: [{ kind: 'prompt', text: 'Do it.' }], calls: 0 },
    ]);
  });

  it('[K97] show text as it is said, once, also when its message comes late', () => {
    const pieces = [chunk('thinking', 'Hm'), chunk('token', 'I will '), chunk('token', { text: 'look.' })];
    expect(partsOf(...pieces)).toEqual([
      [
        { kind: 'thought', text: 'Hm' },
        { kind: 'said', text: 'I will look.' },
      ],
    ]);
    const call = chunk('tool_start', { call: '1', tool: 'read', input: {} });
    const told = [
      { kind: 'thought', text: 'Hm' },
      { kind: 'said', text: 'I will look.' },
      { kind: 'tool', call: '1' },
    ];
    expect(partsOf(...pieces, said('I will look.', 'Hm'), call)).toEqual([told]);
    expect(partsOf(...pieces, call, said('I will look.', 'Hm'))).toEqual([told]);
    // Pieces are collected some day; the message stays.
    expect(partsOf(said('I will look.', 'Hm'), call)).toEqual([told]);
    expect(partsOf(...pieces, call, chunk('token', 'Done'), said('I will look.', 'Hm'))).toEqual([
      [...told, { kind: 'said', text: 'Done' }],
    ]);
  });

  it('[K97] keep prompts, notes and changes in their order', () => {
    const message = (fields: { readonly [name: string]: Json }) => chunk('message', fields);
    expect(
      partsOf(
        begun('one'),
        message({ kind: 'prompted', text: 'Go.' }),
        chunk('token', 'Yes.'),
        message({ kind: 'note', text: 'It sent something odd.' }),
        said('Yes.'),
        message({ kind: 'prompted', text: 'More.' }),
        said('No.'),
        message({ kind: 'changes', applied: false, diff: 'patch' }),
        message({ kind: 'waiting', calls: [] }),
      ),
    ).toEqual([
      [
        { kind: 'prompt', text: 'Go.' },
        { kind: 'said', text: 'Yes.' },
        { kind: 'note', text: 'It sent something odd.' },
        { kind: 'prompt', text: 'More.' },
        { kind: 'said', text: 'No.' },
        { kind: 'changes', patch: 'patch', isApplied: false },
        { kind: 'note', text: 'Ended to wait for an answer. It starts again with the answer.' },
      ],
    ]);
  });

  it('[K98] have calls with title, kind, paths and changes, which may come with the result', () => {
    const diffs = [{ path: 'a', oldText: 'x', newText: 'y' }];
    const { tools } = transcriptOf([
      chunk('message', { kind: 'tool_proposed', call: '1', tool: 'Edit', input: { a: 1 } }),
      chunk('tool_start', {
        call: '1',
        tool: 'Edit',
        input: { a: 1 },
        title: 'Edit a',
        kind: 'edit',
        locations: [{ path: 'a' }],
      }),
      chunk('message', {
        kind: 'tool_ended',
        call: '1',
        tool: 'Edit',
        status: 'succeeded',
        output: { value: { text: 'ok', diffs } },
        ms: 3,
      }),
    ]);
    expect(tools).toEqual([
      {
        ...{
          call: '1',
          tool: 'Edit',
          input: { a: 1 },
          title: 'Edit a',
          kind: 'edit',
          locations: ['a'],
          isAsking: false,
          isNext: false,
        },
        ...{ changes: [{ path: 'a', before: 'x', after: 'y' }], output: 'ok', status: 'succeeded', ms: 3 },
      },
    ]);
  });

  it('[K97] [K98] have calls of their own, also where a later attempt makes the same call again', () => {
    const call = chunk('tool_start', { call: '1', tool: 'read', input: {} });
    const { attempts, tools } = transcriptOf([
      begun('one'),
      call,
      chunk('tool_end', { call: '1', tool: 'read', outcome: 'failed' }),
      begun('two'),
      call,
    ]);
    expect(attempts.map(attempt => attempt.tools.get('1')?.status)).toEqual(['failed', undefined]);
    expect(attempts.map(({ parts }) => parts)).toEqual([[{ kind: 'tool', call: '1' }], [{ kind: 'tool', call: '1' }]]);
    expect(tools).toEqual([{ call: '1', tool: 'read', input: {}, isAsking: false, isNext: false }]);
  });

  it('[K98] show a call that waits for an answer with what its question shows', () => {
    const proposed = [chunk('message', { kind: 'tool_proposed', call: '1', tool: 'Edit', input: {} })];
    const asked = new Map([['1', { title: 'Edit a', kind: 'edit', diffs: [{ path: 'a', newText: 'y' }] }]]);
    expect(transcriptOf(proposed, asked).tools).toEqual([
      {
        ...{ call: '1', tool: 'Edit', input: {}, isAsking: true, title: 'Edit a', kind: 'edit' },
        changes: [{ path: 'a', before: '', after: 'y' }],
      },
    ]);
  });

  it('[K98] say of a call that it waits, runs, ended or was cut off', () => {
    const use = { call: '1', tool: 'Edit', input: null };
    expect([
      outcomeOf({ ...use, isAsking: true }, false),
      outcomeOf(use, false),
      outcomeOf({ ...use, status: 'denied' }, true),
      outcomeOf({ ...use, isAsking: true }, true),
    ]).toEqual(['waits for an answer', 'running', 'denied', 'cut off']);
  });
});
