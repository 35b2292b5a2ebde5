import { expect, it } from 'vitest';
import { namesId, shortId } from './handles.ts';

const id = '01890000-7000-7000-8000-0123456789ab';

it('[M231] an id is named by itself, by its beginning and by its end, and shown by its end', () => {
  const named = [id, '01890000', 'AB', shortId(id)].map(given => namesId(id, given));
  expect(named).toEqual([true, true, true, true]);
  expect([namesId(id, ''), namesId(id, '7000-7000'), namesId(id, `${id}0`)]).toEqual([false, false, false]);
  expect(shortId(id)).toBe('456789ab');
});
