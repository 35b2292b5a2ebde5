import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { json, ok } from '@signalbox/model';
import { defineTool, succeed } from '@signalbox/state';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { assignmentOf, createTestRunner, createWorld } from './builders.ts';
import { createMemoryTask } from './memory-session.ts';

const usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};
const stop: LanguageModelV4StreamPart = { type: 'finish', usage, finishReason: { unified: 'stop', raw: undefined } };
const text = (delta: string): LanguageModelV4StreamPart => ({ type: 'text-delta', id: '1', delta });
const call = (input: string, toolName = 'read_file'): LanguageModelV4StreamPart => ({
  type: 'tool-call',
  toolCallId: 'c',
  toolName,
  input,
});

/** A model that streams one list of parts for each turn, whatever is asked. */
function streaming(...turns: readonly (readonly unknown[])[]): LanguageModelV4 {
  let turn = 0;
  return {
    specificationVersion: 'v4',
    provider: 'garbage',
    modelId: 'garbage',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not asked for')),
    async doStream() {
      return { stream: ReadableStream.from((turns[turn++] ?? [text('Enough.'), stop]) as LanguageModelV4StreamPart[]) };
    },
  };
}

async function run(model: LanguageModelV4, fields: Parameters<typeof assignmentOf>[0] = {}, world = createWorld()) {
  const task = createMemoryTask();
  const runner = createTestRunner({
    world,
    modelOf: async () => ok({ name: { provider: 'garbage', model: 'garbage' }, model, secrets: [] }),
  });
  const outcome = await runner.run(assignmentOf(fields), task.session());
  // Whatever a model says, what is kept and handed on is plain data.
  expect(json.safeParse([task.kept, outcome, [...task.spent.values()]]).success).toBe(true);
  return { outcome, task };
}

const deep = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;

describe('a model that makes no sense', () => {
  it.each([
    ['nothing', []],
    ['only an end', [stop]],
    ['only thoughts', [{ type: 'reasoning-delta', id: '1', delta: 'hm' }, stop]],
    ['no end', [text('Hello')]],
    ['an error that is nothing', [text('Hello'), { type: 'error', error: undefined }]],
    ['an error that is a text', [{ type: 'error', error: 'oops' }]],
  ])('[B23] and sends %s may be asked again', async (_, parts) => {
    expect((await run(streaming(parts))).outcome).toMatchObject({ kind: 'failed', error: { class: 'retryable' } });
  });

  it.each([
    ['a stray half of a character', [text('a\ud800b'), stop]],
    ['parts of no known kind', [{ type: 'surprise' }, { type: 'raw', rawValue: 1n }, text('a'), stop]],
    ['two ends', [text('a'), stop, stop]],
    ['blocks without a beginning', [{ type: 'text-end', id: '9' }, text('a'), stop]],
  ])('[B7] and sends %s is understood all the same', async (_, parts) => {
    expect((await run(streaming(parts))).outcome).toMatchObject({ kind: 'done', output: expect.stringMatching(/^a/) });
  });

  it.each([
    'null',
    '[]',
    '7',
    '"text"',
    '{',
    '',
    deep(600),
    deep(200_000),
    '{"path":"\\ud800"}',
    '{"__proto__":{"path":"a"}}',
  ])('[B9] and calls with the input %.20s is told so', async input => {
    const { outcome, task } = await run(streaming([call(input), stop]));
    expect(outcome).toEqual({ kind: 'done', output: 'Enough.' });
    expect(task.kept).toContainEqual(
      expect.objectContaining({ kind: 'tool_ended', status: expect.stringMatching(/refused|failed/) }),
    );
  });

  it.each(['', 'constructor', '__proto__', '\ud800', 'x'.repeat(10_000)])(
    '[B9] and calls %.20s is told so',
    async name => {
      const { outcome, task } = await run(streaming([call('{}', name), stop]));
      expect(outcome).toEqual({ kind: 'done', output: 'Enough.' });
      expect(task.kept).toContainEqual(expect.objectContaining({ kind: 'tool_ended', status: 'refused' }));
    },
  );

  it.each(['nothing', 'null', deep(600), '{"ok":"\\udfff"}', '{"ok":1}'])(
    '[B19] and answers %.20s has to answer again',
    async said => {
      const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
      const fields = { schema, tools: { allow: [] } };
      const { outcome } = await run(streaming([text(said), stop], [text('{"ok":true}'), stop]), fields);
      expect(outcome).toEqual({ kind: 'done', output: { ok: true } });
    },
  );

  it.each<[string, () => unknown]>([
    ['a text', () => Promise.reject('odd')],
    ['nothing', () => Promise.reject(undefined)],
    ['an error', () => Promise.reject(new Error('odd'))],
  ])('[B23] and refuses with %s ends the task', async (_, doStream) => {
    const model = { ...streaming(), doStream: doStream as LanguageModelV4['doStream'] };
    expect((await run(model)).outcome).toMatchObject({ kind: 'failed', error: { class: 'terminal' } });
  });

  it('[B27] and reports no tokens is counted by what was said', async () => {
    const { task } = await run(streaming([text('Three words here.'), stop]));
    const [spent] = [...task.spent.values()];
    expect([(spent?.inputTokens ?? 0) > 100, (spent?.outputTokens ?? 0) > 5]).toEqual([true, true]);
    expect(task.kept[1]).toMatchObject({ usage: { estimated: true } });
  });
});

it('[B9] a tool whose answer cannot be handed on has taken effect', async () => {
  let nested: unknown = null;
  for (let level = 0; level < 600; level++) nested = [nested];
  const odd = defineTool({
    name: 'odd',
    description: 'Odd.',
    input: z.strictObject({}),
    output: z.unknown(),
    risk: 'low',
    effects: { kind: 'none' },
    handler: () => succeed(nested),
  });
  const { outcome, task } = await run(streaming([call('{}', 'odd'), stop]), {}, createWorld({ more: [odd] }));
  expect(outcome).toEqual({ kind: 'done', output: 'Enough.' });
  expect(task.kept).toContainEqual(expect.objectContaining({ kind: 'tool_ended', status: 'succeeded' }));
});
