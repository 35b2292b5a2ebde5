import { type ErrorEnvelope, err, ok, type Result } from '@signalbox/model';
import { invalid } from '../http/answer.ts';

/** Items on a page unless the caller asks for another number. */
export const PAGE = 200;

/** The same for lists that their readers want whole, as far as that goes. */
export const MANY = 1000;

export interface Asked {
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** What the next page comes after; absent on the last. */
  readonly next?: string;
}

/** A page of a list that is at hand, after the item whose key is asked for. */
export function pageOf<Item>(
  all: readonly Item[],
  { after, limit = PAGE }: Asked,
  keyOf: (item: Item) => string,
): Result<ListPage<Item>, ErrorEnvelope> {
  const from = after === undefined ? 0 : all.findIndex(item => keyOf(item) === after) + 1;
  if (after !== undefined && from === 0) return err(badCursor());
  return ok(cutPage(all.slice(from, from + limit + 1), limit, keyOf));
}

/** A page of what was read with one more than its limit: whether there is more shows by that. */
export function cutPage<Item>(read: readonly Item[], limit: number, keyOf: (item: Item) => string): ListPage<Item> {
  const items = read.slice(0, limit);
  const last = items.at(-1);
  return read.length > limit && last !== undefined ? { items, next: keyOf(last) } : { items };
}

/** A page as it is answered: its items have a name. */
export function listed<Name extends string, Item>(
  name: Name,
  page: Result<ListPage<Item>, ErrorEnvelope>,
): Result<{ readonly [_ in Name]: readonly Item[] } & { readonly next?: string }, ErrorEnvelope> {
  if (!page.ok) return page;
  const { items, ...rest } = page.value;
  const named = { [name]: items } as { readonly [_ in Name]: readonly Item[] };
  return ok({ ...named, ...rest });
}

export function badCursor(): ErrorEnvelope<'VALIDATION_ERROR'> {
  return invalid('"after" is not the "next" of a page of this list, or what it names is gone; begin again without it');
}

/** One list that is read from two, each in the same order. */
export interface TwoLists<Item> {
  /** At most so many after an item's cursor, or from the beginning. */
  readonly left: PartList<Item>;
  readonly right: PartList<Item>;
  /** Whether an item of the left comes before one of the right. */
  isLeftFirst(left: Item, right: Item): boolean;
}

export interface PartList<Item> {
  read(after: string | undefined, limit: number): Promise<Result<readonly Item[], ErrorEnvelope>>;
  cursorOf(item: Item): string;
}

/** A page of two lists as one. Its cursor says how far each was read. */
export async function mergedPage<Item>(
  { left, right, isLeftFirst }: TwoLists<Item>,
  { after, limit = PAGE }: Asked,
): Promise<Result<ListPage<Item>, ErrorEnvelope>> {
  const cursors = after === undefined ? ['', ''] : after.split(BETWEEN);
  let [leftCursor = '', rightCursor = ''] = cursors;
  if (cursors.length !== 2) return err(badCursor());
  const lefts = await left.read(leftCursor || undefined, limit + 1);
  if (!lefts.ok) return lefts;
  const rights = await right.read(rightCursor || undefined, limit + 1);
  if (!rights.ok) return rights;
  const items: Item[] = [];
  let [l, r] = [0, 0];
  for (; items.length < limit; ) {
    const [nextLeft, nextRight] = [lefts.value[l], rights.value[r]];
    if (nextLeft !== undefined && (nextRight === undefined || isLeftFirst(nextLeft, nextRight))) {
      items.push(nextLeft);
      leftCursor = left.cursorOf(nextLeft);
      l += 1;
    } else if (nextRight !== undefined) {
      items.push(nextRight);
      rightCursor = right.cursorOf(nextRight);
      r += 1;
    } else break;
  }
  const isMore = l < lefts.value.length || r < rights.value.length;
  return ok(isMore ? { items, next: `${leftCursor}${BETWEEN}${rightCursor}` } : { items });
}

const BETWEEN = '~';
