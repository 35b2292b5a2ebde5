import type { Answer } from '@signalbox/client';
import { ok } from '@signalbox/model';

/** The most pages read of a long list. */
const PAGES = 20;

/** A paged list, read page by page. */
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
