import type {
  BrakeRecord,
  ControlMode,
  QueuedDecision,
  Resolution,
  WireBrakes,
  WireFleetAgent,
} from '@signalbox/model';
import { lasted, many, type Standing } from '../story/words.ts';

/** A decision of an agent, as the queue has it. */
export type AgentDecision = Extract<QueuedDecision, { from: 'agent' }>['decision'];

type AgentStanding = WireFleetAgent['standing'];

/** What a person looks for first comes first. */
export const standingOrder: readonly AgentStanding[] = [
  'waiting_for_you',
  'failed',
  'blocked',
  'working',
  'done',
  'dead',
];

const standings: Readonly<Record<AgentStanding, Standing>> = {
  working: { signal: 'working', word: 'working' },
  waiting_for_you: { signal: 'waiting', word: 'waits for you' },
  blocked: { signal: 'held', word: 'blocked' },
  done: { signal: 'done', word: 'done' },
  failed: { signal: 'failed', word: 'failed' },
  dead: { signal: 'skipped', word: 'dead' },
};

export function standingOf({ standing, status }: Pick<WireFleetAgent, 'standing' | 'status'>): Standing {
  return status === 'starting' ? { signal: 'next', word: 'starting' } : standings[standing];
}

/** How many agents are in each standing: `1 waits for you, 2 working`. */
export function fleetSummary(agents: readonly Pick<WireFleetAgent, 'standing'>[]): string {
  const counts = standingOrder.flatMap(standing => {
    const count = agents.filter(agent => agent.standing === standing).length;
    return count === 0
      ? []
      : [`${count} ${count > 1 && standing === 'waiting_for_you' ? 'wait for you' : standings[standing].word}`];
  });
  return agents.length === 0 ? 'No agents.' : `${many(agents.length, 'agent')}: ${counts.join(', ')}.`;
}

/** The agents in the order in which a person looks for them; those of a standing by name. */
export function inOrder<Agent extends Pick<WireFleetAgent, 'standing' | 'name'>>(
  agents: readonly Agent[],
): readonly Agent[] {
  const rank = ({ standing }: Agent) => standingOrder.indexOf(standing);
  return agents.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

/** What is worth knowing of an agent's health; nothing if all is well. */
export function healthOf({
  crashes,
  messages,
}: {
  readonly crashes: number;
  readonly messages?: Readonly<Record<string, number>> | undefined;
}): readonly string[] {
  const of = (kind: string, words: string) => {
    const count = messages?.[kind] ?? 0;
    return count === 0 ? [] : [`${many(count, 'message')} ${words}`];
  };
  return [
    ...(crashes === 0 ? [] : [`crashed ${crashes === 1 ? 'once' : `${crashes} times`}`]),
    ...of('quarantined', 'quarantined'),
    ...of('dropped', 'dropped'),
    ...of('lost', 'lost'),
    ...of('refused', 'refused'),
  ];
}

const badges: Readonly<Record<AgentDecision['badges'][number], string>> = {
  timed_out: 'timed out',
  agent_braked: 'suspended',
  agent_killed: 'agent killed',
  reassigned: 'reassigned',
};

/** Why a decision stands out. A suspended one says so once. */
export function badgesOf({ badges: given, status }: Pick<AgentDecision, 'badges' | 'status'>): readonly string[] {
  const words = given.map(badge => badges[badge]);
  return status === 'suspended' && !words.includes('suspended') ? [...words, 'suspended'] : words;
}

/** When a decision times out; undefined if it waits as long as it takes. */
export function dueWords(
  { dueByTick, status }: Pick<AgentDecision, 'dueByTick' | 'status'>,
  tick: number,
): string | undefined {
  if (dueByTick === null) return undefined;
  if (status === 'suspended') return 'not due while suspended';
  const left = dueByTick - tick;
  return left <= 0 ? 'due now' : `due in ${many(left, 'tick')}`;
}

export function decisionTitle({ subject }: Pick<AgentDecision, 'subject'>): string {
  return subject.subtype === 'option' ? subject.title : `Use ${subject.toolName}`;
}

/** Which resolution an answer in the queue is. */
export function resolutionFor(
  { subject }: Pick<AgentDecision, 'subject'>,
  given: { readonly option?: string; readonly isYes?: boolean; readonly always?: boolean },
  rationale: string,
): Resolution {
  if (subject.subtype === 'option' && given.option !== undefined)
    return { resolutionType: 'choose_option', chosenOptionId: given.option, rationale, actionKind: 'review' };
  return {
    resolutionType: given.isYes === true ? 'approve' : 'reject',
    ...(given.always === true && { alwaysApprove: true }),
    rationale,
    actionKind: subject.subtype === 'option' ? 'review' : 'update',
  };
}

export const modeWords: Readonly<Record<ControlMode, { readonly title: string; readonly does: string }>> = {
  orchestrator: {
    title: 'Orchestrator',
    does: 'Every tool call that is not reading or searching waits for you, and no timeout answers for you.',
  },
  adaptive: {
    title: 'Adaptive',
    does: 'Trusted agents act alone on small things. Risky calls, and calls of agents with little trust, wait for you.',
  },
  ecosystem: {
    title: 'Ecosystem',
    does: 'Agents act alone. Only what is always escalated, or what nobody can judge, waits for you.',
  },
};

type Braked = BrakeRecord['agents'][number];

const outcomes: Readonly<Record<Braked['outcome'], Standing>> = {
  pending: { signal: 'working', word: 'stopping' },
  paused: { signal: 'held', word: 'paused' },
  killed: { signal: 'skipped', word: 'stopped' },
  already_stopped: { signal: 'idle', word: 'already stopped' },
  failed: { signal: 'failed', word: 'did not stop' },
};

export const outcomeOf = ({ outcome }: Braked): Standing => outcomes[outcome];

/** How long an agent took to fall silent, as it was measured. */
export function silenceWords({ silentAfterMs, outcome }: Braked): string {
  if (outcome === 'already_stopped') return 'was silent';
  return silentAfterMs === null ? 'not silent yet' : lasted(silentAfterMs);
}

export function scopeWords(scope: BrakeRecord['action']['scope'], nameOf: (agent: string) => string): string {
  switch (scope.type) {
    case 'all':
      return 'all agents';
    case 'agent':
      return nameOf(scope.agentId);
    case 'workstream':
      return `workstream ${scope.workstream}`;
  }
}

export function releaseWords({ action: { releaseCondition } }: BrakeRecord): string {
  switch (releaseCondition?.type) {
    case 'timer':
      return `for ${lasted(releaseCondition.releaseAfterMs)}`;
    case 'decision':
      return 'until its decision is answered';
    default:
      return 'until somebody releases it';
  }
}

export const engagedOf = ({ brakes }: WireBrakes): readonly BrakeRecord[] =>
  brakes.filter(({ released }) => released === undefined);

/** An identifier as words: `human_approves_tool_call` is `human approves tool call`. */
export const asWords = (identifier: string): string => identifier.replaceAll('_', ' ');

export const signed = (value: number): string => (value > 0 ? `+${round(value)}` : `${round(value)}`);
const round = (value: number) => Math.round(value * 100) / 100;
