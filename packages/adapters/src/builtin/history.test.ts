import { describe, expect, it } from 'vitest';
import { assignmentOf } from '../../test/builders.ts';
import { promptOf } from './prompt.ts';
import { estimateTokens } from './token-estimate.ts';
import { lastConversation, type TranscriptEntry } from './transcript.ts';

const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, toolCalls: 1, costMicroUsd: 0, wallMs: 0 };

/** A conversation of turns with one call each. */
function conversation(turns: number) {
  const entries: TranscriptEntry[] = [{ v: 1, kind: 'begun', model: 'm', priceKnown: true }];
  for (let turn = 1; turn <= turns; turn++) {
    const part = { type: 'tool-call' as const, toolCallId: `c${turn}`, toolName: 'look', input: { at: turn } };
    entries.push({ v: 1, kind: 'assistant', content: [{ type: 'text', text: `Turn ${turn}.` }, part], usage });
    const output = { type: 'json' as const, value: 'x'.repeat(30) };
    entries.push({
      v: 1,
      kind: 'tool_ended',
      call: `t/1/${turn}/0`,
      tool: 'look',
      status: 'succeeded',
      output,
      ms: 0,
      approval: 'not-needed',
    });
  }
  const found = lastConversation(entries, 't');
  if (found === undefined) throw new Error('no conversation');
  return found;
}

const rolesOf = (turns: number, history: { maxMessages?: number; maxTokens?: number }) =>
  promptOf(conversation(turns), assignmentOf({ history }), 'the system').map(message => message.role);

describe('a history with limits', () => {
  it('[B21] keeps the system, the prompt and the newest turns, whole', () => {
    expect(rolesOf(3, {})).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool']);
    expect(rolesOf(3, { maxMessages: 5 })).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'tool']);
    expect(rolesOf(3, { maxMessages: 4 })).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(rolesOf(3, { maxMessages: 1 })).toEqual(['system', 'user', 'assistant', 'tool']);
  });

  it('[B21] says what was left out', () => {
    const [, user, assistant] = promptOf(conversation(3), assignmentOf({ history: { maxMessages: 3 } }), 'the system');
    expect(user).toMatchObject({
      content: [
        { text: 'Build it.' },
        { text: expect.stringContaining('first 2 turns of this conversation were left out') },
      ],
    });
    expect(assistant).toMatchObject({ content: [{ text: 'Turn 3.' }, { toolCallId: 'c3' }] });
    expect(JSON.stringify(promptOf(conversation(3), assignmentOf(), 's'))).not.toContain('left out');
  });

  it('[B21] can be limited by tokens, which are rather counted too high', () => {
    const turn = rolesOf(1, {}).length;
    expect(rolesOf(5, { maxTokens: 1 })).toHaveLength(turn);
    expect(rolesOf(5, { maxTokens: 1_000_000 })).toHaveLength(2 + 10);
    const some = rolesOf(5, { maxTokens: 300 }).length;
    expect([some > turn, some < 12]).toEqual([true, true]);
    expect([estimateTokens('four words of English'), estimateTokens('中文字'), estimateTokens('')]).toEqual([7, 3, 0]);
  });

  it('[B21] comes out the same every time', () => {
    const prompts = [1, 2].map(() => promptOf(conversation(4), assignmentOf({ history: { maxMessages: 6 } }), 's'));
    expect(prompts[0]).toEqual(prompts[1]);
  });
});
