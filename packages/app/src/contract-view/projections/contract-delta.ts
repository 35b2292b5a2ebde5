import {
  deriveId,
  type EventId,
  type MessageId,
  type NodeId,
  RUN_EVENT_VERSION,
  type RunId,
  type SaidEvent,
  truncateUtf8,
} from '@signalbox/model';
import type { StreamChunk, TaskId } from '@signalbox/runs';
import { wordsOfDelta } from './agent-words.ts';

export interface Delta extends Pick<StreamChunk, 'task' | 'index' | 'kind' | 'payload' | 'at'> {
  /** The `seq` of the last event before it. */
  readonly after: number;
}

/**
 * A part of agent output in the contract's form. It is not a fact of the run, so it is placed between two events. Messages and tool calls
 * are facts, and have their own events. `messageBefore` is the index of the last message before it in its stream.
 */
export function contractEventOfDelta(
  run: RunId,
  nodeId: NodeId,
  { task, index, kind, payload, at, after }: Delta,
  messageBefore: number | undefined,
): SaidEvent | undefined {
  const id = deriveId<EventId>('said', run, task, index);
  const head = { v: RUN_EVENT_VERSION, id, runId: run, ts: at, after, offset: index, nodeId } as const;
  const words = wordsOfDelta(payload);
  if (kind === 'thinking') return { ...head, type: 'node.progress', summary: truncateUtf8(words, SUMMARY_MAX_BYTES) };
  if (kind !== 'token') return undefined;
  return {
    ...head,
    type: 'message.assistant.delta',
    messageId: messageIdAfter(run, task, messageBefore),
    delta: words,
  };
}

/** The id of the message after another one in a task's stream, known before it is complete. */
export function messageIdAfter(run: RunId, task: TaskId, messageBefore: number | undefined): MessageId {
  return deriveId<MessageId>('said-message', run, task, (messageBefore ?? -1) + 1);
}

const SUMMARY_MAX_BYTES = 512;
