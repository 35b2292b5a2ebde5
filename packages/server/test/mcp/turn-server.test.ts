import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TurnTools } from '@signalbox/app/host';
import { createTurnServer, type TurnServer } from '@signalbox/server';
import { afterEach, describe, expect, it } from 'vitest';
import { manualTimers } from '../manual-timers.ts';

let server: TurnServer | undefined;
afterEach(() => server?.close());

function opened(): TurnServer {
  server = createTurnServer({ timers: manualTimers().timers });
  return server;
}

const answering: TurnTools = {
  requestDecision: async ({ question }) => ({ kind: 'answered', answer: `yes to ${question}`, rationale: 'Go.' }),
};
const silent: TurnTools = { requestDecision: async () => ({ kind: 'asked' }) };
const forbidding: TurnTools = {
  requestDecision: async () => {
    throw new Error('nobody was to be asked');
  },
};

async function withClient<T>(
  { url, token }: { readonly url: string; readonly token: string },
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const ask = (client: Client, args: Record<string, unknown>) =>
  client.callTool({ name: 'request_decision', arguments: args }) as Promise<CallToolResult>;

const textOf = ({ content }: CallToolResult) => content.map(part => (part.type === 'text' ? part.text : '')).join();

/** The status of a bare request. */
async function status(url: string, headers: Record<string, string>): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  const sent = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
  const answer = await fetch(url, { method: 'POST', headers: sent, body });
  await answer.arrayBuffer();
  return answer.status;
}

describe('the tools of a turn', () => {
  it('[V320] are one tool, for whoever has the token of the attempt', async () => {
    const offer = await opened().offer(answering);
    const names = await withClient(offer, async client => (await client.listTools()).tools.map(({ name }) => name));
    expect(names).toEqual(['request_decision']);
  });

  it('[V335] are known to be listed once a client has asked which there are', async () => {
    const offer = await opened().offer(answering);
    const seen = [offer.wasListed()];
    await withClient(offer, async client => {
      seen.push(offer.wasListed());
      await ask(client, { question: 'merge' });
      seen.push(offer.wasListed());
      await client.listTools();
      seen.push(offer.wasListed());
    });
    expect(seen).toEqual([false, false, false, true]);
  });

  it('[V320] are those of the own attempt', async () => {
    const turns = opened();
    const [one, other] = [await turns.offer(answering), await turns.offer(silent)];
    expect(await withClient(one, async client => textOf(await ask(client, { question: 'merge' })))).toBe(
      'The person answered: yes to merge\nGo.',
    );
    expect(await withClient(other, async client => textOf(await ask(client, { question: 'merge' })))).toContain(
      'end your turn now',
    );
  });

  it.each([
    [{}, 'question'],
    [{ question: 'Which?', options: [{ id: 'a', label: 'A' }] }, 'options'],
    [
      {
        question: 'Which?',
        options: [
          { id: 'a', label: 'A' },
          { id: 'a', label: 'B' },
        ],
      },
      'every id must be different',
    ],
    [{ question: 'Which?', approve: true }, 'approve'],
  ])('[V321] refuse %j by name and ask nobody', async (args, named) => {
    const offer = await opened().offer(forbidding);
    const answer = await withClient(offer, client => ask(client, args));
    expect(answer.isError).toBe(true);
    expect(textOf(answer)).toContain(named);
  });

  it('[V320] [V322] [V323] open with no other token, at no other place, for no page, and not after the attempt', async () => {
    const turns = opened();
    const { url, token, withdraw } = await turns.offer(answering);
    const bearer = { authorization: `Bearer ${token}` };
    expect(await status(url, bearer)).toBe(200);
    expect(await status(url, {})).toBe(401);
    expect(await status(url, { authorization: `Bearer ${token}x` })).toBe(401);
    expect(await status(url.replace('/mcp/turn', '/mcp'), bearer)).toBe(404);
    expect(await status(url, { ...bearer, origin: new URL(url).origin })).toBe(403);
    expect(await status(url.replace('127.0.0.1', 'localhost'), bearer)).toBe(403);
    await withdraw();
    expect(await status(url, bearer)).toBe(401);
  });

  it('[V322] end with the attempt while a call waits', async () => {
    let begun = () => {};
    const isAsked = new Promise<void>(resolve => {
      begun = resolve;
    });
    const offer = await opened().offer({
      requestDecision() {
        begun();
        return new Promise(() => {});
      },
    });
    const headers = {
      authorization: `Bearer ${offer.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    };
    const params = { name: 'request_decision', arguments: { question: 'Which?' } };
    const waiting = fetch(offer.url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    }).then(answer => answer.text());
    await isAsked;
    await offer.withdraw();
    expect(await waiting.catch(() => 'cut off')).not.toContain('answered');
  });
});
