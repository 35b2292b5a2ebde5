import { generateText, jsonSchema, Output, streamText, type ToolSet } from 'ai';
import { describe, expect, it } from 'vitest';
import { parseModelScript } from './model-script.ts';
import { createScriptedModel } from './scripted-model.ts';

function model(...rules: readonly object[]) {
  const script = parseModelScript(JSON.stringify({ version: 1, rules }));
  if (!script.ok) throw new Error(script.error);
  return createScriptedModel('script.json', script.value);
}

const schema = jsonSchema<{ at: string }>({ type: 'object', properties: { at: { type: 'string' } } });
const looking = (execute?: () => Promise<string>) =>
  ({ look: { description: 'Looks.', inputSchema: schema, ...(execute && { execute }) } }) as ToolSet;

describe('the scripted model', () => {
  it('[B4] says the same, streamed and whole', async () => {
    const scripted = model({
      thinking: 'Let me see.',
      text: 'I  look at\ntwo things. ',
      calls: [
        { tool: 'look', input: { at: 'a' } },
        { tool: 'look', input: { at: 'b' } },
      ],
      usage: { input: 7, output: 3, cached: 2 },
    });
    const asked = { model: scripted, prompt: 'Go.', tools: looking() };
    const whole = await generateText(asked);
    const streamed = streamText(asked);
    const seen = {
      text: await streamed.text,
      thinking: await streamed.reasoningText,
      calls: (await streamed.toolCalls).map(call => call.input),
      finish: await streamed.finishReason,
      tokens: (await streamed.usage).totalTokens,
    };
    expect(seen).toEqual({
      text: 'I  look at\ntwo things. ',
      thinking: 'Let me see.',
      calls: [{ at: 'a' }, { at: 'b' }],
      finish: 'tool-calls',
      tokens: 10,
    });
    expect(seen).toEqual({
      text: whole.text,
      thinking: whole.reasoningText,
      calls: whole.toolCalls.map(call => call.input),
      finish: whole.finishReason,
      tokens: whole.usage.totalTokens,
    });
  });

  it('[B4] answers with the first rule that fits', async () => {
    const scripted = model(
      { when: { toolResult: 'look', lastMatches: 'a fox' }, text: 'It is a fox.' },
      { when: { toolResult: 'look' }, text: 'It is something else.' },
      { when: { promptMatches: '^find', turn: 1 }, calls: [{ tool: 'look', input: { at: 'a' } }] },
      { when: { systemMatches: 'verse' }, text: 'A rhyme.' },
      { text: 'Anything.' },
    );
    const ask = async (prompt: string, system = '', found = '') => {
      const { text } = await generateText({
        model: scripted,
        prompt,
        ...(system && { system }),
        tools: looking(async () => found),
        stopWhen: ({ steps }) => steps.length === 2,
      });
      return text;
    };
    expect([
      await ask('find it', '', 'there is a fox'),
      await ask('find it', '', 'there is a hen'),
      await ask('hello', 'in verse'),
      await ask('hello'),
    ]).toEqual(['It is a fox.', 'It is something else.', 'A rhyme.', 'Anything.']);
  });

  it('[B4] gives an output in the form that is asked for', async () => {
    const { output } = await generateText({
      model: model({ output: { ok: true } }),
      prompt: 'Go.',
      output: Output.object({
        schema: jsonSchema<{ ok: boolean }>({ type: 'object', properties: { ok: { type: 'boolean' } } }),
      }),
    });
    expect(output).toEqual({ ok: true });
  });

  it('[B5] shows what was asked where no rule fits', async () => {
    const asking = generateText({ model: model({ when: { turn: 2 }, text: 'x' }), prompt: 'Make tea.', maxRetries: 0 });
    await expect(asking).rejects.toThrow(/No rule of the script script\.json fits turn 1\. The prompt: "Make tea\."/);
  });
});
