import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { sqliteCode } from '@signalbox/journal';
import { type ErrorEnvelope, err, type FindQuery, type FoundList, ok, type Result } from '@signalbox/model';
import { diskFault, openSearchIndex, type Reader, refusedBy, type SearchIndex } from '@signalbox/store';
import { openIndex, refreshIndex, searchFile } from './refresh-search.ts';

/**
 * Searches a data directory, whichever process owns it: the index is a cache that any process may bring up to date. In a directory that takes
 * no writes, or with a file in the place of the cache, it is made in memory.
 */
export async function findBeside(
  { dataDirectory, reader }: { readonly dataDirectory: string; readonly reader: Reader | undefined },
  query: FindQuery,
): Promise<Result<FoundList, ErrorEnvelope>> {
  let index: SearchIndex | undefined;
  try {
    index = isKept(dataDirectory, reader) ? openIndex(dataDirectory) : openSearchIndex({ path: ':memory:' });
    const behind = await refreshIndex({ dataDirectory, reader }, index);
    return ok({ ...index.find(query), behind });
  } catch (cause) {
    if (sqliteCode(cause) === undefined) throw cause;
    return err(refusedBy(searchFile(dataDirectory), cause));
  } finally {
    index?.close();
  }
}

function isKept(dataDirectory: string, reader: Reader | undefined): boolean {
  const hasAnything = reader !== undefined || existsSync(path.join(dataDirectory, 'sessions'));
  const cache = statSync(path.dirname(searchFile(dataDirectory)), { throwIfNoEntry: false });
  return hasAnything && cache?.isDirectory() !== false && diskFault(dataDirectory) === undefined;
}
