import type { TurnUsage } from '../inspector/attempts.ts';
import { lasted, money, tokens } from '../story/words.ts';

/** Every text of the transcript, in the order of the page. */
export const words = {
  label: 'Transcript',
  pickAgent: 'Agent',
  pickTask: 'Attempt',
  noAgents: 'No agents in this plan',
  noAgentsWhy: 'The work of an agent appears here as soon as the plan has one.',
  notStarted: 'Not started yet',
  notStartedWhy: 'What the agent says and does appears here as it happens.',
  loading: 'Loading…',
  notLoaded: 'Could not load the transcript',
  nothing: 'No messages yet',
  needsYou: 'needs you',
  toLatest: 'Jump to latest',
  attempt: (number: number) => `Attempt ${number}`,
  agent: 'agent',
  session: 'its session',
  asking: 'made to ask',
  worksOn: 'works on',
  onLayer: 'a layer: its changes are applied together when it is done',
  onDirectory: 'the directory itself',
  plan: 'Plan of the agent',
  thought: 'Thought',
  prompt: 'Sent to the agent',
  applied: 'These changes were applied.',
  notApplied: 'These changes were not applied.',
  turnEnded: (status: string) => `This turn ${status}.`,
  you: (by: string, isRead: boolean) => (isRead ? by : `${by} · queued for the next turn`),
  call: {
    undo: 'Undo…',
    fork: 'Fork here…',
    rollback: 'Roll back to here…',
    kept: 'Bring back kept files…',
    undone: 'undone',
    more: (lines: number) => `Show all ${lines} lines`,
    less: 'Show less',
    notAlone: (why: string) => `It can be undone only with the whole turn: ${why}.`,
    person: (answer: string) => `a person said ${answer}`,
  },
  compose: {
    label: 'Message for the next turn',
    placeholder: 'Message for the next turn…',
    hint: 'The agent reads it before its next turn; nothing is interrupted. Enter queues it, Shift+Enter breaks the line.',
    send: 'Queue',
    failed: 'Could not queue the message',
  },
} as const;

export const fromWords: Readonly<Record<string, string>> = {
  'data directory': 'installed here',
  PATH: 'from the PATH',
  command: 'a command of the configuration',
};

/** `Turn 2 · 1.2 k in, 88 out · $0.0123 · 4 s`. */
function usageWords({ inputTokens, outputTokens, costMicroUsd, wallMs }: TurnUsage): string {
  const counts = [
    ...(inputTokens === undefined ? [] : [`${tokens(inputTokens)} in`]),
    ...(outputTokens === undefined ? [] : [`${tokens(outputTokens)} out`]),
  ].join(', ');
  return [
    counts === '' ? 'tokens not reported' : `${counts} tokens`,
    costMicroUsd === undefined ? 'cost not reported' : money(costMicroUsd),
    ...(wallMs === undefined ? [] : [lasted(wallMs)]),
  ].join(' · ');
}

export function turnWords(number: number, usage: TurnUsage): string {
  return `Turn ${number} · ${usageWords(usage)}`;
}

export function taskWords(place: number, total: number, iteration: number, status: string): string {
  const nth = `${place} of ${total}`;
  return `${nth}${iteration > 0 ? `, iteration ${iteration + 1}` : ''}: ${status}`;
}
