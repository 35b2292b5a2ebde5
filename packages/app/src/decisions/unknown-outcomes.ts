import { defined, type Json } from '@signalbox/model';
import type { TaskOutcome } from '@signalbox/plan';
import { decisionIdOf, type NodeKey, type RunReader, type Task } from '@signalbox/runs';
import type { RemoteRequest } from '../threads/thread-api.ts';
import type { DecisionDesk } from './decision-desk.ts';
import type { HumanProposal } from './human-proposal.ts';

const HAPPENED = 'happened';
const AGAIN = 'again';

/**
 * Asks a person about interrupted work with effects outside: whether it happened is unknown (R17). Undefined if it may be repeated. One
 * question for each interrupted attempt; an attempt interrupted before the previous question was answered had not started.
 */
export async function askAboutOutcome(
  decisions: Pick<DecisionDesk, 'ask'>,
  reader: Pick<RunReader, 'decision'>,
  { run, node, totalIteration }: Pick<RemoteRequest, 'run' | 'node' | 'totalIteration'>,
  orphaned: readonly Task[],
): Promise<TaskOutcome | undefined> {
  const place = { run, node: node.id as NodeKey, iteration: totalIteration };
  let allowedAt = '';
  for (const task of orphaned) {
    if ((task.endedAt ?? '') <= allowedAt) continue;
    const call = await callOf(reader, place, task);
    const proposal = proposalOf(node, task) as Json;
    const resolution = await decisions.ask({ ...place, call, kind: 'choice', proposal });
    if (resolution === undefined) return { kind: 'blocked', reason: 'approval_required:choice' };
    const { chosenOptionId, value = null, rationale } = resolution;
    if (chosenOptionId === HAPPENED) return { kind: 'done', output: value };
    if (chosenOptionId !== AGAIN) {
      const why = rationale === '' ? '' : ` ${rationale}`;
      const message = `It was cut off, nobody knows whether it happened, and a person gave it up.${why}`;
      return { kind: 'failed', error: { class: 'terminal', code: 'outcome-unknown', message } };
    }
    const answered = await reader.decision(decisionIdOf(run, place.node, totalIteration, call));
    allowedAt = answered?.decision.closedAt ?? '';
  }
  return undefined;
}

/** A question withdrawn because its node was canceled becomes a new one when the node is retried. */
async function callOf(
  reader: Pick<RunReader, 'decision'>,
  { run, node, iteration }: { readonly run: RemoteRequest['run']; readonly node: NodeKey; readonly iteration: number },
  task: Task,
): Promise<string> {
  for (let again = 0; ; again++) {
    const call = `outcome-unknown:${task.id}${again === 0 ? '' : `:${again}`}`;
    const known = await reader.decision(decisionIdOf(run, node, iteration, call));
    if (known?.decision.status !== 'withdrawn') return call;
  }
}

/** Longer inputs are left out of the question. */
const SHOWN_INPUT = 2000;

function proposalOf({ id, data }: RemoteRequest['node'], task: Task): HumanProposal {
  const { startedAt, endedAt, retryCount, lastError } = task;
  const { input } = data as { readonly input?: Json };
  const isShort = input !== undefined && JSON.stringify(input).length <= SHOWN_INPUT;
  return {
    prompt:
      `Node ${id} was cut off, and its effects cannot be undone: nobody knows whether they happened. Look first, then say ` +
      `what to do.\n- Attempt ${retryCount + 1} began at ${startedAt ?? 'an unknown time'}.\n` +
      `- ${lastError?.message ?? 'It was cut off.'} That was found at ${endedAt ?? 'an unknown time'}.`,
    options: [
      { id: HAPPENED, label: 'It happened: continue with null as its result, or with the value given' },
      { id: AGAIN, label: 'Do it again' },
      { id: 'give-up', label: 'Give up: the node fails' },
    ],
    context: {
      node: id,
      task: task.id,
      attempt: retryCount + 1,
      ...defined({ startedAt, foundAt: endedAt }),
      ...(isShort && { input }),
    },
  };
}
