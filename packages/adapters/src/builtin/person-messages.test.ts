import { describe, expect, it } from 'vitest';
import { nextStep } from './next-step.ts';
import { promptOf } from './prompt.ts';
import { lastConversation, type TranscriptEntry } from './transcript.ts';

const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, toolCalls: 0, costMicroUsd: 0, wallMs: 1 };
const begun: TranscriptEntry = { v: 1, kind: 'begun', model: 'm', priceKnown: true };
const said = (text: string): TranscriptEntry => ({ v: 1, kind: 'assistant', content: [{ type: 'text', text }], usage });
const person: TranscriptEntry = { v: 1, kind: 'person', id: '1', text: 'Look again.', by: 'ada' };
const heard: TranscriptEntry = { v: 1, kind: 'heard', messages: [{ id: '1', text: 'Look again.', by: 'ada' }] };
const assignment = { node: 'n' as never, maxTurns: 3, prompt: 'Do it.' };
const form = { kind: 'text' } as const;

const conversationOf = (entries: readonly TranscriptEntry[]) => {
  const found = lastConversation(entries, 't');
  if (found === undefined) throw new Error('no conversation');
  return found;
};
const textsOf = (entries: readonly TranscriptEntry[]) =>
  promptOf(conversationOf(entries), assignment, 'system').flatMap(({ role, content }) =>
    typeof content === 'string' ? [] : content.flatMap(part => ('text' in part ? [`${role}: ${part.text}`] : [])),
  );
const TOLD = 'user: [A message from ada, who watches this task:]\nLook again.';

describe('messages of a person to the built-in agent', () => {
  it('[A1072] are part of the conversation from where the agent was told them', () => {
    expect(textsOf([person, begun, heard, said('one')])).toEqual(['user: Do it.', TOLD, 'assistant: one']);
    expect(textsOf([begun, said('one'), person, heard])).toEqual(['user: Do it.', 'assistant: one', TOLD]);
    expect(textsOf([begun, person, said('one')])).toEqual(['user: Do it.', 'assistant: one']);
    // A conversation that begins again was told before.
    expect(textsOf([begun, said('one'), heard, begun])).toEqual(['user: Do it.', TOLD]);
  });

  it('[A1072] ask for another answer, if there is room for a turn', () => {
    const after = (entries: readonly TranscriptEntry[]) => nextStep(conversationOf(entries), 2, assignment, form);
    expect(after([begun, said('one')])).toEqual({ kind: 'done', output: 'one' });
    expect(after([begun, said('one'), heard])).toEqual({ kind: 'ask-model' });
    expect(after([begun, said('one'), heard, said('two')])).toEqual({ kind: 'done', output: 'two' });
    expect(after([begun, said('one'), said('two'), said('three'), heard])).toEqual({ kind: 'done', output: 'three' });
  });

  it('[A1072] do not end the wait for an answer', () => {
    const waiting: TranscriptEntry = { v: 1, kind: 'waiting', calls: [] };
    expect(conversationOf([begun, said('one'), waiting, person]).waits).toBe(true);
  });
});
