import { type Json, wireDecision } from '@signalbox/model';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Asker, code, httpAsker, json, UNKNOWN } from './http-asker.ts';
import { releasePlan } from './release-plan.ts';

let host: Asker['host'];
let ask: Asker['ask'];

beforeEach(() => {
  const asker = httpAsker();
  ({ host, ask } = asker);
});

describe('history', () => {
  it('[V13] events are paged, starting at any of them', async () => {
    const scripted = await host.begin('release');
    for (const turn of [1, 2, 3, 4]) await scripted.state('turn', turn);
    const page = await json(ask('GET', `/api/runs/${scripted.id}/events?from=1&limit=2&view=stored`));
    expect(page.next).toBe(3);
    expect(page.events).toEqual(await host.store.events(scripted.id, 1, 2));
    expect(await json(ask('GET', `/api/runs/${scripted.id}/events?from=5`))).toEqual({ events: [], next: 5 });
  });

  it('[V14] frames, trees and state are those of the requested frame', async () => {
    const scripted = await host.begin('release');
    await scripted.render(releasePlan);
    await scripted.state('turn', 1);
    await scripted.render({ ...releasePlan, children: [] });
    await scripted.state('turn', 2);
    const read = (path: string) => json(ask('GET', `/api/runs/${scripted.id}${path}`));
    expect((await read('/frames')).frames.map((frame: { index: number }) => frame.index)).toEqual([0, 1]);
    expect((await read('/frames?from=1')).next).toBe(2);
    expect((await read('/frames/0/tree')).tree).toHaveLength(8);
    expect((await read('/frames/1/tree')).tree).toHaveLength(1);
    expect(await read('/state?frame=0')).toEqual({ frame: 0, state: {}, volatile: {} });
    expect(await read('/state?frame=1')).toEqual({ frame: 1, state: { turn: 1 }, volatile: {} });
    expect(await read('/state')).toEqual({ frame: 2, state: { turn: 2 }, volatile: {} });
    for (const path of ['/frames/2/tree', '/frames/x/tree', '/frames/-1/tree', '/state?frame=3']) {
      expect(await code(ask('GET', `/api/runs/${scripted.id}${path}`))).toEqual([404, 'run/frame-unknown']);
    }
  });

  it('[V15] transitions have both values, in pages', async () => {
    const scripted = await host.begin('release');
    await scripted.render(releasePlan);
    await scripted.state('turn', 1);
    await scripted.render(releasePlan);
    await scripted.state('turn', { deep: [2] });
    const read = (query: string) => json(ask('GET', `/api/runs/${scripted.id}/transitions${query}`));
    const first = await read('?limit=1');
    expect(first.transitions).toMatchObject([{ key: 'turn', new: 1 }]);
    expect(first.transitions[0]).not.toHaveProperty('old');
    expect((await read(`?from=${first.next}`)).transitions).toMatchObject([{ old: 1, new: { deep: [2] } }]);
    expect((await read('?key=other')).transitions).toEqual([]);
  });

  it('[V16] tasks and agent output', async () => {
    const scripted = await host.begin('release');
    const task = await scripted.startTask('review');
    await scripted.say(task, 'I look', ' at it');
    const { tasks } = await json(ask('GET', `/api/runs/${scripted.id}/tasks`));
    expect(tasks).toMatchObject([{ id: task, node: 'review', status: 'running' }]);
    expect(tasks[0]).not.toHaveProperty('leaseOwner');
    const stream = (query: string) => json(ask('GET', `/api/runs/${scripted.id}/stream/${task}${query}`));
    expect(await stream('')).toMatchObject({ task, next: 2, chunks: [{ payload: 'I look' }, { payload: ' at it' }] });
    expect(await stream('?from=1')).toMatchObject({ next: 2, chunks: [{ index: 1 }] });
    expect(await stream('?from=2')).toEqual({ task, next: 2, chunks: [] });
    expect(await code(ask('GET', `/api/runs/${scripted.id}/stream/${UNKNOWN}`))).toEqual([404, 'run/task-unknown']);
  });
});

describe('approvals', () => {
  const proposal = { tool: 'bash', args: { cmd: 'make deploy' }, reason: 'the release is ready' };

  it('[V17] are the open decisions of all runs, in the contract’s form and in ours', async () => {
    const one = await host.begin('one');
    const two = await host.begin('two');
    const decision = await one.ask('review', proposal);
    await two.ask('review', { cmd: 'make test' });
    const { approvals } = await json(ask('GET', '/api/approvals'));
    expect(approvals).toHaveLength(2);
    expect(wireDecision.parse(approvals[0])).toMatchObject({
      approvalId: decision.id,
      runId: one.id,
      tool: { name: 'bash', args: { cmd: 'make deploy' } },
      context: 'the release is ready',
      decision: { node: 'review', kind: 'command_exec', proposal, proposalHash: decision.proposalHash, status: 'open' },
    });
    expect((await json(ask('GET', `/api/approvals?run=${two.id}`))).approvals).toMatchObject([
      { tool: { name: 'command_exec', args: { cmd: 'make test' } } },
    ]);
  });

  it.each([
    ['approved', { status: 'approved' }, { resolutionType: 'approve', rationale: '', actionKind: 'update' }],
    [
      'denied',
      { status: 'denied', rationale: 'no' },
      { resolutionType: 'reject', rationale: 'no', actionKind: 'update' },
    ],
    [
      'modified',
      { status: 'modified', modifiedArgs: { cmd: 'make dry-run' } },
      { resolutionType: 'modify', modifiedArgs: { cmd: 'make dry-run' }, rationale: '', actionKind: 'update' },
    ],
  ])('[V18] are %s with the contract’s word', async (status, body, resolution) => {
    const scripted = await host.begin('one');
    const { id } = await scripted.ask('review', proposal);
    expect(await json(ask('POST', `/api/approvals/${id}/resolve`, { body }))).toMatchObject({
      approvalId: id,
      resolution: { status },
      decision: { status: 'answered', answeredBy: 'operator', resolution },
    });
    expect((await host.store.decision(id))?.decision.resolution).toEqual(resolution);
    expect((await json(ask('GET', '/api/approvals'))).approvals).toEqual([]);
    expect((await json(ask('GET', '/api/approvals?status=answered'))).approvals).toHaveLength(1);
  });

  it('[V18] accept our full answer', async () => {
    const scripted = await host.begin('one');
    const { id } = await scripted.ask('sign-off', { prompt: 'Which?' }, 'choice');
    const resolution = {
      resolutionType: 'choose_option',
      chosenOptionId: 'b',
      rationale: 'better',
      actionKind: 'review',
    };
    const answer = await json(ask('POST', `/api/approvals/${id}/resolve`, { body: { resolution } }));
    expect(answer).toMatchObject({ resolution: { status: 'approved' }, decision: { resolution } });
  });

  it('[V19] are answered once, and only for the shown proposal', async () => {
    const scripted = await host.begin('one');
    const decision = await scripted.ask('review', proposal);
    const answer = (body: Json) => ask('POST', `/api/approvals/${decision.id}/resolve`, { body });
    await scripted.propose(decision, { cmd: 'rm -rf /' });
    const { proposalHash } = decision;
    expect(await code(answer({ status: 'approved', proposalHash }))).toEqual([409, 'decision/stale-proposal']);
    expect((await answer({ status: 'denied' })).status).toBe(200);
    expect(await code(answer({ status: 'approved' }))).toEqual([409, 'decision/answered']);
  });

  it('[V19] that do not exist, or invalid answers, are refused', async () => {
    const scripted = await host.begin('one');
    const { id } = await scripted.ask('review', proposal);
    const resolve = (of: string, body: Json) => code(ask('POST', `/api/approvals/${of}/resolve`, { body }));
    expect(await resolve(UNKNOWN, { status: 'approved' })).toEqual([404, 'decision/unknown']);
    expect(await resolve('x', { status: 'approved' })).toEqual([404, 'decision/unknown']);
    for (const body of [{}, { status: 'maybe' }, { status: 'modified' }, { status: 'approved', modifiedArgs: {} }]) {
      expect(await resolve(id, body)).toEqual([400, 'VALIDATION_ERROR']);
    }
  });
});
