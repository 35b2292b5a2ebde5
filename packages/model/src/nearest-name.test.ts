import { expect, it } from 'vitest';
import { didYouMean, nearestName } from './nearest-name.ts';

it.each([
  ['grep_files', ['read_file', 'grep', 'glob'], 'grep'],
  ['readFile', ['read_file', 'write_file'], 'read_file'],
  ['onFinish', ['onFinished', 'onError'], 'onFinished'],
  ['Taks', ['Task', 'Timer'], 'Task'],
  ['banana', ['read_file', 'grep'], undefined],
  ['', ['grep'], undefined],
  ['grep'.repeat(20_000), ['grep', 'grep'.repeat(20_000)], undefined],
])('[P341] %.20s is most likely one of %.60j: %s', (given, known, expected) => {
  expect(nearestName(given, known)).toBe(expected);
});

it('[P341] is a question, or nothing', () => {
  expect([didYouMean('grep_files', ['grep']), didYouMean('banana', ['grep'])]).toEqual([' Did you mean "grep"?', '']);
});
