import { err, failure, ok } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { readPages } from './read-pages.ts';

describe('a list in pages', () => {
  it('[K53] is read to its end, page by page', async () => {
    const pages = new Map([
      [undefined, { items: [1, 2], next: 'b' }],
      ['b', { items: [3], next: 'c' }],
      ['c', { items: [4], next: undefined }],
    ]);
    const read = await readPages(async ({ after }) => ok(pages.get(after) ?? { items: [], next: undefined }));
    expect(read.ok && read.value.flatMap(({ items }) => items)).toEqual([1, 2, 3, 4]);
  });

  it('[K53] is not used if a page of it cannot be read, and is not read without end', async () => {
    const error = failure('VALIDATION_ERROR', { message: 'No.', suggestion: 'Ask otherwise.' });
    expect(await readPages(async ({ after }) => (after === undefined ? ok({ next: 'b' }) : err(error)))).toEqual(
      err(error),
    );
    const endless = await readPages(async () => ok({ next: 'b' }));
    expect(endless.ok && endless.value.length).toBe(20);
  });
});
