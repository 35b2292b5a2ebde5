import { expect, it } from 'vitest';
import { isQuiet, timeOfDay } from './quiet-hours.ts';

it('[A1092] quiet hours may pass midnight; equal ends are none', () => {
  const night = { from: '22:00', to: '07:30' };
  const times = ['23:00', '03:00', '07:29', '07:30', '12:00', '21:59'];
  expect(times.map(time => isQuiet(night, time))).toEqual([true, true, true, false, false, false]);
  expect(isQuiet({ from: '09:00', to: '17:00' }, '12:00')).toBe(true);
  expect(isQuiet({ from: '09:00', to: '09:00' }, '09:00')).toBe(false);
  expect(isQuiet({ from: '', to: '' }, '09:00')).toBe(false);
  expect(timeOfDay(new Date(2026, 10, 19, 7, 5))).toBe('07:05');
});
