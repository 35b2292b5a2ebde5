import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';

/** The default number of items on a page. */
const PAGE = 200;

/** The same for lists that readers usually want complete. */
export const MANY = 1000;

export interface Asked {
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** The cursor of the next page; absent on the last. */
  readonly next?: string;
}

/** A page of a list in memory, after the item with the given key. */
export function pageOf<Item>(
  all: readonly Item[],
  { after, limit = PAGE }: Asked,
  keyOf: (item: Item) => string,
): Result<ListPage<Item>, ErrorEnvelope> {
  const from = after === undefined ? 0 : all.findIndex(item => keyOf(item) === after) + 1;
  if (after !== undefined && from === 0) return err(badCursor());
  return ok(cutPage(all.slice(from, from + limit + 1), limit, keyOf));
}

/** A page of items read with one more than its limit, which shows whether there are more. */
export function cutPage<Item>(read: readonly Item[], limit: number, keyOf: (item: Item) => string): ListPage<Item> {
  const items = read.slice(0, limit);
  const last = items.at(-1);
  return read.length > limit && last !== undefined ? { items, next: keyOf(last) } : { items };
}

export function badCursor(): ErrorEnvelope<'VALIDATION_ERROR'> {
  return invalid('"after" is not the "next" of a page of this list, or what it names is gone; begin again without it');
}

export function invalid(why: string): ErrorEnvelope<'VALIDATION_ERROR'> {
  return failure('VALIDATION_ERROR', {
    message: `The request was not understood: ${why}.`,
    suggestion: 'Change the request and send it again.',
  });
}

/** A list that is part of a longer one. */
export interface PartList<Item> {
  /** At most `limit` items after a cursor, or from the beginning. */
  read(after: string | undefined, limit: number): Promise<Result<readonly Item[], ErrorEnvelope>>;
  cursorOf(item: Item): string;
}

/** Several lists as one, all in the same order. */
export interface MergedList<Item> {
  readonly parts: readonly PartList<Item>[];
  /** Whether an item of a later part comes before one of an earlier part. */
  isBefore(later: Item, earlier: Item): boolean;
  /** Whether a page with these items is full before its limit is reached. */
  isFull?(items: readonly Item[]): boolean;
}

/** A page of several lists as one. Its cursor says how far each was read. */
export async function mergedPage<Item>(
  { parts, isBefore, isFull = () => false }: MergedList<Item>,
  { after, limit = PAGE }: Asked,
): Promise<Result<ListPage<Item>, ErrorEnvelope>> {
  const cursors = after === undefined ? parts.map(() => '') : after.split(BETWEEN);
  if (cursors.length !== parts.length) return err(badCursor());
  const rest: Item[][] = [];
  for (const [index, part] of parts.entries()) {
    const read = await part.read(cursors[index] || undefined, limit + 1);
    if (!read.ok) return read;
    rest.push([...read.value]);
  }
  const items: Item[] = [];
  while (items.length < limit && !isFull(items)) {
    let first = -1;
    for (const [index, [next]] of rest.entries()) {
      const best = rest[first]?.[0];
      if (next !== undefined && (best === undefined || isBefore(next, best))) first = index;
    }
    const next = rest[first]?.shift();
    const part = parts[first];
    if (next === undefined || part === undefined) break;
    items.push(next);
    cursors[first] = part.cursorOf(next);
  }
  return ok(rest.some(left => left.length > 0) ? { items, next: cursors.join(BETWEEN) } : { items });
}

const BETWEEN = '~';
