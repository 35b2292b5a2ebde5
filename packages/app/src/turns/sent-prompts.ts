import type { Json, RunId } from '@signalbox/model';
import { chunksOf, type RunReader, type TaskId } from '@signalbox/runs';
import * as z from 'zod';

/** A prompt as it was sent to an agent of another vendor. */
const sentPrompt = z.looseObject({
  kind: z.literal('prompted'),
  prompt: z.int(),
  session: z.string(),
  /** False for one that continues a session. */
  isFull: z.boolean().optional(),
  text: z.string(),
  blocks: z.json(),
});
type SentPrompt = z.infer<typeof sentPrompt>;

/** The prompts of a turn that were kept as they were sent (R29); none for the built-in agent, whose prompts can be made again. */
export async function sentPrompts(
  reader: Pick<RunReader, 'stream'>,
  run: RunId,
  task: TaskId,
): Promise<readonly SentPrompt[]> {
  const sent: SentPrompt[] = [];
  for await (const { kind, payload } of chunksOf(reader, run, task)) {
    const read = kind === 'message' ? sentPrompt.safeParse(payload) : undefined;
    if (read?.success === true) sent.push(read.data);
  }
  return sent;
}

/** The text of the last whole prompt, and everything that was sent in its session since. */
export function sentText(sent: readonly SentPrompt[]): string {
  const start = sent.findLastIndex(({ isFull, prompt }) => isFull ?? prompt === 1);
  return `${sent
    .slice(Math.max(0, start))
    .map(({ text }) => text)
    .join('\n\n')}\n`;
}

export function sentBlocks(sent: readonly SentPrompt[]): Json {
  return {
    sent: sent.map(({ prompt, session, isFull, blocks }) => ({
      ...{ prompt, session, full: isFull ?? prompt === 1 },
      blocks: blocks as Json,
    })),
  };
}
