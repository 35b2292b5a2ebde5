import type { Question } from '../story/question.ts';

/** Every text of decisions, in the order of the page. */
export const words = {
  approve: 'Approve',
  deny: 'Deny',
  denyAsk: 'Deny…',
  modify: 'Modify…',
  choose: (option: string) => `Choose: ${option}`,
  reason: 'Reason (optional)',
  denyTitle: 'Deny this?',
  denyReason: 'Reason, told to the agent and kept in the log (optional)',
  denyReasonPlan: 'Reason, kept in the log (optional)',
  cancel: 'Cancel',
  onYes: 'On yes',
  onNo: 'On no',
  changed: 'Changed so far',
  changedByRun: 'Changed by this run',
  checks: 'Checks',
  context: 'Context',
  spent: 'Cost so far',
  refused: 'Answer not accepted',
  tooLate: (headline: string, why: string) => `Your answer to “${headline}” was not accepted: ${why}`,
  gone: 'The decision of this link was answered, or does not exist. Below is what needs you now.',
  goneNothing: 'The decision of this link was answered, or does not exist.',
  denyAll: (count: number) => `Deny ${count}`,
  denyAllAsk: (count: number) => `Deny ${count}…`,
  denyAllDoes: 'Each call is not made, and its agent continues without it. A question of a plan ends as denied.',
} as const;

/** What a yes does; undefined if each option says it itself. */
export function yesWords(
  { wants, command, changes, agent, held }: Question,
  asker: string,
  next: string | undefined,
): string | undefined {
  if (wants.kind === 'option' || wants.kind === 'permission' || held !== undefined) return undefined;
  const then = `then ${asker} continues.`;
  if (command !== undefined) return `Runs this command, ${then}`;
  if (changes.length > 0) return `Makes this change, ${then}`;
  if (agent !== undefined) return `Makes this call, ${then}`;
  return next === undefined ? 'The plan continues.' : `The plan continues with ${next}.`;
}

/** What a denial does. */
export function noWords({ args, agent, command, changes }: Question, asker: string): string {
  const isCall = args !== undefined || agent !== undefined || command !== undefined || changes.length > 0;
  return isCall
    ? `The call isn't made: ${asker} is told that it was denied, and continues without it.`
    : `The question ends as denied. Unless the plan handles that, the run stops.`;
}
