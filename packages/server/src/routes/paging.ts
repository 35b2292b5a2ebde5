import type { ListPage } from '@signalbox/app/all-runs';
import { type ErrorEnvelope, ok, type Result } from '@signalbox/model';

export { badCursor, cutPage, MANY, pageOf } from '@signalbox/app/all-runs';

/** A page as it is answered, with a name for its items. */
export function listed<Name extends string, Item>(
  name: Name,
  page: Result<ListPage<Item>, ErrorEnvelope>,
): Result<{ readonly [_ in Name]: readonly Item[] } & { readonly next?: string }, ErrorEnvelope> {
  if (!page.ok) return page;
  const { items, ...rest } = page.value;
  const named = { [name]: items } as { readonly [_ in Name]: readonly Item[] };
  return ok({ ...named, ...rest });
}
