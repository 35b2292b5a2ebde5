import { describe, expect, it } from 'vitest';
import { unquoted } from './unquoted.ts';

describe('a parser’s message', () => {
  it.each([
    ['Expected ";" but found "hunter2"', 'Expected ";" but found "…"'],
    ['Unexpected "}"', 'Unexpected "}"'],
    ["Unexpected identifier 'hunter2'", 'Unexpected identifier "…"'],
    ['Unexpected token \'h\', "hunter2 "x" hunter2" is not valid JSON', 'Unexpected token "…" is not valid JSON'],
    ['found "hunter2', 'found "…"'],
    ['Unterminated template literal', 'Unterminated template literal'],
    [
      "The requested module './a.ts' does not provide an export named 'b'",
      "The requested module './a.ts' does not provide an export named 'b'",
    ],
  ])('[P235] %s quotes nothing but punctuation', (said, told) => {
    expect(unquoted(said)).toBe(told);
  });
});
