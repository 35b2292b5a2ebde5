import { gzipSync } from 'node:zlib';
import type { JsonObject } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { estimateInput, requestBody } from './call-estimate.ts';
import { wires } from './wires/index.ts';

const pixels = 'A'.repeat(30_000);
const long = 30_000 / 3;
const anthropic = (...content: readonly JsonObject[]) => ({ messages: [{ role: 'user', content: [...content] }] });

describe('the estimate of a call', () => {
  it('[A1307] counts an image as one where its provider sees one', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixels } };
    const url = `data:image/png;base64,${pixels}`;
    for (const body of [
      anthropic(image),
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] },
      { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: pixels } }] }] },
    ]) {
      expect(estimateInput(body)).toBeGreaterThan(3000);
      expect(estimateInput(body)).toBeLessThan(3200);
    }
  });

  it.each<[string, JsonObject]>([
    ['text that begins like one', anthropic({ type: 'text', text: `data:image/png;base64,${pixels}` })],
    ['the input of a tool', anthropic({ type: 'tool_use', input: { media_type: 'image/png', data: pixels } })],
    [
      'the description of a tool',
      { tools: [{ input_schema: { image_url: { url: `data:image/png;base64,${pixels}` } } }] },
    ],
    ['one that is not base64', anthropic({ source: { media_type: 'image/png', data: `${pixels} and text` } })],
    [
      'arguments of a function',
      { contents: [{ parts: [{ functionCall: { args: { mimeType: 'image/png', data: pixels } } }] }] },
    ],
  ])('[A1307] counts as text what only looks like an image: %s', (_, body) => {
    expect(estimateInput(body)).toBeGreaterThan(long);
  });

  it.each<[string, JsonObject]>([
    ['a response', { input: 'go on', previous_response_id: 'resp_1' }],
    ['a conversation', { input: 'go on', conversation: 'conv_1' }],
    ['a cache', { contents: [], cachedContent: 'cachedContents/1' }],
    ['a file', { input: [{ content: [{ type: 'input_file', file_id: 'file_1' }] }] }],
    ['a file of Google', { contents: [{ parts: [{ file_data: { file_uri: 'https://example.com/1' } }] }] }],
    ['a document elsewhere', anthropic({ type: 'document', source: { type: 'url', url: 'https://example.com/1' } })],
  ])('[A1307] reserves a whole context for what the provider has kept: %s', (_, body) => {
    expect(estimateInput(body)).toBeGreaterThan(200_000);
  });

  it('[A1307] knows the longest answers of every format, however they are named, and how many there may be', () => {
    const { anthropic: messages, 'openai-chat': chat, 'openai-responses': responses, google } = wires;
    const longest = (wire: typeof google, body: JsonObject) => [wire.maxOutput(body), wire.answers(body)];
    expect(longest(messages, { max_tokens: 5 })).toEqual([5, 1]);
    expect(longest(responses, { max_output_tokens: 7 })).toEqual([7, 1]);
    expect(longest(responses, {})).toEqual([undefined, 1]);
    expect(longest(chat, { max_tokens: 9, max_completion_tokens: 6, n: 4 })).toEqual([9, 4]);
    expect(longest(google, { generationConfig: { maxOutputTokens: 3, candidateCount: 2 } })).toEqual([3, 2]);
    expect(longest(google, { generation_config: { max_output_tokens: 8, candidate_count: 3 } })).toEqual([8, 3]);
    for (const given of ['64000', -1, 1.5, {}, true]) expect(messages.maxOutput({ max_tokens: given })).toBeNaN();
  });

  it('[A1307] reads only one JSON object, however it is packed once', () => {
    const text = Buffer.from('{"max_tokens":5}');
    expect(requestBody(text, undefined)).toEqual({ max_tokens: 5 });
    expect(requestBody(gzipSync(text), 'GZIP')).toEqual({ max_tokens: 5 });
    expect(requestBody(gzipSync(gzipSync(text)), 'gzip, gzip')).toBeUndefined();
    for (const other of ['[{}]', '5', 'null', '{"a":', '']) expect(requestBody(Buffer.from(other), '')).toBeUndefined();
    expect(requestBody(gzipSync(Buffer.alloc(70_000_000, ' ')), 'gzip')).toBeUndefined();
  });
});
