import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnswerTap, createAnswerTap } from './answer-tap.ts';
import { type WireName, wires } from './wires/index.ts';

const event = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const said = (text: string) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
const start = { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 3, output_tokens: 1 };
const streams: Readonly<Record<WireName, { readonly text: string; readonly told: object; readonly last: boolean }>> = {
  anthropic: {
    text: [
      event({ type: 'message_start', message: { model: 'claude-sonnet-5-5', usage: start } }),
      // What a model says has no effect.
      said('"usage": {"output_tokens": 9999} "message_stop" [DONE]'),
      event({ type: 'message_delta', delta: {}, usage: { output_tokens: 20 } }),
      event({ type: 'message_stop' }),
    ].join(''),
    told: { model: 'claude-sonnet-5-5', input: 18, output: 20, cached: 5, cacheWrite: 3 },
    last: true,
  },
  'openai-responses': {
    text: [
      event({ type: 'response.output_text.delta', delta: '"response.completed" "usage"' }),
      event({
        type: 'response.completed',
        response: {
          model: 'gpt-5.5',
          output: [],
          usage: { input_tokens: 18, input_tokens_details: { cached_tokens: 5 }, output_tokens: 20 },
        },
      }),
    ].join(''),
    told: { model: 'gpt-5.5', input: 18, output: 20, cached: 5 },
    last: true,
  },
  'openai-chat': {
    text: [
      event({ model: 'gpt-4o', choices: [{ delta: { content: '[DONE]' } }], usage: null }),
      event({
        ...{ model: 'gpt-4o', choices: [] },
        usage: { prompt_tokens: 18, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 5 } },
      }),
      event('[DONE]'),
    ].join(''),
    told: { model: 'gpt-4o', input: 18, output: 20, cached: 5 },
    last: true,
  },
  google: {
    text: [
      event({ candidates: [], modelVersion: 'gemini-2.5-flash', usageMetadata: { promptTokenCount: 18 } }),
      event({
        ...{ candidates: [{ finishReason: 'STOP' }], modelVersion: 'gemini-2.5-flash' },
        usageMetadata: {
          ...{ promptTokenCount: 18, cachedContentTokenCount: 5 },
          ...{ candidatesTokenCount: 12, thoughtsTokenCount: 8 },
        },
      }),
    ].join(''),
    told: { model: 'gemini-2.5-flash', input: 18, output: 20, cached: 5 },
    last: false,
  },
};

/** Gives a tap a text in pieces; returns at which piece it said that the client waits for nothing more. */
function feed(tap: AnswerTap, text: string, cuts: readonly number[]): number | undefined {
  const bytes = Buffer.from(text);
  const at = [...new Set([0, ...cuts.map(cut => cut % bytes.length), bytes.length])].toSorted((a, b) => a - b);
  let last: number | undefined;
  for (const [index, from] of at.slice(0, -1).entries())
    if (tap.take(bytes.subarray(from, at[index + 1]))) last ??= at[index + 1];
  tap.end();
  return last;
}

describe('the spending of an answer', () => {
  it.each(Object.entries(streams))(
    '[A1101] is read from a stream of %s, however it is cut',
    (name, { text, told, last }) => {
      fc.assert(
        fc.property(fc.array(fc.nat(), { maxLength: 40 }), cuts => {
          const tap = createAnswerTap(wires[name as WireName], 'events');
          const ended = feed(tap, text, cuts);
          expect(tap.told()).toEqual(told);
          // Never before the event that ends it is there; the empty line after it may be missing.
          if (last) expect(ended).toBeGreaterThanOrEqual(Buffer.byteLength(text) - 1);
          else expect(ended).toBeUndefined();
        }),
        { numRuns: 200 },
      );
    },
  );

  it('[A1101] is read from a body that is not streamed, and from an array of events', () => {
    const json = (body: unknown, wire: WireName) => {
      const tap = createAnswerTap(wires[wire], 'json');
      feed(tap, JSON.stringify(body), [7, 50]);
      return tap.told();
    };
    expect(
      json({ model: 'claude-sonnet-5-5', content: [], usage: { input_tokens: 4, output_tokens: 2 } }, 'anthropic'),
    ).toEqual({
      ...{ model: 'claude-sonnet-5-5', input: 4, output: 2 },
    });
    expect(json([{}, { usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2 } }], 'google')).toEqual({
      ...{ input: 4, output: 2 },
    });
    expect(json({ error: { message: 'no' } }, 'openai-chat')).toEqual({});
  });

  it('[A1101] is read from an event of megabytes, of which only the end is kept', () => {
    const tap = createAnswerTap(wires['openai-responses'], 'events');
    const output = 'x'.repeat(3_000_000);
    const usage = { input_tokens: 7, output_tokens: 900_000 };
    const cuts = Array.from({ length: 50 }, (_, at) => at * 65_536);
    const text = event({ type: 'response.completed', response: { output, model: 'gpt-5.5', usage } });
    expect(feed(tap, text, cuts)).toBeDefined();
    expect(tap.told()).toEqual({ input: 7, output: 900_000 });
  });

  it('[A1101] is estimated from what came if a stream is cut before it tells', () => {
    const tap = createAnswerTap(wires.anthropic, 'events');
    const text = said('abcdef').repeat(5_000);
    feed(tap, text, [1_000, 100_000]);
    expect(tap.told()).toEqual({});
    // Two tokens for each event, of which there are five thousand.
    expect(Math.abs(tap.estimatedOutput() - 10_000)).toBeLessThan(200);
  });

  it('[A1101] is not read from anything malformed, which passes all the same', () => {
    const tap = createAnswerTap(wires.anthropic, 'events');
    feed(tap, 'data: {"usage": {"output_tokens": oops\n\ndata: "usage"\n\n\0\xff{{{{"message_stop"', [3, 9]);
    expect(tap.told()).toEqual({});
  });
});
