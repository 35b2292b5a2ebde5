import type { RunId, ServerMessage, WireStoredEvent } from '@signalbox/model';
import type { CommitNotice } from '@signalbox/runs';
import { createStreamBuffer, type StreamParts } from './stream-buffer.ts';

const known = new WeakMap<CommitNotice, readonly ServerMessage[]>();

/**
 * What a commit says to a client that has everything before it: agent output, then events as they are stored. The same objects for
 * all clients, so that each is made and serialized once.
 */
export function commitMessages(notice: CommitNotice): readonly ServerMessage[] {
  const messages = known.get(notice) ?? [
    ...streamMessages(notice),
    ...notice.events.map(stored => ({ kind: 'event' as const, run: notice.run, stored: stored as WireStoredEvent })),
  ];
  known.set(notice, messages);
  return messages;
}

function streamMessages({ run, seq, stream }: CommitNotice): readonly ServerMessage[] {
  if (stream.length === 0) return [];
  const buffer = createStreamBuffer();
  buffer.add(stream, seq - 1);
  return buffer.takeBefore(seq).map(parts => streamMessage(run, parts));
}

export function streamMessage(run: RunId, parts: StreamParts): ServerMessage {
  return { kind: 'stream', run, ...parts, chunks: parts.chunks.map(({ messageBefore: _, ...chunk }) => chunk) };
}
