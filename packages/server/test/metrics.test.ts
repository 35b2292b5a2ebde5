import { timestamp } from '@signalbox/model';
import { createAccess, createHttpApp, createRunMetrics } from '@signalbox/server';
import { describe, expect, it } from 'vitest';
import { auth, code, TOKEN } from './http-asker.ts';
import { scriptedHost } from './scripted-host.ts';

function stage() {
  const host = scriptedHost();
  const metrics = createRunMetrics(host);
  const app = createHttpApp({ host, metrics, access: createAccess(TOKEN, () => 4280) });
  const scrape = async () => (await app.request('/metrics', { headers: auth })).text();
  return { host, app, scrape };
}

describe('the metrics', () => {
  it('[V91] count frames, work, errors and what waits, and sum what models cost', async () => {
    const { host, scrape } = stage();
    const run = await host.begin('counted');
    await run.render({ id: 'build', kind: 'task' });
    const task = await run.startTask('build');
    await run.endTask(task);
    await run.ask('build', { tool: 'deploy', args: {} });
    const spent = {
      inputTokens: 10,
      outputTokens: 2,
      cachedTokens: 0,
      toolCalls: 0,
      costMicroUsd: 1_500_000,
      wallMs: 2_500,
    };
    const at = timestamp.parse('2026-01-02T00:00:00.000Z');
    const usage = [{ call: '1', provider: 'acme', model: 'small', ...spent, at }];
    await host.store.commit({ at, usage }, { run: run.id, version: 'any' });
    const text = await scrape();
    for (const line of [
      /signalbox_frames_total\{trigger="\w+"\} 1/,
      /signalbox_tasks_ended_total\{outcome="done"\} 1/,
      /signalbox_decisions_open 1/,
      /signalbox_model_cost_usd_total\{provider="acme",model="small"\} 1.5/,
      /signalbox_model_call_seconds_total\{provider="acme",model="small"\} 2.5/,
    ]) {
      expect(text).toMatch(line);
    }
    expect(await scrape()).toMatch(/signalbox_model_cost_usd_total\{provider="acme",model="small"\} 1.5/);
  });

  it('[V91] want the token', async () => {
    const { app } = stage();
    const answer = await app.request('/metrics', { headers: { host: auth.host } });
    expect(await code(answer)).toEqual([401, 'request/unauthorized']);
  });
});

describe('what was spent', () => {
  it('[V92] is answered by day, model and directory, from a moment on', async () => {
    const { host, app } = stage();
    const run = await host.begin('spends');
    const at = timestamp.parse('2026-01-02T00:00:00.000Z');
    const spent = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, toolCalls: 0, costMicroUsd: 7, wallMs: 1 };
    await host.store.commit(
      { at, usage: [{ call: '1', model: 'small', ...spent, at }] },
      { run: run.id, version: 'any' },
    );
    const ask = async (query: string) => (await app.request(`/api/usage${query}`, { headers: auth })).json();
    expect(await ask('')).toMatchObject({ spending: [{ day: '2026-01-02', model: 'small', costMicroUsd: 7 }] });
    expect(await ask('?since=2026-01-03T00:00:00Z')).toEqual({ spending: [] });
    expect(await ask('?since=yesterday')).toMatchObject({ code: 'VALIDATION_ERROR' });
  });
});
