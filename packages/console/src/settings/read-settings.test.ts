import { describe, expect, it } from 'vitest';
import { readSettings } from './read-settings.ts';

describe('settings', () => {
  const unset = { theme: 'system', time: 'relative', dangerous: 'ask', notify: false, developer: false, streak: 5 };

  it('[K28] are as stored', () => {
    const kept = { theme: 'dark', time: 'utc', dangerous: 'off', notify: true, developer: true, streak: 3 };
    expect(readSettings(JSON.stringify(kept))).toEqual(kept);
  });

  it.each([
    null,
    '',
    'x',
    '[]',
    '7',
    'null',
    '{"theme":"pink","time":1,"dangerous":null,"notify":"yes","developer":1,"streak":0}',
  ])('[K28] that are not understood count as not set: %s', kept => {
    expect(readSettings(kept)).toEqual(unset);
  });
});
