import { timerDue } from '@signalbox/model';
import { kindWords } from './kind-words.ts';
import { untilWords } from './words.ts';

const known: Readonly<Record<string, string>> = {
  rate_limit: 'the model is busy; it is called again automatically',
  interrupted: 'the process of its run ended',
  outcome_unknown: 'the outcome is unknown: it needs you',
  sub_plan_waiting: 'its sub-run needs you',
  sub_plan_paused: 'its sub-run is paused',
  denied: 'a person denied it',
  held_below: 'it continues by itself',
};

const APPROVAL = 'approval_required:';

/** Why a node does not continue, in words. Unknown reasons are shown unchanged. */
export function reasonWords(reason: string): string {
  const due = timerDue(reason);
  if (due !== undefined) return untilWords(due);
  const kind = reason.startsWith(APPROVAL) ? reason.slice(APPROVAL.length) : undefined;
  const asks = Object.entries(kindWords).find(([name]) => name === kind)?.[1];
  return asks ?? known[reason] ?? reason.replace(/^threw: (Error: )?|^denied: /, '');
}
