import type { Json } from '@signalbox/model';
import type { AgentSession, ModelName } from '@signalbox/runs';
import type { PromptUsage } from './session-update.ts';

export interface SpendingContext {
  readonly session: Pick<AgentSession, 'spend'>;
  readonly model: ModelName;
  /** Begins the names of its records; unique in the run. */
  readonly prefix: string;
  /** The meter counts what its calls spend: only its tool calls and its time are recorded here. */
  readonly isMetered: boolean;
  now(): number;
  toolCalls(): number;
}

/**
 * The spending that an agent reports. Each report is recorded once, as the difference to the last one; amounts that it does not report are
 * said to be unknown, never recorded as zero.
 */
export type TurnSpending = ReturnType<typeof createTurnSpending>;

export function createTurnSpending({ session, model, prefix, isMetered, now, toolCalls }: SpendingContext) {
  let records = 0;
  let since = now();
  let callsBefore = 0;
  /** The cost of the session that was recorded. The protocol reports sums. */
  let costRecorded = 0;
  let costReported: number | undefined;
  let costOfPrompt = 0;
  let mayCountAgain = false;

  async function record(usage: PromptUsage | undefined): Promise<void> {
    const costMicroUsd = Math.max(0, (costReported ?? costRecorded) - costRecorded);
    costRecorded += costMicroUsd;
    costOfPrompt += costMicroUsd;
    const calls = toolCalls();
    const at = now();
    const spent = {
      call: `${prefix}/${++records}`,
      ...model,
      ...countedTokens(isMetered ? undefined : usage),
      toolCalls: calls - callsBefore,
      costMicroUsd: isMetered ? 0 : costMicroUsd,
      wallMs: Math.max(0, Math.round(at - since)),
    };
    callsBefore = calls;
    since = at;
    await session.spend(spent);
  }

  return {
    /** The session is an earlier one. An agent that counts from zero again reports less than what was recorded. */
    continued(recorded: number): void {
      costRecorded = recorded;
      mayCountAgain = true;
    },
    /** The cost that was recorded of the session. */
    recorded: () => costRecorded,
    /** Whether a sum of cost in this currency is news. Only dollars can be counted. */
    costs({ amount, currency }: { readonly amount: number; readonly currency: string }): boolean {
      if (currency.toUpperCase() !== 'USD') return false;
      costReported = Math.round(amount * 1_000_000);
      if (mayCountAgain && costReported < costRecorded) costRecorded = 0;
      mayCountAgain = false;
      return costReported > costRecorded;
    },
    /** Records a sum of cost that was reported meanwhile. */
    recordCost: () => record(undefined),
    /** Records what a prompt took; returns it for the transcript. */
    async prompted(usage: PromptUsage | undefined): Promise<Json> {
      const startedAt = since;
      await record(usage);
      const unknown = [...(usage === undefined ? ['tokens'] : []), ...(costReported === undefined ? ['cost'] : [])];
      const told = {
        ...(usage && {
          inputTokens: usage.inputTokens,
          outputTokens: usage.outputTokens,
          cachedTokens: Math.min(usage.inputTokens, usage.cachedReadTokens ?? 0),
        }),
        ...(costReported !== undefined && { costMicroUsd: costOfPrompt }),
        wallMs: Math.max(0, Math.round(now() - startedAt)),
        ...(unknown.length > 0 && { unknown }),
      };
      costOfPrompt = 0;
      return told;
    },
  };
}

function countedTokens(usage: PromptUsage | undefined) {
  return {
    inputTokens: usage?.inputTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
    cachedTokens: Math.min(usage?.inputTokens ?? 0, usage?.cachedReadTokens ?? 0),
  };
}
