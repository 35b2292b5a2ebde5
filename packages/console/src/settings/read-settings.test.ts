import { describe, expect, it } from 'vitest';
import { readSettings } from './read-settings.ts';

describe('settings', () => {
  const quiet = { from: '', to: '' };
  const never = { notify: false, notifyFailed: false, notifyDone: false, quiet };
  const unset = { theme: 'system', time: 'relative', dangerous: 'ask', ...never, developer: false, streak: 5 };

  it('[K28] are as stored', () => {
    const rings = { notify: true, notifyFailed: true, notifyDone: true, quiet: { from: '22:00', to: '07:00' } };
    const kept = { theme: 'dark', time: 'utc', dangerous: 'off', ...rings, developer: true, streak: 3 };
    expect(readSettings(JSON.stringify(kept))).toEqual(kept);
  });

  it.each([
    null,
    '',
    'x',
    '[]',
    '7',
    'null',
    '{"theme":"pink","time":1,"dangerous":null,"notify":"yes","quiet":{"from":"25:00"},"developer":1,"streak":0}',
  ])('[K28] that are not understood count as not set: %s', kept => {
    expect(readSettings(kept)).toEqual(unset);
  });
});
