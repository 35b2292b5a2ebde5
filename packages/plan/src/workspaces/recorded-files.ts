import type { Digest, Json } from '@signalbox/model';
import type { FileItem, FileStat, PlanFiles } from './plan-files.ts';

/** What frames recorded of the files that their renders read. */
export interface RecordedFiles {
  /** The reads of the frame that is made next, by their keys. */
  readonly reads: () => ReadonlyMap<string, Json>;
  /** The content of a file that was read, which is a blob. */
  readonly content: (digest: Digest) => Uint8Array | undefined;
}

/** Files as renders saw them once, for making frames again. What was not read then is not there; nothing is written. */
export function recordedFiles({ reads, content }: RecordedFiles): PlanFiles {
  const record = (look: 'read' | 'list' | 'stat', path: string) =>
    reads().get(`file:${look}:${path}`) as FileRecord | undefined;
  return {
    read(path) {
      const digest = record('read', path)?.digest;
      if (digest === undefined) return undefined;
      const bytes = content(digest);
      if (bytes === undefined) throw new Error(`its content ${digest} was not kept`);
      return bytes;
    },
    list: path => record('list', path)?.value as readonly FileItem[] | undefined,
    stat: path => record('stat', path)?.value as unknown as FileStat | undefined,
    write() {},
    mark(path) {
      const all = (['read', 'list', 'stat'] as const).map(look => record(look, path) ?? null);
      return { text: JSON.stringify(all), isFresh: false };
    },
  };
}

interface FileRecord {
  readonly digest?: Digest;
  readonly value?: Json;
}
