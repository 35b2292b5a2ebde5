import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { costMicroUsd, type Price } from './prices.ts';
import { estimateTokens } from './token-estimate.ts';
import type { AssistantPart, CallUsage } from './transcript.ts';

/** The cost of an answer. If the provider reports no tokens they are estimated, so that no call counts as free. */
export function usageOf(
  usage: LanguageModelV4Usage | undefined,
  context: {
    readonly sent: object;
    readonly content: readonly AssistantPart[];
    readonly price: Price | undefined;
    readonly wallMs: number;
    /** The call that gives the final answer runs nothing. */
    readonly answerTool: string | undefined;
  },
): CallUsage {
  const { sent, content, price, wallMs, answerTool } = context;
  const reported = usage?.inputTokens.total !== undefined && usage.outputTokens.total !== undefined;
  const input = usage?.inputTokens.total ?? estimateTokens(sent);
  const output = usage?.outputTokens.total ?? estimateTokens(content);
  const cached = Math.min(input, usage?.inputTokens.cacheRead ?? 0);
  const cacheWrite = Math.min(input - cached, usage?.inputTokens.cacheWrite ?? 0);
  return {
    inputTokens: input,
    outputTokens: output,
    cachedTokens: cached,
    toolCalls: content.filter(part => part.type === 'tool-call' && part.toolName !== answerTool).length,
    costMicroUsd: price === undefined ? 0 : costMicroUsd({ input, output, cached, cacheWrite }, price),
    wallMs,
    ...(!reported && { estimated: true as const }),
  };
}
