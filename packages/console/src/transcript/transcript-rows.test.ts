import type { Json, WireChunk, WireDecision } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { transcriptOf } from '../inspector/transcript.ts';
import { transcriptRows } from './transcript-rows.ts';
import { turnWords } from './words.ts';

const message = (payload: Json, index = 0) => ({ kind: 'message', payload, index }) as unknown as WireChunk;
const asks = (call: string) => ({ decision: { call, proposal: {} } }) as unknown as WireDecision;
const write = { type: 'tool-call', toolName: 'write_file', input: { path: 'a', content: 'b' } };
const usage = { inputTokens: 1200, outputTokens: 88, costMicroUsd: 12_300, wallMs: 4000 };

describe('the rows of a transcript', () => {
  it('[K145] a call that waits is there with its question; a question about no call is at the end', () => {
    const waits = [
      message({ kind: 'begun', model: 'm' }),
      message({ kind: 'assistant', content: [{ type: 'text', text: 'I write it.' }, write, write], usage }),
      message({ kind: 'waiting', calls: ['t/1/1/0'] }),
    ];
    const decisions = [asks('t/1/1/0'), asks('elsewhere')];
    const asked = new Map(decisions.map(({ decision: { call, proposal } }) => [call, proposal]));
    const transcript = transcriptOf(waits, asked, 't');
    const rows = transcriptRows({ transcript, decisions, isOver: false });
    expect(rows.map(row => (row.kind === 'part' ? row.part.kind : row.kind))).toEqual([
      ...['said', 'turn', 'call', 'call', 'note', 'question'],
    ]);
    expect(rows.flatMap(row => (row.kind === 'call' ? [[row.use.isAsking, row.decisions]] : []))).toEqual([
      [true, [decisions[0]]],
      [false, []],
    ]);
    expect(transcript.tools.map(({ tool }) => tool)).toEqual(['write_file', 'write_file']);
  });

  it('[K146] has the tokens and the cost of each turn, and says what was not reported', () => {
    const turns = [
      message({ kind: 'assistant', content: [], usage }),
      message({ kind: 'assistant', content: [], usage: { unknown: ['tokens', 'cost'], wallMs: 900 } }),
      message({ kind: 'assistant', content: [] }),
    ];
    const rows = transcriptRows({ transcript: transcriptOf(turns), decisions: [], isOver: true });
    expect(rows.flatMap(row => (row.kind === 'turn' ? [turnWords(row.number, row.usage)] : []))).toEqual([
      'Turn 1 · 1.2 k in, 88 out tokens · $0.0123 · 4 s',
      'Turn 2 · tokens not reported · cost not reported · 900 ms',
    ]);
  });

  it('[K146] keeps attempts apart, each with its number', () => {
    const twice = [
      message({ kind: 'begun', model: 'm' }),
      message({ kind: 'assistant', content: [{ type: 'text', text: 'one' }] }),
      message({ kind: 'begun', model: 'm' }),
      message({ kind: 'assistant', content: [{ type: 'text', text: 'two' }] }),
    ];
    const rows = transcriptRows({ transcript: transcriptOf(twice), decisions: [], isOver: true });
    expect(
      rows.map(row =>
        row.kind === 'attempt' ? row.number : row.kind === 'part' && 'text' in row.part && row.part.text,
      ),
    ).toEqual([...[1, 'one', 2, 'two']]);
  });

  it('[K149] a message of a person is queued until the agent was told', () => {
    const person = (id: string) => message({ kind: 'person', id, text: 'Look again.', by: 'ada' });
    const heard = message({ kind: 'heard', messages: [{ id: 'a', text: 'Look again.', by: 'ada' }] });
    const { attempts } = transcriptOf([person('a'), heard, person('b')]);
    expect(attempts[0]?.parts).toEqual([
      { kind: 'person', text: 'Look again.', by: 'ada', isRead: true },
      { kind: 'person', text: 'Look again.', by: 'ada', isRead: false },
    ]);
  });

  it('[K148] thousands of messages take a moment', () => {
    const many = Array.from({ length: 4000 }, (_, index) =>
      message({ kind: 'assistant', content: [{ type: 'text', text: `message ${index}` }], usage }, index),
    );
    expect(transcriptRows({ transcript: transcriptOf(many), decisions: [], isOver: true }).length).toBe(8000);
  });
});
