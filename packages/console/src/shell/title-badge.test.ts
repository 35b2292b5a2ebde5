import { expect, it } from 'vitest';
import { badged } from './title-badge.ts';
import { isQuiet } from './use-doorbell.ts';

it('[K185] the title says how many things need the person, and nothing when none does', () => {
  expect(badged('Runs · Signalbox', 2)).toBe('(2) Runs · Signalbox');
  expect(badged('(2) Runs · Signalbox', 3)).toBe('(3) Runs · Signalbox');
  expect(badged('(2) Runs · Signalbox', 0)).toBe('Runs · Signalbox');
});

it('[K185] quiet hours may pass midnight; equal ends are none', () => {
  const at = (hour: number, minute = 0) => new Date(2026, 10, 19, hour, minute);
  const night = { from: '22:00', to: '07:30' };
  expect([at(23), at(3), at(7, 29), at(7, 30), at(12), at(21, 59)].map(time => isQuiet(night, time))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(isQuiet({ from: '09:00', to: '17:00' }, at(12))).toBe(true);
  expect(isQuiet({ from: '09:00', to: '09:00' }, at(9))).toBe(false);
  expect(isQuiet({ from: '', to: '' }, at(9))).toBe(false);
});
