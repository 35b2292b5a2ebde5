import type { Json } from '@signalbox/model';
import { afterEach, describe, expect, it } from 'vitest';
import type { ModelScript, ModelVendor } from './model-script.ts';
import { type ModelServer, type ModelServerOptions, startModelServer } from './model-server.ts';

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(script: ModelScript, options?: ModelServerOptions): Promise<ModelServer> {
  server = await startModelServer(script, options);
  return server;
}

/** A conversation in each vendor's own words: a prompt, and perhaps a turn with two calls and what was answered to them. */
interface Dialect {
  readonly vendor: ModelVendor;
  path(stream: boolean): string;
  readonly headers: Readonly<Record<string, string>>;
  body(turns: { readonly calls: number; readonly results: number } | undefined, stream: boolean): Json;
  textOf(body: Json): unknown;
  refusalOf(body: Json): unknown;
}

const schema = { type: 'object', properties: { path: { type: 'string' } } };
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const at = (body: Json, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)?.[key], body);

const dialects: readonly Dialect[] = [
  {
    vendor: 'anthropic',
    path: () => '/v1/messages',
    headers: { 'x-api-key': 'secret', 'anthropic-version': '2023-06-01' },
    body: (turns, stream) => ({
      model: 'claude',
      max_tokens: 100,
      stream,
      system: 'be good',
      tools: [{ name: 'read', description: 'reads', input_schema: schema }],
      messages: [
        { role: 'user', content: 'go' },
        ...(turns === undefined
          ? []
          : [
              {
                role: 'assistant',
                content: upTo(turns.calls).map(id => ({ type: 'tool_use', id: `t${id}`, name: 'read', input: {} })),
              },
              {
                role: 'user',
                content: [
                  ...upTo(turns.results).map(id => ({ type: 'tool_result', tool_use_id: `t${id}`, content: `r${id}` })),
                  { type: 'text', text: 'go on' },
                ],
              },
            ]),
      ],
    }),
    textOf: body => at(body, 'content', 0, 'text'),
    refusalOf: body => [at(body, 'type'), at(body, 'error', 'type')],
  },
  {
    vendor: 'openai-responses',
    path: () => '/v1/responses',
    headers: { authorization: 'Bearer secret' },
    body: (turns, stream) => ({
      model: 'gpt',
      stream,
      instructions: 'be good',
      tools: [{ type: 'function', name: 'read', description: 'reads', parameters: schema }],
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'go' }] },
        ...(turns === undefined
          ? []
          : [
              ...upTo(turns.calls).map(id => ({
                type: 'function_call',
                call_id: `t${id}`,
                name: 'read',
                arguments: '{}',
              })),
              ...upTo(turns.results).map(id => ({ type: 'function_call_output', call_id: `t${id}`, output: `r${id}` })),
              { role: 'user', content: [{ type: 'input_text', text: 'go on' }] },
            ]),
      ],
    }),
    textOf: body => at(body, 'output', 0, 'content', 0, 'text'),
    refusalOf: body => at(body, 'error', 'type'),
  },
  {
    vendor: 'openai-chat',
    path: () => '/v1/chat/completions',
    headers: { authorization: 'Bearer secret' },
    body: (turns, stream) => ({
      model: 'gpt',
      stream,
      tools: [{ type: 'function', function: { name: 'read', description: 'reads', parameters: schema } }],
      messages: [
        { role: 'system', content: 'be good' },
        { role: 'user', content: 'go' },
        ...(turns === undefined
          ? []
          : [
              {
                role: 'assistant',
                content: null,
                tool_calls: upTo(turns.calls).map(id => ({
                  id: `t${id}`,
                  type: 'function',
                  function: { name: 'read', arguments: '{}' },
                })),
              },
              ...upTo(turns.results).map(id => ({ role: 'tool', tool_call_id: `t${id}`, content: `r${id}` })),
              { role: 'user', content: 'go on' },
            ]),
      ],
    }),
    textOf: body => at(body, 'choices', 0, 'message', 'content'),
    refusalOf: body => at(body, 'error', 'type'),
  },
  {
    vendor: 'google',
    path: stream => `/v1beta/models/gemini:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    headers: { 'x-goog-api-key': 'secret' },
    body: turns => ({
      systemInstruction: { parts: [{ text: 'be good' }] },
      tools: [{ functionDeclarations: [{ name: 'read', description: 'reads', parameters: schema }] }],
      contents: [
        { role: 'user', parts: [{ text: 'go' }] },
        ...(turns === undefined
          ? []
          : [
              {
                role: 'model',
                parts: upTo(turns.calls).map(id => ({
                  functionCall: { name: 'read', args: {} },
                  ...(id === 0 && { thoughtSignature: 'c2lnbmVkLWJ5LXRoZS1tb2RlbC1zZXJ2ZXI=' }),
                })),
              },
              {
                role: 'user',
                parts: [
                  ...upTo(turns.results).map(id => ({
                    functionResponse: { name: 'read', response: { content: `r${id}` } },
                  })),
                  { text: 'go on' },
                ],
              },
            ]),
      ],
    }),
    textOf: body => at(body, 'candidates', 0, 'content', 'parts', 0, 'text'),
    refusalOf: body => at(body, 'error', 'status'),
  },
];

async function post(
  dialect: Dialect,
  body: Json,
  { stream = false, headers = dialect.headers }: { stream?: boolean; headers?: Readonly<Record<string, string>> } = {},
) {
  if (server === undefined) throw new Error('no server');
  const response = await fetch(`${server.url}${dialect.path(stream)}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { response, text: await response.text() };
}

describe.each(dialects)('the model server in the words of $vendor', dialect => {
  it('answers what the script says, and tells it what was asked', async () => {
    const { requests } = await start([{ text: 'hello', usage: { input: 7 } }]);
    const { response, text } = await post(dialect, dialect.body({ calls: 2, results: 2 }, false));
    expect([response.status, dialect.textOf(JSON.parse(text))]).toEqual([200, 'hello']);
    expect(requests[0]?.asked).toEqual({
      vendor: dialect.vendor,
      model: expect.any(String),
      system: 'be good',
      prompt: 'go',
      since: [
        { kind: 'result', tool: 'read', text: expect.stringContaining('r0') },
        { kind: 'result', tool: 'read', text: expect.stringContaining('r1') },
        { kind: 'text', text: 'go on' },
      ],
      tools: [{ name: 'read', description: 'reads', schema }],
      turn: 2,
      call: 1,
      stream: false,
      wantsJson: false,
    });
  });

  it('streams a text in the deltas of the script', async () => {
    await start([{ text: ['one ', 'two'] }]);
    const { response, text } = await post(dialect, dialect.body(undefined, true), { stream: true });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(text.match(/"(text|delta|content)":"(one |two)"/g)).toHaveLength(2);
  });

  it('records requests without the values of keys', async () => {
    const { requests } = await start([{ text: 'hello' }]);
    await post(dialect, dialect.body(undefined, false));
    expect(JSON.stringify(requests)).not.toContain('secret');
    expect(Object.values(requests[0]?.headers ?? {})).toContain('[set]');
    expect(requests[0]).toMatchObject({ method: 'POST', body: dialect.body(undefined, false), status: 200 });
  });

  it.each([
    ['no key', undefined, 401],
    ['a call without a result', { calls: 2, results: 1 }, 400],
    ['a result without a call', { calls: 1, results: 2 }, 400],
    ['a body of another form', 'body', 400],
  ] as const)('refuses %s as the vendor does', async (_, wrong, status) => {
    const { requests } = await start([{ text: 'hello' }]);
    const body = wrong === 'body' ? { model: 7 } : dialect.body(wrong, false);
    const { response, text } = await post(dialect, body, status === 401 ? { headers: {} } : {});
    expect(response.status).toBe(status);
    const { vendor } = dialect;
    const authentication = status === 401;
    const expected = {
      anthropic: ['error', authentication ? 'authentication_error' : 'invalid_request_error'],
      'openai-responses': 'invalid_request_error',
      'openai-chat': 'invalid_request_error',
      google: authentication ? 'UNAUTHENTICATED' : 'INVALID_ARGUMENT',
    };
    expect(dialect.refusalOf(JSON.parse(text))).toEqual(expected[vendor]);
    expect(requests[0]?.refusal).toEqual(expect.any(String));
  });

  it.each([
    ['a name with a space', '"read"', '"read it"'],
    ['a schema of no object', '"type":"object"', '"type":"string"'],
  ])('refuses a tool with %s', async (_, good, bad) => {
    const { requests } = await start([{ text: 'hello' }]);
    const body = JSON.stringify(dialect.body(undefined, false)).replace(good, bad);
    expect((await post(dialect, JSON.parse(body))).response.status).toBe(400);
    expect(requests[0]?.refusal).toContain('tools: ');
  });

  it('refuses what the script does not have, and more calls than allowed', async () => {
    await start([{ text: 'only one' }]);
    expect((await post(dialect, dialect.body(undefined, false))).response.status).toBe(200);
    expect((await post(dialect, dialect.body(undefined, false))).response.status).toBe(400);
    await server?.close();
    await start(() => ({ text: 'for ever' }), { maxCalls: 2 });
    const statuses = [];
    for (let call = 0; call < 3; call++)
      statuses.push((await post(dialect, dialect.body(undefined, false))).response.status);
    expect(statuses).toEqual([200, 200, 400]);
  });

  it('fails as the script says: refusals, broken JSON, streams that are cut or stall', async () => {
    const running = await start([
      { status: 429, retryAfter: '7' },
      { text: 'hello', fault: { kind: 'malformed' } },
      { text: ['a', 'b', 'c'], fault: { kind: 'cut', after: 2 } },
      { text: ['a', 'b', 'c'], fault: { kind: 'stall', after: 2 } },
      { text: 'late', fault: { kind: 'slow-start' } },
    ]);
    const refused = await post(dialect, dialect.body(undefined, false));
    expect([refused.response.status, refused.response.headers.get('retry-after')]).toEqual([429, '7']);
    const broken = await post(dialect, dialect.body(undefined, false));
    expect(() => JSON.parse(broken.text)).toThrow();
    await expect(post(dialect, dialect.body(undefined, true), { stream: true })).rejects.toThrow('terminated');
    let ended = false;
    const stalled = post(dialect, dialect.body(undefined, true), { stream: true }).finally(() => {
      ended = true;
    });
    await running.holding();
    expect(ended).toBe(false);
    running.release();
    expect((await stalled).response.status).toBe(200);
    const slow = post(dialect, dialect.body(undefined, false));
    await running.holding();
    running.release();
    expect((await slow).response.status).toBe(200);
  });
});

it('a path of no vendor is not found', async () => {
  const { url, requests } = await start([]);
  expect((await fetch(`${url}/v1/nothing`, { method: 'POST', body: '{}' })).status).toBe(404);
  expect(requests[0]).toMatchObject({ path: '/v1/nothing', status: 404 });
});
