import { type AgentEvent, agentId, type RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { agentNamed, approve, brakeNamed, decisionNamed, only, scene, sessionNamed, timeAt } from '../../test/scene.ts';
import { foldFleet } from '../fleet.ts';
import { replacementFor } from './agent-state.ts';
import { agentStanding } from './standing.ts';

const id = agentNamed('node');
const seat = { run: '00000000-0000-7000-8000-0000000000a1' as RunId, plan: 'trio', node: 'review' };
const joins = { agentId: id, name: 'review', pluginName: 'mock', seat };
const changes = { role: 'Agent of a plan', workstream: 'trio', description: 'Review it.' };
const decisionId = decisionNamed('edit');

function joined(life = 1) {
  const current = scene();
  current.happens('agent_joined', { ...joins, session: sessionNamed(`node-${life}`), changes });
  return current;
}
const record = (current: ReturnType<typeof scene>) => current.state.agents.agents[id];
const pulls = (current: ReturnType<typeof scene>, behavior: 'pause' | 'kill') =>
  current.happens('brake_pulled', {
    brakeId: brakeNamed('b'),
    action: { scope: { type: 'all' }, reason: 'look', behavior, initiatedBy: 'ada', timestamp: timeAt(0) },
  });

describe('an agent of a plan', () => {
  it('[F200] joins as running, with its seat, and its events are accepted; it is started by nobody else', () => {
    const current = joined();
    expect(record(current)).toMatchObject({ status: 'running', seat, lives: 1, brief: { workstream: 'trio' } });
    expect(only(current.effects, 'spawn_agent').filter(({ agentId: of }) => of === id)).toEqual([]);
    const effects = current.emits('node', { type: 'status', message: 'Reading.' } as AgentEvent);
    expect(only(effects, 'commit_event')).toHaveLength(1);
    const asked = current.happens('agent_requested', {
      ...{ agentId: id, name: 'x', pluginName: 'mock', template: {}, changes, by: 'ada' },
    });
    expect(only(asked, 'request_refused')).toMatchObject([{ code: 'agent_live' }]);
  });

  it('[F201] leaves without a question about a crash, and joins again with its history and trust', () => {
    for (const [as, status, standing] of [
      ['failed', 'error', 'failed'],
      ['waiting', 'paused', 'blocked'],
      ['interrupted', 'paused', 'blocked'],
    ] as const) {
      const current = joined();
      const left = current.happens('agent_left', { agentId: id, as, reason: 'Over.' });
      expect(only(left, 'save_decision')).toEqual([]);
      expect([record(current)?.status, agentStanding(current.state, id).standing]).toEqual([status, standing]);
      current.happens('agent_joined', { ...joins, session: sessionNamed('node-2'), changes });
      expect(record(current)).toMatchObject({ status: 'running', lives: 2, session: sessionNamed('node-2') });
    }
  });

  it('[F202] waits for a person while its run asks, also without a process; an answer counts once', () => {
    const current = joined();
    current.happens('run_decision_asked', { agentId: id, decisionId });
    expect(agentStanding(current.state, id)).toMatchObject({ standing: 'waiting_for_you', pendingDecisions: 1 });
    current.happens('agent_left', { agentId: id, as: 'waiting', reason: 'It waits.' });
    expect(agentStanding(current.state, id).standing).toBe('waiting_for_you');
    expect(Object.keys(current.state.decisions.items)).toEqual([]);
    current.happens('agent_joined', { ...joins, session: sessionNamed('node-2'), changes });
    const answer = { agentId: id, decisionId, resolution: approve, toolName: 'write' };
    const first = current.happens('run_decision_answered', answer);
    expect(only(first, 'save_trust')).toMatchObject([
      { change: { cause: 'human_approves_tool_call', blastRadius: 'small', decisionId } },
    ]);
    expect(only(current.happens('run_decision_answered', answer), 'save_trust')).toEqual([]);
    expect(agentStanding(current.state, id)).toMatchObject({ standing: 'working', pendingDecisions: 0 });
  });

  it('[F203] is stopped by a brake; one that joins under a brake is stopped at once', () => {
    const current = joined();
    const stops = only(pulls(current, 'pause'), 'stop_agent');
    expect(stops.find(({ agentId: of }) => of === id)).toMatchObject({ how: 'pause' });
    const late = agentId.parse(agentNamed('late'));
    const begun = current.happens('agent_joined', {
      ...joins,
      agentId: late,
      session: sessionNamed('late-1'),
      changes,
    });
    expect(only(begun, 'stop_agent')).toMatchObject([{ agentId: late, how: 'abort' }]);
  });

  it('[F204] takes over no decision of an agent that was killed', () => {
    const current = joined();
    const other = record(current);
    if (other === undefined) throw new Error('it is not there');
    expect(replacementFor(current.state.agents, { ...other, id: agentNamed('gone') })).toBeUndefined();
  });

  it('[F205] is the same when it is computed again from the facts', () => {
    const current = joined();
    current.happens('run_decision_asked', { agentId: id, decisionId });
    current.happens('agent_left', { agentId: id, as: 'failed', reason: 'No.' });
    expect(foldFleet(current.facts)).toEqual(current.state);
    expect(JSON.parse(JSON.stringify(current.state))).toEqual(current.state);
  });
});
