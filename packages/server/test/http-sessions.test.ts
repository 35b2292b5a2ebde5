import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openGuidedSessions, openGuidedTools } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import { sessionDetail, sessionList, startedSession, workflowDetail, workflowList } from '@signalbox/model';
import { createAccess, createHttpApp } from '@signalbox/server';
import { afterAll, describe, expect, it } from 'vitest';
import { NOTES } from '../../guided/test/support/agent-calls.ts';
import { auth, code, TOKEN, UNKNOWN } from './http-asker.ts';
import { scriptedHost } from './scripted-host.ts';

const dataDirectory = mkdtempSync(path.join(tmpdir(), 'sessions-'));
afterAll(() => rmSync(dataDirectory, { recursive: true }));

const options = { dataDirectory, directories: [], machine: thisMachine() };
const tools = openGuidedTools(options);
const app = createHttpApp({
  host: scriptedHost(),
  sessions: openGuidedSessions(options),
  workflows: tools,
  access: createAccess(TOKEN, () => 4280),
});
const ask = async (place: string) => app.request(place, { headers: auth });

/** A session in which the agent asked for what only the person can give. */
async function walked() {
  const started = await tools.start({ workflowId: 'wr.bug-investigation' });
  if (!started.ok) throw new Error(started.error.message);
  const { stateToken, ackToken = '', sessionId } = started.value;
  const needs = [{ reason: 'needs_user_account_access', summary: 'May I see the build server?' }];
  const output = { notesMarkdown: NOTES, needsFromUser: needs };
  const asked = await tools.continue({ stateToken, ackToken, output } as Parameters<typeof tools.continue>[0]);
  if (!asked.ok) throw new Error(asked.error.message);
  return sessionId;
}

describe('guided sessions over HTTP', () => {
  it('[V93] are listed and shown, with their places and gaps, and answered once', async () => {
    const id = await walked();
    const { sessions } = sessionList.parse(await (await ask('/api/sessions')).json());
    expect(sessions).toMatchObject([
      { sessionId: id, health: 'healthy', runs: [{ workflowId: 'wr.bug-investigation' }] },
    ]);
    const shown = sessionDetail.parse(await (await ask(`/api/sessions/${id}`)).json());
    const [run] = shown.runs;
    expect(run?.source).toEqual({ kind: 'as_pinned' });
    expect(run?.nodes.map(({ step }) => step?.key)).toContain('reproduce');
    const gap = run?.gaps.find(({ reason }) => reason.category === 'user_only_dependency');
    if (gap === undefined) throw new Error('nothing waits');
    const answer = (body: object) =>
      app.request(`/api/sessions/${id}/gaps/${gap.gapId}/answer`, {
        method: 'POST',
        headers: { ...auth, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect(await code(await answer({ kind: 'shrug' }))).toEqual([400, 'VALIDATION_ERROR']);
    expect((await answer({ kind: 'answered', value: 'main', shown: gap.shown })).status).toBe(200);
    const again = await (await answer({ kind: 'answered', value: 'other' })).json();
    expect(again).toMatchObject({ answer: { kind: 'answered', value: 'main' } });
  });

  it('[V139] are started for an agent, which finds them; the same key starts one', async () => {
    const start = (body: object, key = 'monday') =>
      app.request('/api/sessions', {
        method: 'POST',
        headers: { ...auth, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
      });
    const asked = { workflowId: 'wr.research', context: { topic: 'caches' }, workspacePath: dataDirectory };
    const first = await start(asked);
    expect(first.status).toBe(201);
    const text = await first.text();
    expect(text).not.toMatch(/(st|ack|chk)\.v1\./);
    const started = startedSession.parse(JSON.parse(text));
    expect(started.workflowId).toBe('wr.research');
    expect(startedSession.parse(await (await start(asked)).json())).toEqual(started);
    const found = await tools.resume({ workspacePath: dataDirectory });
    if (!found.ok) throw new Error(found.error.message);
    expect(found.value.candidates.map(({ sessionId }) => sessionId)).toContain(started.sessionId);
    expect(await code(await start({ workflowId: 'wr.none' }, 'other'))).toEqual([404, 'workflow/unknown']);
    expect(await code(await start({ workflowId: 'wr.research', token: 'x' }, 'third'))).toEqual([
      400,
      'VALIDATION_ERROR',
    ]);
    expect(await code(await start(asked, 'x'.repeat(300)))).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('[V93] that do not exist are unknown', async () => {
    expect(await code(await ask(`/api/sessions/${UNKNOWN}`))).toEqual([404, 'session/unknown']);
    expect(await code(await ask('/api/sessions/..%2f..'))).toEqual([404, 'session/unknown']);
  });
});

describe('workflows over HTTP', () => {
  it('[V94] are listed, and shown as visible before the start', async () => {
    const { workflows } = workflowList.parse(await (await ask('/api/workflows')).json());
    expect(workflows.map(({ workflowId }) => workflowId)).toContain('wr.research');
    const shown = workflowDetail.parse(await (await ask('/api/workflows/wr.research')).json());
    expect(shown.steps?.length).toBeGreaterThan(2);
    expect(await code(await ask('/api/workflows/wr.none'))).toEqual([404, 'workflow/unknown']);
  });
});
