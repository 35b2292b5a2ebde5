import {
  deriveId,
  type EventId,
  type Json,
  type JsonObject,
  type MessageId,
  type NodeId,
  RUN_EVENT_VERSION,
  type RunId,
  type SaidEvent,
  type ToolId,
  truncateUtf8,
} from '@signalbox/model';
import type { StreamChunk } from '@signalbox/runs';

type Chunk = Pick<StreamChunk, 'task' | 'index' | 'kind' | 'payload' | 'at'>;

/**
 * What an agent says while it works, as the contract has it. These are no facts of the run: they have no number and are in no
 * history. Of the transcript only what the model said whole is told; the rest is what the agent goes on from.
 */
export function contractEventsOfChunk(run: RunId, nodeId: NodeId, chunk: Chunk): readonly SaidEvent[] {
  const { task, index, kind, payload, at } = chunk;
  const head = { v: RUN_EVENT_VERSION, runId: run, ts: at, nodeId } as const;
  const id = (part = 0) => deriveId<EventId>('said', run, task, index, part);
  const messageId = deriveId<MessageId>('said-message', run, task);
  const fields = isObject(payload) ? payload : {};
  const call = textOf(fields.call) ?? `${task}.${index}`;
  const toolId = deriveId<ToolId>('tool-call', run, call);
  const name = textOf(fields.tool) || 'tool';
  switch (kind) {
    case 'token':
      return [{ ...head, id: id(), type: 'message.assistant.delta', messageId, delta: wordsOf(payload) }];
    case 'thinking':
      return [{ ...head, id: id(), type: 'node.progress', summary: truncateUtf8(wordsOf(payload), SUMMARY_MAX_BYTES) }];
    case 'tool_start': {
      const args = isObject(fields.input) ? fields.input : { input: fields.input ?? null };
      return [
        { ...head, id: id(0), type: 'tool.proposed', tool: { id: toolId, name, args } },
        { ...head, id: id(1), type: 'tool.started', toolId },
      ];
    }
    case 'tool_end': {
      const outcome = textOf(fields.outcome) ?? 'unknown';
      const isGood = outcome === 'succeeded';
      const message = textOf(fields.message) ?? `${name}: ${outcome}`;
      return [
        {
          ...head,
          id: id(),
          type: 'tool.completed',
          toolId,
          result: { ok: isGood },
          ...(!isGood && { error: { message } }),
        },
      ];
    }
    case 'message': {
      if (fields.kind !== 'assistant') return [];
      const content = saidIn(fields.content);
      return [
        {
          ...head,
          id: id(),
          type: 'message.assistant.final',
          message: { id: messageId, runId: run, nodeId, role: 'assistant', content, interrupt: false, createdAt: at },
        },
      ];
    }
  }
}

const SUMMARY_MAX_BYTES = 512;

function wordsOf(payload: Json): string {
  if (typeof payload === 'string') return payload;
  return isObject(payload) ? (textOf(payload.text) ?? '') : '';
}

/** The texts among the parts of what a model said. */
function saidIn(content: Json | undefined): string {
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((part: Json) => (isObject(part) && part.type === 'text' ? [textOf(part.text) ?? ''] : []))
    .join('\n\n');
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
