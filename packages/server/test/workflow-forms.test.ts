import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openGuidedSessions, openGuidedTools } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import { sessionDetail, type WorkflowForms, workflowForms } from '@signalbox/model';
import { createAccess, createHttpApp } from '@signalbox/server';
import { bundledPlace } from '@signalbox/workflow';
import { afterAll, describe, expect, it } from 'vitest';
import { auth, code, TOKEN } from './http-asker.ts';
import { scriptedHost } from './scripted-host.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'forms-'));
afterAll(() => rmSync(folder, { recursive: true }));
const [dataDirectory, own] = [path.join(folder, 'data'), path.join(folder, 'own')];
for (const place of [dataDirectory, own]) mkdirSync(place);
const file = path.join(own, 'tidy.json');
const written = (title: string) => ({
  id: 'project.tidy',
  name: 'Tidy',
  description: 'Tidies up.',
  version: '1.0.0',
  steps: [{ id: 'look', title, prompt: 'Look at what lies around, and note it.' }],
});
writeFileSync(file, JSON.stringify(written('Look')));

const directories = [{ kind: 'project', directory: own }] as const;
const options = { dataDirectory, directories, machine: thisMachine() };
const tools = openGuidedTools(options);
const app = createHttpApp({
  host: scriptedHost(),
  sessions: openGuidedSessions(options),
  workflows: tools,
  access: createAccess(TOKEN, () => 4280),
});
const ask = async (place: string) => app.request(place, { headers: auth });
const forms = async (place: string): Promise<WorkflowForms> =>
  workflowForms.parse(await (await ask(`/api/workflows/${place}`)).json());

describe('the forms of a workflow over HTTP', () => {
  it('are its source, its compiled form, and the origin of each step', async () => {
    const { source, compiled, problems, pinned, drift } = await forms('wr.bug-investigation/forms');
    const text = readFileSync(path.join(bundledPlace.directory, source?.ref ?? ''), 'utf8');
    expect(source).toMatchObject({ kind: 'bundled', content: JSON.parse(text) });
    expect(compiled?.steps.map(({ provenance }) => provenance.source)).toContain('authored');
    expect([problems, pinned, drift]).toEqual([[], undefined, undefined]);
  });

  it('say how the source compares with a run’s pin', async () => {
    const started = await tools.start({ workflowId: 'project.tidy' });
    if (!started.ok) throw new Error(started.error.message);
    const shown = sessionDetail.parse(await (await ask(`/api/sessions/${started.value.sessionId}`)).json());
    const hash = shown.runs[0]?.workflow?.workflowHash;
    const place = `project.tidy/forms?pinned=${hash}`;
    const before = await forms(place);
    expect(before.drift).toBe('none');
    // To the letter: the order of members too.
    expect(JSON.stringify(before.pinned)).toBe(JSON.stringify(before.compiled));
    writeFileSync(file, JSON.stringify(written('Look around')));
    const changed = await forms(place);
    expect(changed.drift).toBe('changed');
    expect(changed.pinned).toEqual(before.pinned);
    expect(changed.compiled?.steps.map(({ title }) => title)).toEqual(['Look around']);
    writeFileSync(file, JSON.stringify({ ...written('Look'), steps: [] }));
    const broken = await forms(place);
    expect([broken.drift, broken.compiled, broken.problems.length > 0]).toEqual(['gone', undefined, true]);
    rmSync(file);
    const gone = await forms(place);
    expect([gone.drift, gone.source, gone.pinned]).toEqual(['gone', undefined, before.pinned]);
  });

  it('are refused for an unknown workflow, and for an unknown pin', async () => {
    expect(await code(await ask('/api/workflows/wr.nothing/forms'))).toEqual([404, 'workflow/unknown']);
    expect(await code(await ask('/api/workflows/wr.research/forms?pinned=x'))).toEqual([400, 'VALIDATION_ERROR']);
    const other = `sha256:${'0'.repeat(64)}`;
    expect(await code(await ask(`/api/workflows/wr.nothing/forms?pinned=${other}`))).toEqual([404, 'workflow/unknown']);
    const unknown = await forms(`wr.research/forms?pinned=${other}`);
    expect([unknown.pinned, unknown.drift]).toEqual([undefined, 'changed']);
  });
});
