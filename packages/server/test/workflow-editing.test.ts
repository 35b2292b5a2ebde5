import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openGuidedSessions, openGuidedTools, sourceJsonSchema } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import { type Digest, type Json, savedWorkflow, workflowCheck, workflowForms } from '@signalbox/model';
import { createAccess, createHttpApp } from '@signalbox/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { auth, code, TOKEN } from './http-asker.ts';
import { scriptedHost } from './scripted-host.ts';

function stage() {
  const folder = mkdtempSync(path.join(tmpdir(), 'editing-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const own = path.join(folder, 'own');
  const directories = [{ kind: 'project', directory: own }] as const;
  const options = { dataDirectory: path.join(folder, 'data'), directories, machine: thisMachine() };
  mkdirSync(options.dataDirectory);
  const app = createHttpApp({
    host: scriptedHost(),
    sessions: openGuidedSessions(options),
    workflows: openGuidedTools(options),
    access: createAccess(TOKEN, () => 4280),
  });
  const headers = { ...auth, 'content-type': 'application/json' };
  const post = async (place: string, body: object) =>
    app.request(`/api/workflows/${place}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const forms = async (id: string) =>
    workflowForms.parse(await (await app.request(`/api/workflows/${id}/forms`, { headers: auth })).json());
  return { folder, own, app, post, forms };
}

const flow = (id: string, title = 'Look') => ({
  id,
  name: 'Tidy',
  description: 'Tidies up.',
  version: '1.0.0',
  steps: [{ id: 'look', title, prompt: 'Look at what lies around, and note it.' }],
});

describe('[V355] the schema of workflow files', () => {
  it('is read without a token, and is that of the compiler', async () => {
    const { app } = stage();
    const answer = await app.request('/api/workflow.schema.json', { headers: { host: '127.0.0.1:4280' } });
    expect([answer.status, await answer.json()]).toEqual([200, sourceJsonSchema()]);
  });
});

describe('[V356] a check', () => {
  it('reports what an author would be told, and writes nothing', async () => {
    const { own, post } = stage();
    const good = workflowCheck.parse(await (await post('check', { source: flow('team.tidy') })).json());
    expect(good).toEqual({ workflowHash: expect.stringMatching(/^sha256:/), problems: [] });
    const faulty: readonly Json[] = [null, 'text', flow('plain'), { ...flow('team.x'), steps: [] }];
    for (const source of faulty) {
      const bad = workflowCheck.parse(await (await post('check', { source })).json());
      expect(bad.workflowHash).toBeUndefined();
      expect(bad.problems.some(({ severity, suggestion }) => severity === 'error' && suggestion !== '')).toBe(true);
    }
    expect(existsSync(own)).toBe(false);
  });
});

describe('[V357] a copy', () => {
  it('is a file of the first folder, under an own id, and never over anything', async () => {
    const { own, post, forms } = stage();
    const copied = await post('wr.code-review/copy', { newId: 'team.review' });
    expect(copied.status).toBe(201);
    const saved = savedWorkflow.parse(await copied.json());
    expect(saved).toMatchObject({ workflowId: 'team.review', kind: 'project', ref: 'review.json' });
    const { source, compiled } = await forms('team.review');
    expect([source?.digest, compiled?.workflowHash]).toEqual([saved.digest, saved.workflowHash]);
    expect(JSON.parse(readFileSync(path.join(own, 'review.json'), 'utf8')).id).toBe('team.review');
    expect(await code(await post('wr.code-review/copy', { newId: 'team.review' }))).toEqual([409, 'workflow/changed']);
    // The file is there, whatever id it has.
    expect(await code(await post('wr.code-review/copy', { newId: 'other.review' }))).toEqual([409, 'workflow/changed']);
    for (const newId of ['wr.mine', 'plain', 'Team.X', '../x.y', `team.${'x'.repeat(300)}`]) {
      expect([newId, await code(await post('wr.research/copy', { newId }))]).toEqual([
        newId,
        [400, 'VALIDATION_ERROR'],
      ]);
    }
    expect(await code(await post('wr.nothing/copy', { newId: 'team.n' }))).toEqual([404, 'workflow/unknown']);
  });

  it('of a routine stays one', async () => {
    const { own, post } = stage();
    expect((await post('wr.routine-design-review/copy', { newId: 'team.design' })).status).toBe(201);
    expect(existsSync(path.join(own, 'routines/design.json'))).toBe(true);
  });
});

describe('[V358] saving', () => {
  it('writes over the file that was read, and over no other', async () => {
    const { own, post, forms } = stage();
    mkdirSync(own);
    const file = path.join(own, 'any-name.json');
    writeFileSync(file, JSON.stringify(flow('team.tidy')));
    const over = (await forms('team.tidy')).source?.digest as Digest;
    const saved = await post('team.tidy/source', { source: flow('team.tidy', 'Look twice'), over });
    const { digest, workflowHash } = savedWorkflow.parse(await saved.json());
    const after = await forms('team.tidy');
    expect([after.source?.digest, after.compiled?.workflowHash, after.source?.ref]).toEqual([
      digest,
      workflowHash,
      'any-name.json',
    ]);
    expect(JSON.parse(readFileSync(file, 'utf8')).steps[0].title).toBe('Look twice');
    const text = readFileSync(file, 'utf8');
    const again = { source: flow('team.tidy', 'Look thrice'), over };
    expect(await code(await post('team.tidy/source', again))).toEqual([409, 'workflow/changed']);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('refuses what cannot be run, another id, a bundled workflow, a legacy id, an unknown one and a link', async () => {
    const { folder, own, post, forms } = stage();
    mkdirSync(own);
    writeFileSync(path.join(own, 'tidy.json'), JSON.stringify(flow('team.tidy')));
    writeFileSync(path.join(own, 'old.json'), JSON.stringify(flow('old-tidy')));
    const digestOf = async (id: string) => (await forms(id)).source?.digest as Digest;
    const over = await digestOf('team.tidy');
    const refusals: readonly [string, Json, Digest, readonly [number, string]][] = [
      ['team.tidy', { ...flow('team.tidy'), steps: [] }, over, [422, 'workflow/invalid']],
      ['team.tidy', flow('team.other'), over, [400, 'VALIDATION_ERROR']],
      ['team.tidy', 'text', over, [400, 'VALIDATION_ERROR']],
      ['wr.research', flow('wr.research'), await digestOf('wr.research'), [400, 'VALIDATION_ERROR']],
      ['old-tidy', flow('old-tidy'), await digestOf('old-tidy'), [400, 'VALIDATION_ERROR']],
      ['team.none', flow('team.none'), over, [404, 'workflow/unknown']],
    ];
    for (const [id, source, digest, told] of refusals) {
      expect([id, await code(await post(`${id}/source`, { source, over: digest }))]).toEqual([id, told]);
    }
    expect(await digestOf('team.tidy')).toBe(over);
    // A folder below that leads elsewhere is no place to write to.
    const outside = path.join(folder, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, path.join(own, 'routines'));
    expect((await post('wr.routine-design-review/copy', { newId: 'team.design' })).status).toBe(400);
    expect(existsSync(path.join(outside, 'design.json'))).toBe(false);
  });
});
