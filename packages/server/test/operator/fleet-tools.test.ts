import type { CallToolResult } from '@modelcontextprotocol/client';
import type { FleetDesk } from '@signalbox/app/fleet';
import { expect, it, onTestFinished } from 'vitest';
import { fleetStage } from '../../../app/test/fleet/fleet-stage.ts';
import { scriptedHost } from '../scripted-host.ts';
import { operatorStage } from './operator-stage.ts';

/** A client of a server whose fleet plays a scenario. Every answer is checked against the schema of its tool by the client. */
async function given(fleet?: FleetDesk) {
  const stage = await operatorStage(scriptedHost(), fleet);
  const client = await stage.connect('auto');
  onTestFinished(async () => {
    await client.close();
    await stage.close();
  });
  await client.listTools();
  return async (name: string, args: object = {}) =>
    (await client.callTool({ name, arguments: { ...args } })) as CallToolResult;
}

it('[V343] shows the fleet, and answers what its agents ask', async () => {
  const fleet = await fleetStage({ answers: false });
  const [asked] = await fleet.until(() => (fleet.desk.queue().length > 0 ? fleet.desk.queue() : undefined));
  if (asked?.from !== 'agent') throw new Error('a decision of an agent was expected');
  const call = await given(fleet.desk);
  const { structuredContent: shown } = await call('fleet.show');
  expect(shown).toMatchObject({
    control_mode: 'orchestrator',
    agents: [{ name: 'backend' }, { name: 'frontend' }, { name: 'tests' }],
    brakes: [],
  });
  expect(shown).toMatchObject({ decisions: [{ id: asked.decision.id, severity: asked.decision.severity }] });
  const isTool = asked.decision.subject.subtype === 'tool_approval';
  const answer = isTool ? { answer: 'reject' } : { answer: 'choose_option', option_id: firstOption(asked.decision) };
  const answered = await call('fleet.resolve_decision', {
    approval_id: asked.decision.id,
    rationale: 'because',
    ...answer,
  });
  expect(answered.structuredContent).toMatchObject({ id: asked.decision.id, status: 'answered' });
  const again = await call('fleet.resolve_decision', { approval_id: asked.decision.id, answer: 'approve' });
  expect(again.structuredContent).toMatchObject({ answer: (answered.structuredContent as { answer: object }).answer });
  const unknown = await call('fleet.resolve_decision', {
    approval_id: '01890000-0000-7000-8000-00000000dead',
    answer: 'approve',
  });
  expect(unknown).toMatchObject({ isError: true, structuredContent: { code: 'decision/unknown' } });
});

it('[V343] stops and starts agents, and brakes and releases them', async () => {
  const fleet = await fleetStage({ answers: false });
  const call = await given(fleet.desk);
  const backend = fleet.agent('backend');
  const control = (action: string) => call('fleet.control_agent', { agent_id: backend, action, reason: 'to look' });
  expect((await control('pause')).structuredContent).toMatchObject({ id: backend });
  await fleet.host.idle();
  expect(fleet.state().agents.agents[backend]?.status).toBe('paused');
  await control('resume');
  await fleet.host.idle();
  expect(fleet.state().agents.agents[backend]?.status).toBe('running');
  const braked = await call('fleet.brake', { reason: 'stop', workstream: 'backend' });
  expect(braked.structuredContent).toMatchObject({
    brakes: [{ reason: 'stop', scope: { type: 'workstream', workstream: 'backend' }, agents: [{ agent_id: backend }] }],
  });
  await fleet.host.idle();
  const { structuredContent: silent } = await call('fleet.show');
  expect(silent).toMatchObject({ brakes: [{ agents: [{ outcome: 'paused', silent_after_ms: expect.any(Number) }] }] });
  expect((await call('fleet.release_brake')).structuredContent).toMatchObject({ brakes: [] });
  await fleet.host.idle();
  await control('restart');
  await fleet.host.idle();
  expect((await control('kill')).isError).not.toBe(true);
  await fleet.host.idle();
  expect(await control('pause')).toMatchObject({ isError: true, structuredContent: { code: 'fleet/agent-not-live' } });
  const both = { reason: 'x', agent_id: backend, workstream: 'backend' };
  expect(await call('fleet.brake', both)).toMatchObject({
    isError: true,
    structuredContent: { code: 'VALIDATION_ERROR' },
  });
});

it('[V343] changes the mode, advances time, and shows trust and what agents made', async () => {
  const fleet = await fleetStage();
  await fleet.pass(20_000);
  const call = await given(fleet.desk);
  const agent_id = fleet.agent('backend');
  expect((await call('fleet.set_mode', { mode: 'ecosystem' })).structuredContent).toMatchObject({
    control_mode: 'ecosystem',
  });
  expect((await call('fleet.advance_ticks', { by: 7 })).structuredContent).toMatchObject({ tick: 7 });
  const trust = await call('fleet.trust', { agent_id, prove: true });
  expect(trust.structuredContent).toMatchObject({ agent_id, proof: { ok: true } });
  const { structuredContent } = await call('fleet.knowledge', { workstream: 'backend' });
  const [made] = (structuredContent as { artifacts: readonly { id: string; version: number }[] }).artifacts;
  const review = { artifact_id: made?.id, status: 'approved', version: made?.version };
  expect((await call('fleet.review_artifact', review)).structuredContent).toMatchObject({ status: 'approved' });
  expect(await call('fleet.review_artifact', { ...review, version: 99 })).toMatchObject({
    isError: true,
    structuredContent: { code: 'fleet/version-conflict' },
  });
});

it('[V343] says that a server has no fleet', async () => {
  const call = await given();
  expect(await call('fleet.show')).toMatchObject({ isError: true, structuredContent: { code: 'VALIDATION_ERROR' } });
});

function firstOption(decision: { readonly subject: object }): string {
  const { options } = decision.subject as { readonly options: readonly { readonly id: string }[] };
  return options[0]?.id ?? '';
}
