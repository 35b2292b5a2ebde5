import type { Json, WireChunk } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { transcriptOf } from './transcript.ts';

const chunk = (kind: string, payload: Json) => ({ kind, payload }) as unknown as WireChunk;

describe('a transcript', () => {
  it('[K22] joins the parts of each call, in the order of the calls', () => {
    const { tools, turns, model } = transcriptOf([
      chunk('message', { kind: 'begun', model: 'm' }),
      chunk('message', { kind: 'assistant', content: [{ type: 'text', text: 'hm' }, { type: 'tool-call' }] }),
      chunk('tool_start', { call: '1', tool: 'read', input: { path: 'a' } }),
      chunk('message', {
        kind: 'tool_ended',
        call: '1',
        tool: 'read',
        status: 'succeeded',
        output: { value: 'x' },
        ms: 7,
      }),
      chunk('tool_end', { call: '1', tool: 'read', outcome: 'succeeded', ms: 7, approval: 'approve' }),
      chunk('tool_start', { call: '2', tool: 'write', input: {} }),
    ]);
    expect(tools).toEqual([
      {
        ...{ call: '1', tool: 'read', input: { path: 'a' }, isAsking: false, isNext: false },
        ...{ output: 'x', status: 'succeeded', ms: 7, approval: 'approve' },
      },
      { call: '2', tool: 'write', input: {}, isAsking: false, isNext: false },
    ]);
    expect([turns, model]).toEqual([['hm'], 'm']);
  });

  it('[K22] has why a call can be undone only with the whole turn', () => {
    const notAlone = 'it ran at the same time as "Write b"';
    const ended = { kind: 'tool_ended', call: '1', tool: 'Write', status: 'succeeded', output: { value: {} } };
    const { tools } = transcriptOf([
      chunk('message', { ...ended, notAlone }),
      chunk('message', { ...ended, call: '2' }),
    ]);
    expect(tools.map(use => use.notAlone)).toEqual([notAlone, undefined]);
  });

  it('[K22] leaves out unknown parts', () => {
    const odd = ['x', 7, null, [], {}, { kind: 'tool_ended' }, { kind: 'assistant', content: 'x' }, { call: 3 }];
    const chunks = odd.flatMap(payload => ['message', 'tool_start', 'tool_end'].map(kind => chunk(kind, payload)));
    expect(transcriptOf(chunks)).toMatchObject({ tools: [], turns: [''], model: undefined });
  });
});
