import { describe, expect, it } from 'vitest';
import { ADAS_TOKEN, code, httpAsker, json, UNKNOWN } from './http-asker.ts';

describe('retention over HTTP', () => {
  it('[V310] a run is kept and released in the caller’s name', async () => {
    const { ask } = httpAsker();
    const { id } = await json(ask('POST', '/api/runs', { body: { file: 'a.tsx' } }));
    const headers = { authorization: `Bearer ${ADAS_TOKEN}` };
    const kept = await (await ask('POST', `/api/runs/${id}/keep`, { headers })).json();
    expect(kept).toMatchObject({ id, record: { kept: { by: 'ada' } } });
    const unkept = (await (await ask('POST', `/api/runs/${id}/unkeep`)).json()) as { readonly record: object };
    expect(unkept.record).not.toHaveProperty('kept');
    expect(await code(ask('POST', `/api/runs/${UNKNOWN}/keep`))).toEqual([404, 'run/unknown']);
  });

  it('[V310] a collection reports what it deleted; an invalid body is refused', async () => {
    const { ask } = httpAsker();
    expect(await (await ask('POST', '/api/gc', { body: { dryRun: true } })).json()).toMatchObject({
      dryRun: true,
      bytes: 7,
    });
    expect(await (await ask('POST', '/api/gc')).json()).toMatchObject({ dryRun: false });
    expect(await code(ask('POST', '/api/gc', { body: { force: true } }))).toEqual([400, 'VALIDATION_ERROR']);
  });
});

it('[V270] only an owner redacts a secret, which is in no answer', async () => {
  const { ask } = httpAsker();
  const { id } = await json(ask('POST', '/api/runs', { body: { file: 'a.tsx' } }));
  const body = { value: 'a secret that leaked', name: 'DOOR' };
  const answered = await ask('POST', `/api/runs/${id}/redact`, { body });
  const text = await answered.text();
  expect([answered.status, JSON.parse(text)]).toMatchObject([200, { name: 'DOOR', runs: [{ run: id }] }]);
  expect(text).not.toContain(body.value);
  const headers = { authorization: `Bearer ${ADAS_TOKEN}` };
  expect((await ask('POST', `/api/runs/${id}/redact`, { body, headers })).status).toBe(403);
  expect(await code(ask('POST', `/api/runs/${id}/redact`, { body: {} }))).toEqual([400, 'VALIDATION_ERROR']);
  expect(await code(ask('POST', `/api/runs/${UNKNOWN}/redact`, { body }))).toEqual([404, 'run/unknown']);
});
