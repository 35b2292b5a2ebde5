import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Assignment } from '@signalbox/runs';
import { estimateTokens } from './token-estimate.ts';

type TurnMessages = readonly LanguageModelV4Message[];

/**
 * The newest turns that fit the limits. Turns are dropped whole, oldest first, so that a call and its result stay together.
 * The prompt counts as a message, the newest turn always stays.
 */
export function trimmedHistory(
  turns: readonly TurnMessages[],
  { maxMessages = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY }: NonNullable<Assignment['history']>,
): { readonly turns: readonly TurnMessages[]; readonly left: number } {
  let messages = 1;
  let tokens = 0;
  let from = turns.length;
  for (const [index, turn] of [...turns.entries()].reverse()) {
    messages += turn.length;
    tokens += turn.reduce((sum, message) => sum + estimateTokens(message.content), 0);
    if (index < turns.length - 1 && (messages > maxMessages || tokens > maxTokens)) break;
    from = index;
  }
  return { turns: turns.slice(from), left: from };
}
