import { timerDue } from '@signalbox/model';
import { kindWords } from './kind-words.ts';
import { untilWords } from './words.ts';

const known: Readonly<Record<string, string>> = {
  rate_limit: 'the model is busy, it is called again by itself',
  outcome_unknown: 'nobody knows whether it was done: it asks you',
  sub_plan_waiting: 'its own run waits for you',
  sub_plan_paused: 'its own run is paused',
};

const APPROVAL = 'approval_required:';

/** Why a node does not go on, in words. What has none is told as it is. */
export function reasonWords(reason: string): string {
  const due = timerDue(reason);
  if (due !== undefined) return untilWords(due);
  const kind = reason.startsWith(APPROVAL) ? reason.slice(APPROVAL.length) : undefined;
  const asks = Object.entries(kindWords).find(([name]) => name === kind)?.[1];
  return asks ?? known[reason] ?? reason.replace(/^threw: (Error: )?/, '');
}
