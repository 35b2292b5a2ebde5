import type { Json } from '@signalbox/model';
import { KEEP_NONE } from '@signalbox/plan';
import type { AttemptFacts } from './attempt-facts.ts';

/** Characters of all diffs together that a question shows. */
const MOST_SHOWN = 200_000;

/** The question which attempt's changes are kept: how they compare, and what each would change. */
export function keepProposal(
  attempts: readonly AttemptFacts[],
  candidates: readonly AttemptFacts[],
  prompt = candidates.length === 1 ? 'Keep these changes?' : 'Which changes should be kept?',
): Json {
  const each = Math.floor(MOST_SHOWN / candidates.length);
  return {
    prompt,
    options: [
      ...candidates.map(({ told: { node, agent } }) => ({
        id: node,
        label: `Keep ${node === agent ? node : `${node} (${agent})`}`,
      })),
      { id: KEEP_NONE, label: 'Keep none' },
    ],
    context: {
      attempts: attempts.map(({ told }) => told) as unknown as Json,
      diff: candidates.map(({ told, diff }) => `# ${told.node}\n${cut(diff, each)}`).join('\n\n'),
    },
  };
}

function cut(diff: string, most: number): string {
  return diff.length <= most ? diff : `${diff.slice(0, most)}\n… ${diff.length - most} more characters`;
}
