import { nodeHasher } from '@signalbox/journal';
import type { RunId } from '@signalbox/model';
import { type ArchiveRow, importAsNew, openRecord } from '@signalbox/runs';
import type { Store } from '@signalbox/store';
import { at, freshId, hashOf } from '../../../runs/test/builders.ts';

/** A run that is what another one is under a new id, as an import makes it. */
export async function importedCopy(store: Store, run: RunId): Promise<RunId> {
  const copy = freshId<RunId>();
  const { textOf, putText } = store.texts;
  const news = importAsNew({
    root: run,
    head: hashOf('head'),
    run: copy,
    bundle: hashOf('bundle'),
    at: at(70),
    by: 'bert',
    seal: { hasher: nodeHasher, salt: () => freshId<RunId>(), putText },
  });
  const records = await store.records(run, 0, 10_000);
  const rows = records.map((record): ArchiveRow => {
    const opened = openRecord(record, nodeHasher, textOf);
    if (!opened.ok) throw new Error(opened.error);
    return { part: 'records', row: news.take(opened.value) };
  });
  const kept = store.restore([...rows, { part: 'records', row: news.end(hashOf('head')) }]);
  if (!kept.ok) throw new Error(kept.error.message);
  return copy;
}
