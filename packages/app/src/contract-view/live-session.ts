import type { RunId, Timestamp } from '@signalbox/model';
import type { RunReader, Task } from '@signalbox/runs';
import * as z from 'zod';

/** An agent at work: its vendor's session, and when it last said something. */
export interface LiveSession {
  readonly sessionId: string;
  readonly lastOutputAt: Timestamp;
}

/** Entries of a transcript that name the vendor's session. */
const ofSession = z.looseObject({ kind: z.enum(['begun', 'prompted']), session: z.string() });
const TAIL = 500;

/** Looks back from the end of a task's stream, message by message: an agent that began long ago has said much since. */
export async function liveSession(
  reader: Pick<RunReader, 'stream' | 'messageBefore'>,
  run: RunId,
  { id, startedAt, createdAt }: Task,
): Promise<LiveSession> {
  const last = await reader.messageBefore(run, id, Number.MAX_SAFE_INTEGER);
  const tail = await reader.stream(run, id, last ?? 0, TAIL);
  const lastOutputAt = tail.at(-1)?.at ?? startedAt ?? createdAt;
  for (let index = last; index !== undefined; index = await reader.messageBefore(run, id, index)) {
    const [chunk] = await reader.stream(run, id, index, 1);
    const named = ofSession.safeParse(chunk?.payload);
    if (named.success) return { sessionId: named.data.session, lastOutputAt };
  }
  return { sessionId: '', lastOutputAt };
}
