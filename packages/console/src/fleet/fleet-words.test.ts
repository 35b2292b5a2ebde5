import { describe, expect, it } from 'vitest';
import {
  badgesOf,
  dueWords,
  fleetSummary,
  healthOf,
  inOrder,
  resolutionFor,
  silenceWords,
  standingOf,
  standingOrder,
} from './fleet-words.ts';

const of = (...standings: readonly (typeof standingOrder)[number][]) =>
  standings.map((standing, index) => ({ standing, name: `agent ${index}` }));
const tool = { subject: { subtype: 'tool_approval', toolName: 'Write', toolArgs: {} } } as const;
const choice = {
  subject: { subtype: 'option', title: 'Which?', summary: '', options: [{ id: 'a', label: 'A', description: '' }] },
} as const;

describe('agents', () => {
  it('[K120] each standing has a lamp and a word of its own', () => {
    const all = standingOrder.map(standing => standingOf({ standing, status: 'running' }));
    expect(new Set(all.map(({ signal }) => signal)).size).toBe(6);
    expect(new Set(all.map(({ word }) => word)).size).toBe(6);
    expect(standingOf({ standing: 'working', status: 'starting' })).toEqual({ signal: 'next', word: 'starting' });
  });

  it('[K120] those that need a person come first, and are counted first', () => {
    const agents = of('done', 'working', 'waiting_for_you', 'dead', 'failed', 'blocked', 'waiting_for_you');
    expect(inOrder(agents).map(({ standing }) => standing)).toEqual([
      ...['waiting_for_you', 'waiting_for_you', 'failed', 'blocked', 'working', 'done', 'dead'],
    ]);
    expect(fleetSummary(agents)).toBe('7 agents: 2 wait for you, 1 failed, 1 blocked, 1 working, 1 done, 1 dead.');
    expect(fleetSummary(of('waiting_for_you'))).toBe('1 agent: 1 waits for you.');
    expect(fleetSummary([])).toBe('No agents.');
  });

  it('[K121] health names only what is wrong', () => {
    expect(healthOf({ crashes: 0, messages: { accepted: 12, quarantined: 0 } })).toEqual([]);
    expect(healthOf({ crashes: 1, messages: { quarantined: 2, dropped: 1 } })).toEqual([
      'crashed once',
      '2 messages quarantined',
      '1 message dropped',
    ]);
  });
});

describe('decisions of agents', () => {
  it('[K123] badges are words, and a suspended decision says so once', () => {
    expect(badgesOf({ badges: ['timed_out', 'agent_killed'], status: 'open' })).toEqual(['timed out', 'agent killed']);
    expect(badgesOf({ badges: ['agent_braked'], status: 'suspended' })).toEqual(['suspended']);
    expect(badgesOf({ badges: [], status: 'suspended' })).toEqual(['suspended']);
  });

  it('[K123] a due tick is told as what is left, and stands still while the decision is suspended', () => {
    expect(dueWords({ dueByTick: null, status: 'open' }, 7)).toBe(undefined);
    expect(dueWords({ dueByTick: 12, status: 'open' }, 7)).toBe('due in 5 ticks');
    expect(dueWords({ dueByTick: 8, status: 'open' }, 7)).toBe('due in 1 tick');
    expect(dueWords({ dueByTick: 7, status: 'open' }, 7)).toBe('due now');
    expect(dueWords({ dueByTick: 7, status: 'suspended' }, 9)).toBe('not due while suspended');
  });

  it('[K123] an answer is the resolution that the decision asks for', () => {
    expect(resolutionFor(tool, { isYes: true, always: true }, 'fine')).toEqual({
      resolutionType: 'approve',
      alwaysApprove: true,
      rationale: 'fine',
      actionKind: 'update',
    });
    expect(resolutionFor(tool, { isYes: false }, '')).toEqual({
      resolutionType: 'reject',
      rationale: '',
      actionKind: 'update',
    });
    expect(resolutionFor(choice, { option: 'a' }, '')).toEqual({
      resolutionType: 'choose_option',
      chosenOptionId: 'a',
      rationale: '',
      actionKind: 'review',
    });
  });
});

it('[K125] the time to silence is what was measured, or that there is none yet', () => {
  const agent = { agentId: '01890000-0000-7000-8000-00000000dead' as never, refusedEvents: 0 };
  expect(silenceWords({ ...agent, outcome: 'paused', silentAfterMs: 42 })).toBe('42 ms');
  expect(silenceWords({ ...agent, outcome: 'pending', silentAfterMs: null })).toBe('not silent yet');
  expect(silenceWords({ ...agent, outcome: 'already_stopped', silentAfterMs: null })).toBe('was silent');
});
