import { checkpointList, lineage, rollbackReport, undoReport } from '@signalbox/model';
import { beforeEach, describe, expect, it } from 'vitest';
import { ADAS_TOKEN, type Asker, code, httpAsker, json, UNKNOWN } from './http-asker.ts';
import { releasePlan } from './release-plan.ts';

let asker: Asker;
beforeEach(() => {
  asker = httpAsker();
});
const post = (path: string, body: object, token?: string) =>
  asker.ask('POST', path, {
    body: body as never,
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  });

async function begun() {
  const run = await asker.host.begin('release');
  await run.render(releasePlan, { build: 'running' });
  return run.id;
}

describe('forks over HTTP', () => {
  it('[V60] are made at a frame, at a call and at a node, in the caller’s name', async () => {
    const run = await begun();
    const options = { name: 'again', paused: true, acceptEffects: true };
    const made = await post(`/api/runs/${run}/fork`, { frame: 0, ...options }, ADAS_TOKEN);
    expect(made.status).toBe(201);
    const fork = await json(made);
    expect(fork.id).not.toBe(run);
    await post(`/api/runs/${run}/fork`, { call: 't/1/1/0', after: true });
    await post(`/api/runs/${run}/nodes/build/rerun`, { input: { a: 1 }, confirmed: true });
    expect(asker.host.forked).toMatchObject([
      { run, by: 'ada', request: { at: { kind: 'frame', frame: 0 }, ...options } },
      { run, request: { at: { kind: 'call', call: 't/1/1/0', after: true } } },
      { run, request: { at: { kind: 'node', node: 'build' }, input: { a: 1 }, confirmed: true } },
    ]);
  });

  it('[V430] a rerun passes on the changed input of its node', async () => {
    const run = await begun();
    await post(`/api/runs/${run}/nodes/build/rerun`, { nodeInput: { branch: 'next' }, confirmed: true });
    expect(asker.host.forked).toMatchObject([
      { run, request: { at: { kind: 'node', node: 'build' }, nodeInput: { branch: 'next' }, confirmed: true } },
    ]);
    // A fork from a frame begins with no node of its own.
    expect((await post(`/api/runs/${run}/fork`, { frame: 0, nodeInput: 1 })).status).toBe(400);
  });

  it('[V61] interventions record the caller', async () => {
    const run = await begun();
    await post(`/api/runs/${run}/nodes/build/retry`, { policy: { retries: 5 } }, ADAS_TOKEN);
    await post(`/api/runs/${run}/nodes/loop/reset`, {});
    const edited = await post(`/api/runs/${run}/edits`, { key: 'turn', value: 2, reason: 'stuck' }, ADAS_TOKEN);
    expect(edited.status).toBe(200);
    await post(`/api/runs/${run}/edits`, { key: 'turn', reason: 'gone' });
    await post(`/api/runs/${run}/edits`, { key: 'turn', op: 'increment', value: 1, reason: 'more' });
    expect(asker.host.acted).toMatchObject([
      { run, by: 'ada', action: { kind: 'retry', node: 'build', policy: { retries: 5 } } },
      { run, action: { kind: 'reset', node: 'loop' } },
      { run, by: 'ada', action: { kind: 'edit', key: 'turn', value: 2, reason: 'stuck' } },
      { run, action: { kind: 'edit', key: 'turn', reason: 'gone' } },
      { run, action: { kind: 'edit', key: 'turn', op: 'increment', value: 1, reason: 'more' } },
    ]);
  });

  it('[V62] [V63] lineage, checkpoints and undo match the wire schemas', async () => {
    const run = await begun();
    expect(lineage.parse(await json(asker.ask('GET', `/api/runs/${run}/lineage`)))).toEqual({ forks: [] });
    expect(checkpointList.parse(await json(asker.ask('GET', `/api/runs/${run}/checkpoints`)))).toEqual({
      checkpoints: [],
    });
    const report = await json(post(`/api/runs/${run}/undo`, { call: 't/1/1/0', dryRun: true }));
    expect(undoReport.parse(report)).toEqual({ paths: ['t/1/1/0'], lost: [] });
    const kept = await json(post(`/api/runs/${run}/undo`, { call: 't/1/1/0', kept: true }));
    expect(undoReport.parse(kept)).toEqual({ paths: ['t/1/1/0'], lost: [], conflicts: ['changed since'] });
    for (const path of ['lineage', 'checkpoints']) {
      expect(await code(asker.ask('GET', `/api/runs/${UNKNOWN}/${path}`))).toEqual([404, 'run/unknown']);
    }
    expect(await code(post(`/api/runs/${UNKNOWN}/undo`, { call: 'x' }))).toEqual([404, 'run/unknown']);
    expect(await code(post(`/api/runs/${UNKNOWN}/fork`, { frame: 0 }))).toEqual([404, 'run/unknown']);
  });

  it('[V175] a rollback returns what it changes and the new run, in the caller’s name', async () => {
    const run = await begun();
    const path = `/api/runs/${run}/rollback`;
    const call = 't/1/1/0';
    const planned = rollbackReport.parse(await json(post(path, { call, dryRun: true })));
    expect(planned).toEqual({
      frame: 0,
      calls: [{ call, tool: 'write_file' }],
      paths: ['a.txt'],
      lost: [],
      effects: [],
    });
    const options = { after: true, acceptEffects: true, paused: true };
    const done = rollbackReport.parse(await json(post(path, { call, ...options }, ADAS_TOKEN)));
    expect(done).toEqual({ ...planned, run: expect.any(String) });
    expect(asker.host.rolledBack).toMatchObject([
      { run, request: { call, dryRun: true } },
      { run, by: 'ada', request: { call, ...options } },
    ]);
    expect(await code(post(`/api/runs/${UNKNOWN}/rollback`, { call }))).toEqual([404, 'run/unknown']);
    for (const body of [{}, { call: '' }, { to: call }, { call, force: true }]) {
      expect(await code(post(path, body))).toEqual([400, 'VALIDATION_ERROR']);
    }
    expect(asker.host.rolledBack.length).toBe(2);
  });

  it('[V64] invalid requests are refused, and nothing is done', async () => {
    const run = await begun();
    const bodies: readonly (readonly [string, object])[] = [
      ['fork', {}],
      ['fork', { frame: 0, call: 'x' }],
      ['fork', { frame: -1 }],
      ['fork', { frame: 1.5 }],
      ['fork', { frame: 0, after: true }],
      ['fork', { frame: 0, force: true }],
      ['nodes/build/rerun', { frame: 0 }],
      ['nodes/build/retry', { policy: { retries: -1 } }],
      ['nodes/build/retry', { policy: { forever: true } }],
      ['nodes/build/reset', { all: true }],
      ['edits', { key: 'turn', value: 1 }],
      ['edits', { value: 1, reason: 'x' }],
      ['edits', { key: 'turn', op: 'increment', reason: 'x' }],
      ['edits', { key: 'turn', op: 'double', value: 2, reason: 'x' }],
      ['undo', {}],
      ['undo', { call: '' }],
    ];
    for (const [path, body] of bodies) {
      expect([path, body, await code(post(`/api/runs/${run}/${path}`, body))]).toEqual([
        path,
        body,
        [400, 'VALIDATION_ERROR'],
      ]);
    }
    expect([asker.host.forked, asker.host.acted, asker.faults]).toEqual([[], [], []]);
  });
});
