import type { Json } from '@signalbox/model';
import { afterEach, describe, expect, it } from 'vitest';
import type { ModelScript } from './model-script.ts';
import { type ModelServer, startModelServer } from './model-server.ts';

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(script: ModelScript): Promise<ModelServer> {
  server = await startModelServer(script);
  return server;
}

const anthropicKey = { 'x-api-key': 'secret', 'anthropic-version': '2023-06-01' };
const bearer = { authorization: 'Bearer secret' };

async function post(path: string, headers: Readonly<Record<string, string>>, body: Json) {
  const response = await fetch(`${server?.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

const message = (role: string, content: Json): Json => ({ role, content });
const claude = (messages: readonly Json[], system?: string): Json => ({
  ...{ model: 'claude', max_tokens: 10, messages },
  ...(system !== undefined && { system }),
});
const schema = { type: 'object', properties: {} };
const patch = { type: 'custom', name: 'apply_patch', description: 'patches', format: { type: 'grammar' } };
const spawn = { type: 'function', name: 'spawn', description: 'spawns', parameters: schema };
const codex = (tools: readonly Json[], input: Json = 'go', stream = false): Json => ({
  ...{ model: 'gpt', tools, input, stream },
});
const group = (...tools: readonly Json[]): Json => ({ type: 'namespace', name: 'agents', description: '', tools });

describe('requests of real agents', () => {
  it('[U1] may have instructions after a message of the user', async () => {
    const { requests } = await start([{ text: 'hello' }]);
    const result = { type: 'tool_result', tool_use_id: 't1', content: 'done' };
    const { status } = await post(
      '/v1/messages',
      anthropicKey,
      claude(
        [
          message('user', 'go'),
          message('system', 'be quick'),
          message('assistant', [{ type: 'tool_use', id: 't1', name: 'read', input: {} }]),
          message('user', [result]),
          message('system', [{ type: 'text', text: 'be brief' }]),
        ],
        'be good',
      ),
    );
    expect(status).toBe(200);
    expect(requests[0]?.asked).toMatchObject({
      system: 'be good\nbe quick\nbe brief',
      prompt: 'go',
      since: [{ kind: 'result', tool: 'read', text: 'done' }],
      turn: 2,
    });
  });

  it('[U1] may offer tools that take text, tools of a namespace, and tools of the vendor', async () => {
    const { requests } = await start([{ text: 'hello' }, { text: 'hello' }]);
    const vendors = [{ type: 'web_search' }, { type: 'tool_search', parameters: schema }];
    expect((await post('/v1/responses', bearer, codex([patch, group(spawn), ...vendors]))).status).toBe(200);
    const text = { name: 'apply_patch', description: 'patches', schema: {}, takesText: true };
    expect(requests[0]?.asked?.tools).toEqual([
      text,
      { name: 'spawn', namespace: 'agents', description: 'spawns', schema },
    ]);
    const chat = {
      ...{ model: 'gpt', messages: [message('user', 'go')] },
      tools: [{ type: 'custom', custom: { name: 'apply_patch', description: 'patches' } }],
    };
    expect((await post('/v1/chat/completions', bearer, chat)).status).toBe(200);
    expect(requests[1]?.asked?.tools).toEqual([text]);
  });

  it.each([false, true])('[U2] are answered with calls in the form of their tools (streamed: %s)', async stream => {
    const calls = [
      { tool: 'apply_patch', input: '*** Begin' },
      { tool: 'spawn', namespace: 'agents', input: { x: 1 } },
    ];
    const { requests } = await start([{ calls }, { text: 'hello' }, { calls: calls.slice(0, 1) }, { text: 'hello' }]);
    const answered = await post('/v1/responses', bearer, codex([patch, group(spawn)], 'go', stream));
    const [first, second] = itemsIn(answered.text, stream);
    expect(first).toMatchObject({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin' });
    expect(second).toMatchObject({ type: 'function_call', name: 'spawn', namespace: 'agents', arguments: '{"x":1}' });
    const told = [
      message('user', 'go'),
      ...[first, second],
      { type: 'custom_tool_call_output', call_id: 'call_1_0', output: 'patched' },
      { type: 'function_call_output', call_id: 'call_1_1', output: 'spawned' },
    ] as Json[];
    expect((await post('/v1/responses', bearer, codex([patch], told))).status).toBe(200);
    expect(requests[1]?.asked?.since).toEqual([
      { kind: 'result', tool: 'apply_patch', text: 'patched' },
      { kind: 'result', tool: 'spawn', text: 'spawned' },
    ]);

    const tools = [{ type: 'custom', custom: { name: 'apply_patch' } }];
    const chat = { model: 'gpt', messages: [message('user', 'go')], tools, stream };
    const custom = { name: 'apply_patch', input: '*** Begin' };
    const called = chatCallIn((await post('/v1/chat/completions', bearer, chat)).text, stream);
    expect(called).toEqual({ id: 'call_3_0', type: 'custom', custom });
    const messages = [
      message('user', 'go'),
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: 'call_3_0', content: 'patched' },
    ];
    const next = await post('/v1/chat/completions', bearer, { model: 'gpt', messages, tools } as Json);
    expect(next.status).toBe(200);
    expect(requests[3]?.asked?.since).toEqual([{ kind: 'result', tool: 'apply_patch', text: 'patched' }]);
  });

  it('[U3] may list models and count tokens, with a key, and take no reply for it', async () => {
    const { url, requests } = await start([{ text: 'hello' }]);
    const listed = await fetch(`${url}/v1/models`, { headers: bearer });
    expect([listed.status, await listed.json()]).toEqual([200, { object: 'list', data: [], has_more: false }]);
    expect((await fetch(`${url}/v1/models`)).status).toBe(401);
    const counted = await post('/v1/messages/count_tokens', anthropicKey, claude([message('user', 'go')]));
    expect(JSON.parse(counted.text)).toEqual({ input_tokens: 100 });
    expect((await post('/v1/messages/count_tokens', {}, claude([]))).status).toBe(401);
    const path = '/v1beta/models/gemini:countTokens';
    expect(JSON.parse((await post(path, { 'x-goog-api-key': 'secret' }, {})).text)).toEqual({ totalTokens: 100 });
    const { status } = await post('/v1/messages', anthropicKey, claude([message('user', 'go')]));
    expect(status).toBe(200);
    expect(requests.map(request => request.status)).toEqual([200, 401, 200, 401, 200, 200]);
  });

  it.each<readonly [string, string, Json]>([
    ['instructions that come first', 'follow', claude([message('system', 'a'), message('user', 'go')])],
    [
      'instructions after the model',
      'follow',
      claude([message('user', 'go'), message('assistant', 'yes'), message('system', 'a'), message('user', 'go on')]),
    ],
    [
      'instructions that are not text',
      'text',
      claude([message('user', 'go'), message('system', [{ type: 'tool_use', id: 't1', name: 'read', input: {} }])]),
    ],
    ['a tool of an unknown type', 'tools', codex([{ type: 'computer' }])],
    ['an unknown tool in a namespace', 'tools', codex([group({ type: 'web_search' })])],
    ['a name twice in a namespace', 'twice', codex([group(spawn, spawn)])],
    ['a wrong name of a namespace', 'name', codex([{ ...(group(spawn) as object), name: 'a b' }])],
  ])('[U4] are refused with %s', async (_, reason, body) => {
    const { requests } = await start([{ text: 'hello' }]);
    const isClaude = typeof body === 'object' && body !== null && 'max_tokens' in body;
    const path = isClaude ? '/v1/messages' : '/v1/responses';
    expect((await post(path, isClaude ? anthropicKey : bearer, body)).status).toBe(400);
    expect(requests[0]?.refusal).toContain(reason);
  });
});

/** The items of a response. */
function itemsIn(text: string, stream: boolean): readonly Json[] {
  if (!stream) return JSON.parse(text).output;
  const done = eventsIn(text).filter(({ type }) => type === 'response.output_item.done');
  return done.map(({ item }) => item as Json);
}

/** The one call of a chat completion, put together from its deltas. */
function chatCallIn(text: string, stream: boolean): Json {
  if (!stream) return JSON.parse(text).choices[0].message.tool_calls[0];
  const pieces = eventsIn(text).flatMap(({ choices }) => {
    const [choice] = choices as readonly { delta: { tool_calls?: readonly Piece[] } }[];
    return choice?.delta.tool_calls ?? [];
  });
  const [{ index: _, ...first } = {} as Piece, ...rest] = pieces;
  const input = rest.map(({ custom }) => custom.input).join('');
  return { ...first, custom: { ...first.custom, input } } as Json;
}

interface Piece {
  readonly index: number;
  readonly custom: { readonly name?: string; readonly input: string };
}

function eventsIn(text: string): readonly Record<string, unknown>[] {
  return text.split('\n').flatMap(line => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
}
