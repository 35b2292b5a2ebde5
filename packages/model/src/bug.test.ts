import { describe, expect, it } from 'vitest';
import { Bug, unreachable } from './bug.ts';

describe('bugs', () => {
  it('[M21] are errors with a name and a cause', () => {
    const cause = new TypeError('first');
    const bug = new Bug('broken', { cause });
    expect({ isError: bug instanceof Error, name: bug.name, message: bug.message, cause: bug.cause }).toEqual({
      isError: true,
      name: 'Bug',
      message: 'broken',
      cause,
    });
    expect(String(bug)).toBe('Bug: broken');
  });

  it('[M21] end a switch that cannot be left', () => {
    expect(() => unreachable({ kind: 'new' } as never)).toThrow(new Bug('a case that cannot exist: {"kind":"new"}'));
  });
});
