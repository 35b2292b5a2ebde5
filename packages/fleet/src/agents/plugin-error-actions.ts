import { type PluginError, pluginErrorPlans } from '@signalbox/model';

/** What is done about a failed call of a plugin, and how it is said. */
export interface PluginErrorAction {
  readonly do: 'retry' | 'respawn' | 'compact' | 'note' | 'fail';
  readonly message: string;
  /** Before the same call is made again. */
  readonly afterMs: number;
}

/** A call is made at most this many times (R17); one that was too long, twice. */
const CALL_ATTEMPTS = 3;
const COMPACTED_ATTEMPTS = 2;
const BACKOFF_MS = 1_000;

/** What each error means for the agent, after the contract's table. `attempt` counts from 1. */
export function actionFor(error: PluginError, attempt: number): PluginErrorAction {
  const { first, otherwise } = pluginErrorPlans[error.code];
  const isHopeless = error.code === 'provider_unavailable' && !error.retryable;
  const mayTryAgain = !isHopeless && attempt < (first === 'compact' ? COMPACTED_ATTEMPTS : CALL_ATTEMPTS);
  const afterMs = error.code === 'rate_limited' ? error.retryAfterMs : BACKOFF_MS * 2 ** (attempt - 1);
  return { do: mayTryAgain ? first : otherwise, message: messageOf(error), afterMs: first === 'retry' ? afterMs : 0 };
}

function messageOf(error: PluginError): string {
  switch (error.code) {
    case 'provider_unavailable':
      return `The provider is unavailable: ${error.message}`;
    case 'invalid_state':
      return `The agent's state does not allow this: ${error.message}`;
    case 'decision_not_found':
      return `The agent no longer waits for decision ${error.decisionId}.`;
    case 'rate_limited':
      return 'Agent paused: rate limited';
    case 'context_overflow':
      return `The conversation has ${error.currentTokens} tokens; ${error.maxTokens} are allowed.`;
    case 'capability_unsupported':
      return `Defect: the plugin was asked for ${error.capability}, which it does not support.`;
  }
}
