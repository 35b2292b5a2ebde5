import { errorEnvelope } from '@signalbox/model';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { operatorTools } from '../../src/operator/tools.ts';
import { type ScriptedHost, scriptedHost } from '../scripted-host.ts';
import { type OperatorStage, operatorStage } from './operator-stage.ts';

let host: ScriptedHost;
let stage: OperatorStage;
beforeAll(async () => {
  host = scriptedHost();
  stage = await operatorStage(host);
});
afterAll(() => stage.close());
afterEach(() => expect(stage.faults).toEqual([]));

const request = (fields: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...fields });
const isAlive = async () => (await stage.ask('POST', { body: request({ method: 'tools/list' }) })).ok;

/** The answer of the protocol, whether it came as a body or as a stream. */
async function answered(response: Response): Promise<{ readonly status: number; readonly error?: { code: number } }> {
  const text = await response.text();
  return { status: response.status, ...JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text) };
}

describe('JSON-RPC garbage', () => {
  it.each([
    ['no JSON', 'no json', -32_700],
    ['nothing', '', -32_700],
    ['half of a message', '{"jsonrpc":"2.0","id":1,"method":"tools/li', -32_700],
    ['a number', '7', -32_600],
    ['null', 'null', -32_600],
    ['an empty object', '{}', -32_600],
    ['an empty batch', '[]', -32_600],
    ['a batch of garbage', '[1, null, {}]', -32_600],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32_600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"tools/list"}', -32_600],
    ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":7}', -32_600],
    ['an unknown method', request({ method: 'no/such' }), -32_601],
    ['a method of Object', request({ method: '__proto__' }), -32_601],
    ['params that are a list', request({ method: 'tools/call', params: ['x'] }), undefined],
    ['no params', request({ method: 'tools/call' }), undefined],
    ['an unknown tool', request({ method: 'tools/call', params: { name: 'constructor' } }), undefined],
    ['deep nesting', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, undefined],
  ])('[V122] is refused in the words of the protocol: %s', async (_, body, code) => {
    const { status, error } = await answered(await stage.ask('POST', { body }));
    expect(status).toBeLessThan(500);
    expect(error).toMatchObject({ code: code ?? expect.any(Number) });
    expect(await isAlive()).toBe(true);
  });

  it('[V122] an incomplete envelope of 2026-07-28 is refused too', async () => {
    const key = 'io.modelcontextprotocol/protocolVersion';
    for (const meta of [{ [key]: '2026-07-28' }, { [key]: '1999-01-01' }, { [key]: 7 }]) {
      const body = request({ method: 'tools/list', params: { _meta: meta } });
      const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
      const { status, error } = await answered(await stage.ask('POST', { headers, body }));
      expect([status, error?.code]).toEqual([400, expect.any(Number)]);
    }
  });

  it('[V122] a body that is too large is refused unread, and so is one that is not JSON by its type', async () => {
    const large = await stage.ask('POST', { body: request({ method: 'x'.repeat(1_100_000) }) });
    const { error } = (await large.json()) as { readonly error: object };
    expect([large.status, error]).toEqual([
      413,
      expect.objectContaining({ data: expect.objectContaining({ code: 'request/too-large' }) }),
    ]);
    const headers = { 'content-type': 'text/plain' };
    expect((await stage.ask('POST', { headers, body: request({ method: 'tools/list' }) })).status).toBe(415);
  });

  it.each(operatorTools)(
    '[V122] arguments of any kind for $name get the envelope and change nothing',
    async ({ name }) => {
      const before = host.acted.length;
      const kinds = fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue()));
      await fc.assert(
        fc.asyncProperty(kinds, async args => {
          const body = request({ method: 'tools/call', params: { name, arguments: args } });
          const answer = (await answered(await stage.ask('POST', { body }))) as {
            readonly status: number;
            readonly error?: object;
            readonly result?: { readonly isError?: boolean; readonly structuredContent?: unknown };
          };
          expect(answer.status).toBeLessThan(500);
          if (answer.error !== undefined) return;
          expect(answer.result?.isError).toBe(true);
          expect(errorEnvelope.parse(answer.result?.structuredContent).code).toBe('VALIDATION_ERROR');
        }),
        { numRuns: 15 },
      );
      expect(host.acted.length).toBe(before);
    },
  );
});

describe('refused callers', () => {
  const body = request({ method: 'tools/list' });
  it('[V95] invalid origin rejected', async () => {
    for (const origin of ['https://evil.example', 'http://127.0.0.1.evil.example', 'null', 'http://localhost:1', 'x']) {
      const refused = await stage.ask('POST', { headers: { origin }, body });
      expect([origin, refused.status, errorEnvelope.parse(await refused.json()).code]).toEqual([
        origin,
        403,
        'request/forbidden',
      ]);
    }
    expect((await stage.ask('POST', { headers: { origin: stage.url }, body })).status).toBe(200);
  });

  it('[V95] invalid auth rejected', async () => {
    for (const authorization of ['', 'Bearer', 'Bearer wrong', 'Basic YTpi', `bearer ${'x'.repeat(5_000)}`]) {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const refused = await stage.ask(method, { headers: { authorization }, ...(method === 'POST' && { body }) });
        expect([method, refused.status, errorEnvelope.parse(await refused.json()).code]).toEqual([
          method,
          401,
          'request/unauthorized',
        ]);
      }
    }
  });
});
