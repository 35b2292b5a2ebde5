import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { temporaryFolder } from './program.ts';
import { answersTo, type Exchange, exchangesOf } from './tour.ts';

const texts = ['README.md', 'docs/tour-of-the-journal.md'];

it('the README and the tour of the journal show what their commands really answer', () => {
  const told = texts
    .flatMap(text => exchangesOf(readFileSync(new URL(`../../../${text}`, import.meta.url), 'utf8')))
    .filter(({ command }) => !command.startsWith('alias '));
  expect(told.length).toBeGreaterThan(5);
  const answered = answersTo(
    told.map(({ command }) => command),
    temporaryFolder(),
  );
  expect(answered.map((exchange, index) => abridgedLike(told[index], exchange))).toEqual(told);
});

/** A told answer may end in `…`, which stands for the rest. */
function abridgedLike(told: Exchange | undefined, { command, answer }: Exchange): Exchange {
  if (told?.answer.at(-1) !== '…') return { command, answer };
  const shown = told.answer.length - 1;
  return { command, answer: [...answer.slice(0, shown), ...(answer.length > shown ? ['…'] : [])] };
}
