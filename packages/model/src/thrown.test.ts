import { describe, expect, it } from 'vitest';
import { thrownMessage, thrownText } from './thrown.ts';

const bad = () => {
  throw new Error('not to be looked at');
};
const unshown = 'a value that cannot be shown was thrown';

describe('what was thrown', () => {
  it.each<[string, unknown, string, string]>([
    ['an error', new TypeError('no'), 'no', 'TypeError: no'],
    ['a text', 'no', 'no', 'no'],
    ['nothing', undefined, 'undefined', 'undefined'],
    ['a symbol', Symbol('no'), 'Symbol(no)', 'Symbol(no)'],
    ['an object with a message', { message: 'no' }, 'no', 'no'],
    ['an object without a prototype', Object.create(null), unshown, unshown],
    ['an object that throws when it is shown', { toString: bad }, unshown, unshown],
    [
      'an error with a getter that throws',
      Object.defineProperty(new Error('x'), 'message', { get: bad }),
      unshown,
      `Error: ${unshown}`,
    ],
    [
      'an error whose message is no text',
      Object.assign(new Error('x'), { message: Object.create(null) }),
      unshown,
      `Error: ${unshown}`,
    ],
    ['a proxy that refuses everything', new Proxy({}, { has: bad, get: bad, getPrototypeOf: bad }), unshown, unshown],
  ])('[M85] has a text, whatever it is: %s', (_, thrown, message, text) => {
    expect([thrownMessage(thrown), thrownText(thrown)]).toEqual([message, text]);
  });
});
