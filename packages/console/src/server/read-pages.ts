import type { Answer } from '@signalbox/client';
import { ok } from '@signalbox/model';

/** So many pages are read of a list that may be longer. */
const PAGES = 20;

/** A list that comes in pages, read one after the other. */
export async function readPages<Page extends { readonly next?: string | undefined }>(
  read: (after: { readonly after?: string }) => Answer<Page>,
): Answer<readonly Page[]> {
  const pages: Page[] = [];
  for (let after: string | undefined; pages.length < PAGES; ) {
    const page = await read(after === undefined ? {} : { after });
    if (!page.ok) return page;
    pages.push(page.value);
    after = page.value.next;
    if (after === undefined) break;
  }
  return ok(pages);
}
