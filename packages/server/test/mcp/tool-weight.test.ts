import { describe, expect, it } from 'vitest';
import { agentInstructions, agentTools } from '../../src/mcp/tool-definitions.ts';
import { shownAnswerSchema, shownInputSchema } from '../../src/mcp/tool-schema.ts';

const bytes = (value: unknown) => Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));

describe('[V340] what every model reads in every chat', () => {
  it('stays small: instructions, descriptions, input and answer schemas', () => {
    const sum = (of: (tool: (typeof agentTools)[number]) => unknown) =>
      agentTools.reduce((total, tool) => total + bytes(of(tool)), 0);
    expect(bytes(agentInstructions)).toBeLessThan(900);
    expect(sum(tool => tool.description)).toBeLessThan(3_800);
    expect(sum(tool => shownInputSchema(tool.input))).toBeLessThan(8_000);
    expect(sum(tool => shownAnswerSchema(tool.answer))).toBeLessThan(4_500);
  });

  it('still has every argument with its type and description, and every field of an answer', () => {
    for (const { input, answer } of agentTools) {
      const shown = shownInputSchema(input) as { readonly properties: object; readonly required?: readonly string[] };
      expect(Object.keys(shown.properties)).toEqual(Object.keys((input as unknown as { shape: object }).shape));
      const answered = shownAnswerSchema(answer) as { readonly properties: object };
      expect(Object.keys(answered.properties)).toEqual(Object.keys((answer as unknown as { shape: object }).shape));
      expect(answered).not.toHaveProperty('required');
    }
  });
});
