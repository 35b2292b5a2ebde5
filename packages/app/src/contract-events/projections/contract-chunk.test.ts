import { deriveId, type Json, type NodeId, type RunId, saidEvent, type Timestamp } from '@signalbox/model';
import { type StreamChunk, streamChunk, type TaskId } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { contractEventsOfChunk } from './contract-chunk.ts';

const run = deriveId<RunId>('test', 'run');
const nodeId = deriveId<NodeId>('test', 'node');
const task = deriveId<NodeId>('test', 'task') as string as TaskId;
const at = '2026-01-01T00:00:00.000Z' as Timestamp;
const toldOf = (kind: StreamChunk['kind'], payload: Json) =>
  contractEventsOfChunk(run, nodeId, { task, index: 4, kind, payload, at });

/** What is streamed, and the types and fields that the contract has for it. */
const told: { readonly [Kind in StreamChunk['kind']]: readonly [payload: Json, told: readonly object[]] } = {
  token: ['Hel', [{ type: 'message.assistant.delta', delta: 'Hel' }]],
  thinking: [{ text: 'Hm.' }, [{ type: 'node.progress', summary: 'Hm.' }]],
  tool_start: [
    { call: 'c', tool: 'shell', input: { cmd: 'ls' } },
    [{ type: 'tool.proposed', tool: { name: 'shell', args: { cmd: 'ls' } } }, { type: 'tool.started' }],
  ],
  tool_end: [
    { call: 'c', tool: 'shell', outcome: 'failed', message: 'no such file' },
    [{ type: 'tool.completed', result: { ok: false }, error: { message: 'no such file' } }],
  ],
  message: [
    { kind: 'assistant', content: [{ type: 'text', text: 'Done.' }, { type: 'image' }] },
    [{ type: 'message.assistant.final', message: { role: 'assistant', content: 'Done.' } }],
  ],
};

describe('what an agent says', () => {
  it('[A136] has its events, whatever kind it is of', () => {
    expect(Object.keys(told).toSorted()).toEqual(streamChunk.shape.kind.options.toSorted());
  });

  it.each(Object.keys(told) as StreamChunk['kind'][])('[A136] %s fits the contract, without a number', kind => {
    const [payload, expected] = told[kind];
    const events = toldOf(kind, payload);
    expect(events).toMatchObject(expected);
    for (const event of events) {
      expect(saidEvent.parse(event)).toEqual(event);
      expect(event).toMatchObject({ runId: run, nodeId, ts: at });
    }
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it('[A136] names a call the same from its beginning to its end', () => {
    const [proposed, started] = toldOf('tool_start', { call: 'c', tool: 'shell', input: [] });
    const [ended] = toldOf('tool_end', { call: 'c', tool: 'shell', outcome: 'succeeded' });
    const ids = [proposed?.type === 'tool.proposed' && proposed.tool.id, started, ended].map(event =>
      typeof event === 'object' && 'toolId' in event ? event.toolId : event,
    );
    expect(new Set(ids).size).toBe(1);
    expect(ended).toMatchObject({ result: { ok: true } });
  });

  it('[A136] of the transcript only what the model said is told; garbage is told as little', () => {
    expect(toldOf('message', { kind: 'tool_ended', call: 'c' })).toEqual([]);
    for (const payload of [null, 7, [], {}, { call: 1, tool: '', input: 'x' }]) {
      for (const kind of streamChunk.shape.kind.options) {
        for (const event of toldOf(kind, payload)) expect(saidEvent.parse(event)).toEqual(event);
      }
    }
  });
});
