import { usageError } from '@signalbox/app';
import { describe, expect, it } from 'vitest';
import { memoryTerminal } from '../test/memory-terminal.ts';
import { paintOf, reportError, shown } from './terminal.ts';

const error = usageError('It is \u001b[31mwrong\u001b[0m.', 'Mend it.');

describe('an error', () => {
  it('is a message and a suggestion for people, apart from the answer', () => {
    const terminal = memoryTerminal();
    reportError(terminal, error, false);
    expect(terminal).toMatchObject({
      printed: [],
      complaints: ['error: It is \\u{1b}[31mwrong\\u{1b}[0m.\nMend it.'],
    });
  });

  it('is the envelope for programs, as the answer', () => {
    const terminal = memoryTerminal();
    reportError(terminal, error, true);
    expect(terminal.printed.map(text => JSON.parse(text))).toEqual([error]);
    expect(terminal.complaints).toEqual([]);
  });
});

describe('text from elsewhere', () => {
  it('cannot command the terminal', () => {
    expect(shown('\u001b]0;title\u0007 a\nb\rc\u009b2J \u202eevil \u2028 \u{e0001}')).toBe(
      '\\u{1b}]0;title\\u{7} a\\u{a}b\\u{d}c\\u{9b}2J \\u{202e}evil \\u{2028} \\u{e0001}',
    );
  });

  it('stays as it is where it is only text', () => {
    const text = 'Ünïcode, 日本語 and 🙂 with spaces';
    expect(shown(text)).toBe(text);
  });
});

describe('colours', () => {
  it('are there where the terminal has them, and only there', () => {
    expect(paintOf(memoryTerminal(true)).good('yes')).toBe('\u001b[32myes\u001b[39m');
    const plain = Object.values(paintOf(memoryTerminal(false)));
    expect(plain.map(paint => paint('yes', 'vscode://file/x'))).toEqual(Array(6).fill('yes'));
  });
});
