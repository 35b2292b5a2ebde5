import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createAnswerTap } from './answer-tap.ts';
import { sentTap } from './decoded-tap.ts';
import { wires } from './wires/index.ts';

const text = [
  `data: ${JSON.stringify({ type: 'message_start', message: { model: 'm', usage: { input_tokens: 7, output_tokens: 1 } } })}\n\n`,
  ...Array.from({ length: 500 }, (_, at) => `data: ${JSON.stringify({ type: 'content_block_delta', at })}\n\n`),
  `data: ${JSON.stringify({ type: 'message_delta', usage: { output_tokens: 9 } })}\n\n`,
  'data: {"type":"message_stop"}\n\n',
].join('');

describe('an answer that is compressed', () => {
  it.each([
    ['gzip', gzipSync(text)],
    ['br', brotliCompressSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['identity', Buffer.from(text)],
  ])('[A1101] is read as it flows past: %s', async (encoding, bytes) => {
    const tap = createAnswerTap(wires.anthropic, 'events');
    const sent = sentTap(tap, encoding);
    let isLast = false;
    for (let at = 0; at < bytes.length; at += 100) isLast = (await sent?.take(bytes.subarray(at, at + 100))) === true;
    expect(isLast).toBe(true);
    await sent?.end();
    expect(tap.told()).toEqual({ model: 'm', input: 7, output: 9 });
  });

  it('[A1101] is left alone if it cannot be read', async () => {
    const tap = createAnswerTap(wires.anthropic, 'events');
    expect(sentTap(tap, 'rot13')).toBeUndefined();
    const broken = sentTap(tap, 'gzip');
    expect(await broken?.take(Buffer.from('this is no gzip'))).toBe(false);
    expect(await broken?.take(Buffer.from('nor this'))).toBe(false);
    await broken?.end();
    expect(tap.told()).toEqual({});
  });
});
