import { expect, it } from 'vitest';
import { versionWords } from './version-words.ts';

it('[K80] a frame names the plan version that made it, if that is not the first', () => {
  expect([1, 2, 3].map(versionWords)).toEqual(['', 'Plan version 2 made it. ', 'Plan version 3 made it. ']);
});
