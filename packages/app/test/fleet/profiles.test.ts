import { type CapabilityProfile, capabilityProfiles, type ScenarioName } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { type FleetStage, fleetStage } from './fleet-stage.ts';

/** The table of the specification's phase 0: each scenario on every capability, and on what one kind of plugin can do. */
const pairs: readonly (readonly [ScenarioName, CapabilityProfile])[] = [
  ['david', 'all'],
  ['david', 'claude'],
  ['maya', 'all'],
  ['maya', 'openai'],
  ['priya', 'all'],
  ['priya', 'minimal'],
  ['rosa', 'all'],
  ['rosa', 'openai'],
  ['sam', 'all'],
  ['sam', 'claude'],
];

const lifecycles = ({ messages }: FleetStage, agent: string, from = 0) =>
  messages.slice(from).flatMap(message => {
    if (message.type !== 'event' || message.envelope.event.type !== 'lifecycle') return [];
    return message.envelope.event.agentId === agent ? [message.envelope.event.action] : [];
  });
const isOver = (stage: FleetStage) =>
  stage.desk.agents().every(({ status }) => status === 'completed') ? true : undefined;

describe.each(pairs)('%s on the profile %s', (scenario, profile) => {
  const { supportsPause, supportsHotBriefUpdate } = capabilityProfiles[profile];

  it('[A980] is paused by a brake as the plugin can, shown as paused, and comes to its end', async () => {
    const stage = await fleetStage({ scenario, profile, config: { ticks: { intervalMs: 1000, mode: 'wall_clock' } } });
    await stage.pass(1_000);
    const live = stage.desk.agents().filter(({ status }) => status === 'running');
    const [agent] = live;
    if (agent === undefined) throw new Error('an agent was expected to work');
    const changed = await stage.desk.changeBrief(agent.id, { description: 'Something else' }, 'ada');
    // 1. The weaker way is not an error. 2. What is shown is how the agent is.
    expect(changed.ok && changed.value.handle.pendingBriefChanges).toEqual(
      supportsHotBriefUpdate ? undefined : { description: 'Something else' },
    );
    const told = stage.messages.length;
    await stage.desk.brake({ scope: { type: 'agent', agentId: agent.id }, reason: 'look', behavior: 'pause' }, 'ada');
    await stage.host.idle();
    expect(stage.desk.agents().find(({ id }) => id === agent.id)).toMatchObject({
      status: 'paused',
      standing: 'blocked',
      because: 'A brake holds it: look',
    });
    expect(stage.desk.brakes().brakes[0]?.agents).toMatchObject([
      { agentId: agent.id, outcome: supportsPause ? 'paused' : 'killed', silentAfterMs: expect.any(Number) },
    ]);
    // 3. Lifecycle events say what was really done.
    expect(lifecycles(stage, agent.id, told)).toContain(supportsPause ? 'paused' : 'killed');
    expect(lifecycles(stage, agent.id, told)).not.toContain(supportsPause ? 'killed' : 'paused');
    await stage.desk.releaseBrake(undefined, 'ada');
    await stage.host.idle();
    const back = stage.desk.agent(agent.id);
    expect(back.ok && [back.value.status, back.value.lives, back.value.brief.description]).toEqual([
      'running',
      2,
      'Something else',
    ]);
    expect(back.ok && back.value.handle.pendingBriefChanges).toBe(undefined);
    await stage.until(() => isOver(stage));
    expect(stage.faults).toEqual([]);
    for (const { id } of stage.desk.agents())
      expect(stage.desk.proveTrust(id)).toMatchObject({ ok: true, value: { ok: true } });
  });

  it('[A980] changes its mode in the middle: what the plugin cannot tell its agents waits for their next start', async () => {
    const stage = await fleetStage({ scenario, profile });
    await stage.pass(500);
    const running = stage.desk.agents().filter(({ status }) => status === 'running');
    const to = stage.desk.mode() === 'orchestrator' ? 'ecosystem' : 'orchestrator';
    await stage.desk.setMode(to, 'ada');
    await stage.host.idle();
    for (const { id } of running) {
      const agent = stage.desk.agent(id);
      const pending = agent.ok ? agent.value.handle.pendingBriefChanges : undefined;
      expect(pending?.controlMode).toBe(supportsHotBriefUpdate ? undefined : to);
      if (supportsHotBriefUpdate) {
        const updates = stage.calls.filter(({ call }) => call === 'updateBrief').map(({ given }) => given[1]);
        expect(updates).toContainEqual(expect.objectContaining({ controlMode: to }));
      }
    }
    // The new mode counts at once, whatever an agent knows of it.
    expect(stage.desk.sync()).toMatchObject({ controlMode: to });
  });
});

it('[A981] answers every decision of an agent that cannot resume, in each of its turns', async () => {
  const stage = await fleetStage({ scenario: 'priya', profile: 'minimal' });
  const billing = stage.agent('billing');
  await stage.until(() => isOver(stage));
  const asked = Object.values(stage.state().decisions.items).filter(({ agentId }) => agentId === billing);
  expect(new Set(asked.map(({ session }) => session)).size).toBe(2);
  const delivered = stage.calls.filter(({ call }) => call === 'resolveDecision').map(({ given }) => given[1]);
  for (const { id } of asked) expect(delivered).toContain(id);
});
