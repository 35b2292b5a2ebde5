import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import type { Assignment } from '@signalbox/runs';
import { trimmedHistory } from './history.ts';
import type { Conversation, Turn } from './transcript.ts';

/** Marks the end of what a provider may cache for the next call. */
const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const;

/** The messages of the next request, built from the transcript. */
export function promptOf(
  conversation: Conversation,
  assignment: Pick<Assignment, 'prompt' | 'history'>,
  system: string,
): LanguageModelV4Prompt {
  const { turns, left } = trimmedHistory(conversation.turns.map(messagesOf), assignment.history ?? {});
  const notes = [conversation.begun.note, left === 0 ? undefined : leftOut(left), ...conversation.told].filter(
    note => note !== undefined,
  );
  const user: LanguageModelV4Message = {
    role: 'user',
    content: [assignment.prompt, ...notes].map(text => ({ type: 'text', text: text.trim() === '' ? 'Begin.' : text })),
  };
  const messages = [user, ...turns.flat()];
  const last = messages.at(-1);
  return [
    { role: 'system', content: system, providerOptions: CACHED },
    ...messages.slice(0, -1),
    ...(last === undefined ? [] : [{ ...last, providerOptions: CACHED }]),
  ];
}

function messagesOf(turn: Turn): readonly LanguageModelV4Message[] {
  const messages: LanguageModelV4Message[] = [
    {
      role: 'assistant',
      content: turn.content.map(part => {
        const { providerOptions, ...rest } = part;
        if (rest.type !== 'tool-call') return { ...rest, ...(providerOptions && { providerOptions }) };
        const { malformed: _, ...call } = rest;
        return { ...call, ...(providerOptions && { providerOptions }) };
      }) as Extract<LanguageModelV4Message, { role: 'assistant' }>['content'],
    },
  ];
  const results = turn.calls.flatMap(({ part, ended }) =>
    ended === undefined
      ? []
      : [
          {
            type: 'tool-result' as const,
            toolCallId: part.toolCallId,
            toolName: part.toolName,
            output: ended.output as LanguageModelV4ToolResultOutput,
          },
        ],
  );
  if (results.length > 0) messages.push({ role: 'tool', content: results });
  const said = [...(turn.correction === undefined ? [] : [turn.correction]), ...turn.told];
  if (said.length > 0) messages.push({ role: 'user', content: said.map(text => ({ type: 'text', text })) });
  return messages;
}

function leftOut(turns: number): string {
  return `[The first ${turns} ${turns === 1 ? 'turn' : 'turns'} of this conversation were left out to save room. Look again where you need to know.]`;
}
