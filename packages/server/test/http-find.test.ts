import { describe, expect, it } from 'vitest';
import { code, httpAsker, json } from './http-asker.ts';

describe('the search over HTTP', () => {
  it('[V379] takes a text, kinds, a run and a time, and answers in pages', async () => {
    const { host, ask } = httpAsker();
    const run = '01a1f1e2-fb92-7445-ba69-000000000001';
    const asked: unknown[] = [];
    const thing = {
      kind: 'file',
      run,
      runName: 'survey',
      node: 'author',
      title: 'a.txt',
      snippet: [],
      at: '2026-11-19',
    };
    Object.assign(host.search, {
      find: async (query: unknown) => {
        asked.push(query);
        return { ok: true, value: { found: [thing], counts: { file: 2 }, behind: 0, next: '1' } };
      },
    });
    expect(
      await json(ask('GET', `/api/find?q=a.txt&kind=file,call&run=${run}&since=2026-11-01&after=3&limit=1`)),
    ).toEqual({
      found: [thing],
      counts: { file: 2 },
      behind: 0,
      next: '1',
    });
    expect(asked).toEqual([{ q: 'a.txt', kind: ['file', 'call'], run, since: '2026-11-01', after: '3', limit: 1 }]);
    for (const query of [
      '',
      '?q=',
      '?q=a&kind=secret',
      '?q=a&after=x',
      '?q=a&limit=0',
      '?q=a&run=1',
      `?q=${'a'.repeat(401)}`,
    ]) {
      expect(await code(ask('GET', `/api/find${query}`)), query).toEqual([400, 'VALIDATION_ERROR']);
    }
    expect(asked).toHaveLength(1);
  });
});
