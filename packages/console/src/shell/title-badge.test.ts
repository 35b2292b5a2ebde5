import { expect, it } from 'vitest';
import { badged } from './title-badge.ts';

it('[K185] the title says how many things need the person, and nothing when none does', () => {
  expect(badged('Runs · Signalbox', 2)).toBe('(2) Runs · Signalbox');
  expect(badged('(2) Runs · Signalbox', 3)).toBe('(3) Runs · Signalbox');
  expect(badged('(2) Runs · Signalbox', 0)).toBe('Runs · Signalbox');
});
