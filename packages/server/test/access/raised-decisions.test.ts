import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { guidedSchemas, openGuidedSessions, openGuidedTools } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import { createClient } from '@signalbox/client';
import { startServer } from '@signalbox/server';
import { expect, it, onTestFinished } from 'vitest';
import { NOTES } from '../../../guided/test/support/agent-calls.ts';
import { AGENT_TOKEN, TOKEN } from '../http-asker.ts';
import { memoryUsers } from '../memory-users.ts';
import { scriptedHost } from '../scripted-host.ts';

const APPROVER = 'token-of-an-approver';

it('[V183] an agent cannot answer what it raised, on any surface; a person can', async () => {
  const dataDirectory = mkdtempSync(path.join(tmpdir(), 'raised-'));
  onTestFinished(() => rmSync(dataDirectory, { recursive: true }));
  const machine = thisMachine();
  const guided = { dataDirectory, directories: [], machine };
  const started = await startServer({
    host: scriptedHost(),
    token: TOKEN,
    users: memoryUsers({
      [AGENT_TOKEN]: { name: 'bot', role: 'agent' },
      [APPROVER]: { name: 'ada', role: 'approver' },
    }),
    guided: openGuidedTools(guided),
    sessions: openGuidedSessions(guided),
    port: 0,
    timers: machine.timers,
  });
  if (!started.ok) throw new Error(started.error.message);
  const { url, close } = started.value;
  onTestFinished(close);

  const post = (place: string, token: string, body: object) =>
    fetch(`${url}${place}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify(body),
    });
  const call = (name: string, args: object) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  });
  const walk = async (name: string, args: object) => {
    const text = await (await post('/mcp/agent', AGENT_TOKEN, call(name, args))).text();
    const [line = ''] = /\{.*\}/.exec(text) ?? [];
    return guidedSchemas.continue.answer.parse(JSON.parse(line).result.structuredContent);
  };
  const { stateToken, ackToken, sessionId } = await walk('start_workflow', { workflowId: 'wr.research' });
  const needsFromUser = [{ reason: 'needs_user_account_access', summary: 'May I see the archive?' }];
  await walk('continue_workflow', { stateToken, ackToken, output: { notesMarkdown: NOTES, needsFromUser } });

  const ada = createClient({ url, token: APPROVER });
  const open = async () => {
    const listed = await ada.decisions({ kind: 'guided' });
    if (!listed.ok) throw new Error(listed.error.message);
    return listed.value.approvals;
  };
  // The step asks for a confirmation of its own.
  const before = await open();
  const raised = before.find(one => JSON.stringify(one).includes('May I see the archive?'));
  if (raised === undefined) throw new Error('nothing was raised');
  const tried = await Promise.all([
    post(`/api/approvals/${raised.approvalId}/resolve`, AGENT_TOKEN, { status: 'approved' }),
    post(`/api/sessions/${sessionId}/gaps/${raised.approvalId}/answer`, AGENT_TOKEN, { kind: 'approved' }),
    post(
      '/mcp',
      AGENT_TOKEN,
      call('approval.respond', {
        execution_id: raised.runId,
        approval_id: raised.approvalId,
        decision: 'approve',
      }),
    ),
  ]);
  expect(tried.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect(await open()).toEqual(before);
  expect(await ada.resolve(raised.approvalId, { status: 'approved' })).toMatchObject({ ok: true });
  expect(await open()).toEqual(before.filter(one => one !== raised));
});
