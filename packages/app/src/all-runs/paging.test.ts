import { ok } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergedPage, type PartList } from './paging.ts';

interface Item {
  readonly at: number;
  readonly id: string;
}

/** A list in the order of its moments, read after an item. */
function part(name: string, moments: readonly number[]): { readonly list: PartList<Item>; readonly items: Item[] } {
  const items = moments.toSorted((a, b) => a - b).map((at, index): Item => ({ at, id: `${name}${index}` }));
  return {
    items,
    list: {
      async read(after, limit) {
        const from = items.findIndex(({ id }) => id === after) + 1;
        return ok(items.slice(from, from + limit));
      },
      cursorOf: ({ id }) => id,
    },
  };
}

const isBefore = (later: Item, earlier: Item) => later.at < earlier.at;

describe('a page of several lists', () => {
  it('[A610] goes on where the last ended: all pages are the lists in one order, each item once', async () => {
    const lists = fc.array(fc.array(fc.nat(20), { maxLength: 12 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        lists,
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 7 }),
        async (given, limit, most) => {
          const parts = given.map((moments, index) => part(`${'abcd'[index]}`, moments));
          const merged = {
            parts: parts.map(({ list }) => list),
            isBefore,
            isFull: (items: readonly Item[]) => items.length >= most,
          };
          const read: Item[] = [];
          for (let after: string | undefined, isMore = true; isMore; isMore = after !== undefined) {
            const page = await mergedPage(merged, { after, limit });
            if (!page.ok) throw new Error(page.error.message);
            expect(page.value.items.length).toBeLessThanOrEqual(Math.min(limit, most));
            read.push(...page.value.items);
            after = page.value.next;
          }
          const all = parts.flatMap(({ items }) => items).toSorted((a, b) => a.at - b.at);
          expect(read).toEqual(all);
        },
      ),
    );
  });

  it('[A610] refuses a cursor that is of another list', async () => {
    const two = { parts: [part('a', [1]).list, part('b', [2]).list], isBefore };
    for (const after of ['a0', 'a0~b0~c0', '~~']) {
      expect(await mergedPage(two, { after })).toMatchObject({ ok: false, error: { code: 'VALIDATION_ERROR' } });
    }
  });
});
