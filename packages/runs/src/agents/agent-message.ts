import { type Json, text } from '@signalbox/model';
import * as z from 'zod';

/** A person's text for an agent, in the transcript of its task. The agent reads it before its next turn. */
export const agentMessage = z.strictObject({
  v: z.literal(1),
  kind: z.literal('person'),
  id: text.min(1),
  text,
  by: text,
});
export type AgentMessage = z.infer<typeof agentMessage>;

/** Which of them the agent was told, in the order in which it was; they are part of its conversation from here on. */
export const heardMessages = z.strictObject({
  v: z.literal(1),
  kind: z.literal('heard'),
  messages: z.array(z.strictObject({ id: text.min(1), text, by: text })),
});
export type HeardMessages = z.infer<typeof heardMessages>;

/** The messages of a transcript that the agent was not told yet; undefined if there are none. */
export function unheardMessages(transcript: readonly Json[]): HeardMessages | undefined {
  const heard = new Set<string>();
  const messages: AgentMessage[] = [];
  for (const entry of transcript) {
    const kind = typeof entry === 'object' && entry !== null && 'kind' in entry ? entry.kind : undefined;
    if (kind === 'person') messages.push(...(agentMessage.safeParse(entry).data ? [agentMessage.parse(entry)] : []));
    else if (kind === 'heard') for (const { id } of heardMessages.safeParse(entry).data?.messages ?? []) heard.add(id);
  }
  const unheard = messages.filter(({ id }) => !heard.has(id)).map(({ id, text: said, by }) => ({ id, text: said, by }));
  return unheard.length === 0 ? undefined : { v: 1, kind: 'heard', messages: unheard };
}

/** How an agent is told a message. */
export function messageWords({ text: said, by }: HeardMessages['messages'][number]): string {
  return `[A message from ${by}, who watches this task:]\n${said}`;
}
