import { type Client, createClient } from '@signalbox/client';
import type { RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';

/** A client that writes down what it asks for, and is told nothing. */
function asker(): { readonly client: Client; readonly asked: string[] } {
  const asked: string[] = [];
  const client = createClient({
    url: 'http://127.0.0.1:1',
    token: 't',
    fetch: async url => {
      asked.push(url.slice('http://127.0.0.1:1/api'.length));
      throw new Error('nobody is there');
    },
  });
  return { client, asked };
}

const run = '01890000-0000-7000-8000-00000000dead' as RunId;
const page = { after: 'a~b', limit: 2 };

describe('lists', () => {
  it('[C20] are asked for in pages and by every filter that the server has', async () => {
    const { client, asked } = asker();
    await client.runs({
      ...page,
      kind: 'guided',
      status: ['running', 'waiting'],
      since: '2026-01-01T00:00:00.000Z',
      until: '2026-01-02T00:00:00.000Z',
      entry: '/p.tsx',
      directory: '/w',
    });
    await client.decisions({ ...page, kind: 'guided', status: 'all' });
    await client.tasks(run, { ...page, status: ['done', 'error'], node: 'a b' });
    await client.lineage(run, page);
    await client.checkpoints(run, page);
    await client.sessions(page);
    await client.workflows(page);
    await client.spending({ ...page, run });
    const place = 'after=a~b&limit=2';
    expect(asked).toEqual([
      `/runs?${place}&kind=guided&since=2026-01-01T00%3A00%3A00.000Z&until=2026-01-02T00%3A00%3A00.000Z&entry=%2Fp.tsx&directory=%2Fw&status=running%2Cwaiting`,
      `/approvals?${place}&kind=guided&status=all`,
      `/runs/${run}/tasks?${place}&node=a%20b&status=done%2Cerror`,
      `/runs/${run}/lineage?${place}`,
      `/runs/${run}/checkpoints?${place}`,
      `/sessions?${place}`,
      `/workflows?${place}`,
      `/usage?${place}&run=${run}`,
    ]);
  });

  it('[C21] of events are asked for as they are stored', async () => {
    const { client, asked } = asker();
    await client.events(run, { from: 3 });
    expect(asked).toEqual([`/runs/${run}/events?from=3&view=stored`]);
  });
});
