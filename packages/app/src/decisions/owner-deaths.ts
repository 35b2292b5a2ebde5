import type { Json } from '@signalbox/model';
import type { TaskOutcome } from '@signalbox/plan';
import type { NodeKey, OwnerDeath } from '@signalbox/runs';
import type { RemoteRequest } from '../threads/thread-api.ts';
import type { DecisionDesk } from './decision-desk.ts';
import type { HumanProposal } from './human-proposal.ts';

const TRY_AGAIN = 'try-again';

/**
 * Asks a person about a task that was running whenever the owner died, since it may be the cause. Undefined if it may start again; if given
 * up, it fails its node.
 */
export async function askAboutDeaths(
  decisions: Pick<DecisionDesk, 'ask'>,
  { run, task, node, totalIteration }: Pick<RemoteRequest, 'run' | 'task' | 'node' | 'totalIteration'>,
  deaths: readonly OwnerDeath[],
): Promise<TaskOutcome | undefined> {
  const last = deaths.at(-1);
  if (last === undefined) return undefined;
  const resolution = await decisions.ask({
    run,
    node: node.id as NodeKey,
    iteration: totalIteration,
    // One question for each death: an answer counts until the owner dies again.
    call: `owner-deaths:${task}:${last.foundAt}`,
    kind: 'choice',
    proposal: proposalOf(node.id, task, deaths) as Json,
  });
  if (resolution === undefined) return { kind: 'blocked', reason: 'approval_required:choice' };
  if (resolution.chosenOptionId === TRY_AGAIN) return undefined;
  const why = resolution.rationale === '' ? '' : ` ${resolution.rationale}`;
  const message = `The owner died ${deaths.length} times in a row while this ran, and a person gave it up.${why}`;
  return { kind: 'failed', error: { class: 'terminal', code: 'owner-deaths', message } };
}

function proposalOf(node: string, task: string, deaths: readonly OwnerDeath[]): HumanProposal {
  const lines = deaths.map(death => {
    const { startedAt, seenAt, foundAt } = death;
    const when = seenAt === undefined ? `before ${foundAt}` : `soon after ${seenAt}`;
    return `- The owner died ${when}, ${ranFor(death)} after the task began at ${startedAt}.`;
  });
  return {
    prompt:
      `Node ${node} was running each of the last ${deaths.length} times that the process died, and may be what kills it. ` +
      `Try it again?\n${lines.join('\n')}`,
    options: [
      { id: TRY_AGAIN, label: 'Try again' },
      { id: 'give-up', label: 'Give up: the node fails' },
    ],
    context: { node, task, deaths: deaths.map(death => ({ ...death })) as Json },
  };
}

function ranFor({ startedAt, seenAt, foundAt }: OwnerDeath): string {
  const ms = (until: string) => Math.max(0, Date.parse(until) - Date.parse(startedAt));
  return seenAt === undefined ? `at most ${seconds(ms(foundAt))}` : `about ${seconds(ms(seenAt))}`;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
