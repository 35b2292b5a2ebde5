import { expect, it } from 'vitest';
import type { Identity } from '../access/identity.ts';
import { mcpByToken } from './mcp-by-token.ts';

const identity = { name: 'ada', role: 'viewer', tokenId: 'one', isPermanent: false } as const;
const expiring: Identity = { ...identity, expiresAt: '2026-01-01T00:00:00.000Z' as never };

/** A surface whose only answer is a stream, and the means to write to it. */
function streaming(type: string) {
  let isCurrent = true;
  let isCanceled = false;
  let write: (text: string) => void = () => undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      write = text => controller.enqueue(new TextEncoder().encode(text));
    },
    cancel() {
      isCanceled = true;
    },
  });
  const surface = {
    route: async () => new Response(body, { headers: { 'content-type': type } }),
    close: async () => undefined,
  };
  const doors = { hold: () => () => undefined, check: async () => undefined, close: () => undefined };
  const mcp = mcpByToken(() => surface as never, doors, { isCurrent: () => isCurrent });
  return {
    write: (text: string) => write(text),
    expire() {
      isCurrent = false;
    },
    isCanceled: () => isCanceled,
    async open(holder: Identity) {
      const response = await mcp.route(new Request('http://127.0.0.1/mcp'), holder);
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      return async () => new TextDecoder().decode((await reader.read()).value);
    },
  };
}

it('[V312] a stream of MCP sends nothing once its token has expired, and its source ends', async () => {
  const stream = streaming('text/event-stream');
  const read = await stream.open(expiring);
  stream.write('before');
  expect(await read()).toBe('before');
  const next = read();
  stream.expire();
  stream.write('after');
  await expect(next).rejects.toThrow('the token has expired');
  expect(stream.isCanceled()).toBe(true);
});

it('[V312] a stream of a token that does not expire is left alone', async () => {
  const stream = streaming('text/event-stream');
  const read = await stream.open(identity);
  stream.expire();
  stream.write('still there');
  expect(await read()).toBe('still there');
});
