import { err, ok } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { answerWithin } from './turn-prompt.ts';

describe('the answer in a message', () => {
  const isObject = (value: unknown) =>
    typeof value === 'object' && !Array.isArray(value) ? ok(value as never) : err('It is not an object.');

  it.each([
    ['alone', '{"a": 1}'],
    ['in a block of code', '```json\n{"a": 1}\n```'],
    ['after words', 'Here it is: {"a": 1}. Bye!'],
    ['in the last block of several', '```\n{"a": 0}\n```\nNo, this:\n```json\n{"a": 1}\n```\nBye!'],
    ['in a block before one of another kind', '```json\n{"a": 1}\n```\n```ts\nlet a = 1;\n```'],
    ['over several lines', 'Look:\n{\n  "a": 1\n}\n'],
  ])('[B58] is found %s', (_, text) => {
    expect(answerWithin(text, isObject)).toEqual(ok({ a: 1 }));
  });

  it('[B58] that does not fit says why', () => {
    expect(answerWithin('```json\n[1]\n```', isObject)).toEqual(err('It is not an object.'));
    expect(answerWithin('none', isObject).ok).toBe(false);
    expect(answerWithin('', isObject).ok).toBe(false);
  });
});
