import { describe, expect, it } from 'vitest';
import { type AuthoredPrompt, type EffectivePrompt, fullPrompt, promptBlocks } from './turn-prompt.ts';

const effective: EffectivePrompt = {
  system: 'You work alone.\n\nYou are assignment.',
  user: ['Count.', '[It was interrupted.]'],
  tools: [{ name: 'read_file', description: 'Reads.', inputSchema: { type: 'object' } }],
  answer: { type: 'number' },
};
const authored: AuthoredPrompt = { system: 'You are assignment.', prompt: 'Count.', permissions: 'gated', maxTurns: 4 };

describe('the prompt of a turn', () => {
  it('[A143] as one text has everything that the model got', () => {
    expect(fullPrompt(effective)).toBe(
      [
        '[system]\nYou work alone.\n\nYou are assignment.',
        '[tools]\nread_file: Reads.\n{"type":"object"}',
        '[answer]\nJSON that fits this schema:\n{\n  "type": "number"\n}',
        '[user]\nCount.\n\n[It was interrupted.]\n',
      ].join('\n\n'),
    );
  });

  it('[A143] leaves out what the model was not given', () => {
    expect(fullPrompt({ system: 'S', user: ['U'], tools: [] })).toBe('[system]\nS\n\n[user]\nU\n');
  });

  it('[A143] in parts is told by where it comes from', () => {
    expect(promptBlocks(effective, { ...authored, schema: { type: 'number' } })).toEqual({
      system: 'You work alone.',
      role: 'You are assignment.',
      mode: { permissions: 'gated', maxTurns: 4, tools: ['read_file'], schema: { type: 'number' } },
      task: 'Count.',
      override: ['[It was interrupted.]'],
    });
  });

  it.each([undefined, '', '  '])('[A143] has no role where its author wrote %j', system => {
    expect(promptBlocks(effective, { ...authored, system })).toMatchObject({ system: effective.system, role: null });
  });
});
