import type { AnswerOutcome, Effect, RefusalCode } from '@signalbox/fleet';
import { type ErrorEnvelope, failure } from '@signalbox/model';

type FleetCode = Extract<ErrorEnvelope['code'], `fleet/${string}`>;

const refusals: Readonly<Record<Exclude<RefusalCode, 'artifact_unknown'>, readonly [FleetCode, string]>> = {
  agent_unknown: ['fleet/agent-unknown', 'List the agents with: signalbox fleet ls'],
  agent_live: ['fleet/agent-live', 'Kill or pause it first.'],
  agent_not_live: ['fleet/agent-not-live', 'See what became of it with: signalbox fleet show AGENT'],
  braked: ['fleet/braked', 'Release the brake first: signalbox brake --release'],
  brief_invalid: ['fleet/brief-invalid', 'Correct the brief.'],
  plugin_unknown: ['fleet/plugin-unknown', 'Name a plugin of this server; GET /api/fleet lists them.'],
  issue_unknown: ['fleet/issue-unknown', 'List the issues with GET /api/coherence.'],
};

/** Why the fleet refused what was asked; undefined if it did not. */
export function refusalIn(effects: readonly Effect[]): ErrorEnvelope | undefined {
  for (const effect of effects) {
    if (effect.kind === 'write_conflict') {
      const { artifactId, expectedVersion, version } = effect;
      return failure('fleet/version-conflict', {
        message: `Artifact ${artifactId} has version ${version}; version ${expectedVersion} was expected.`,
        suggestion: 'Look at the current version, then decide again.',
        details: { artifactId, version, expectedVersion },
      });
    }
    if (effect.kind === 'answer_settled') return answerRefusal(effect.decisionId, effect);
    if (effect.kind !== 'request_refused') continue;
    if (effect.code === 'artifact_unknown')
      return failure('artifact/unknown', { message: effect.reason, suggestion: 'List the artifacts.' });
    const [code, suggestion] = refusals[effect.code];
    return failure(code, { message: effect.reason, suggestion });
  }
  return undefined;
}

/** An answer to a closed decision is no error: the first outcome counts. */
function answerRefusal(id: string, outcome: AnswerOutcome): ErrorEnvelope | undefined {
  switch (outcome.outcome) {
    case 'accepted':
    case 'closed':
      return undefined;
    case 'unknown':
      return failure('decision/unknown', {
        message: `There is no decision ${id}.`,
        suggestion: 'List the open ones with: signalbox decisions',
      });
    case 'void':
      return failure('decision/stale-proposal', {
        message: `The agent changed its proposal of decision ${id}; the answer was to the earlier one.`,
        suggestion: 'Look at the decision again, then answer it.',
      });
    case 'forbidden':
      return failure('request/forbidden', {
        message: `Decision ${id} cannot be answered by the agent that raised it.`,
        suggestion: 'Let a person answer it.',
      });
    case 'unfit':
      return failure('fleet/answer-unfit', {
        message: `The answer does not fit decision ${id}: ${outcome.problem}`,
        suggestion: 'Answer what was asked.',
      });
  }
}
