import { deriveId, type Json, type NodeId, type RunId, saidEvent, type Timestamp } from '@signalbox/model';
import { type StreamChunk, streamChunk, type TaskId } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { contractEventOfDelta, messageIdAfter } from './contract-delta.ts';

const run = deriveId<RunId>('test', 'run');
const nodeId = deriveId<NodeId>('test', 'node');
const task = deriveId<NodeId>('test', 'task') as string as TaskId;
const at = '2026-01-01T00:00:00.000Z' as Timestamp;
const toldOf = (kind: StreamChunk['kind'], payload: Json, messageBefore?: number) =>
  contractEventOfDelta(run, nodeId, { task, index: 4, kind, payload, at, after: 17 }, messageBefore);

/** Streamed parts, with the type and fields of the contract for each. Facts have their own events. */
const told: { readonly [Kind in StreamChunk['kind']]: readonly [payload: Json, told: object | undefined] } = {
  token: ['Hel', { type: 'message.assistant.delta', delta: 'Hel' }],
  thinking: [{ text: 'Hm.' }, { type: 'node.progress', summary: 'Hm.' }],
  tool_start: [{ call: 'c', tool: 'shell', input: { cmd: 'ls' } }, undefined],
  tool_end: [{ call: 'c', tool: 'shell', outcome: 'failed', message: 'no such file' }, undefined],
  message: [{ kind: 'assistant', content: [{ type: 'text', text: 'Done.' }] }, undefined],
};

describe('what an agent says', () => {
  it('[A136] is a delta or a fact, whatever kind it is of', () => {
    expect(Object.keys(told).toSorted()).toEqual(streamChunk.shape.kind.options.toSorted());
  });

  it.each(Object.keys(told) as StreamChunk['kind'][])(
    '[A136] [A582] %s fits the contract, between two events, or is a fact',
    kind => {
      const [payload, expected] = told[kind];
      const event = toldOf(kind, payload);
      if (expected === undefined) expect(event).toBeUndefined();
      else {
        expect(saidEvent.parse(event)).toEqual(event);
        expect(event).toMatchObject({ ...expected, runId: run, nodeId, ts: at, after: 17, offset: 4 });
      }
    },
  );

  it('[A583] names the message that it becomes', () => {
    const idOf = (messageBefore?: number) => {
      const event = toldOf('token', 'a', messageBefore);
      return event?.type === 'message.assistant.delta' && event.messageId;
    };
    expect(idOf()).toBe(messageIdAfter(run, task, undefined));
    expect(new Set([idOf(), idOf(0), idOf(3)]).size).toBe(3);
  });

  it('[A136] garbage is told as little', () => {
    for (const payload of [null, 7, [], {}, { text: 1 }]) {
      for (const kind of ['token', 'thinking'] as const) {
        const event = toldOf(kind, payload);
        expect(saidEvent.parse(event)).toEqual(event);
      }
    }
  });
});
