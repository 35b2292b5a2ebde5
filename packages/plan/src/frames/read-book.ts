import type { Renderer } from '../render/renderer.ts';
import type { EngineBase, PlanCode } from './engine.ts';

/** Prefixes of read keys: loops, tables that a query waits for, queries, volatile state, files. */
export const LOOP = 'loop:';
export const TABLE = 'db:';
export const QUERY = 'query:';
export const VOL = 'vol:';
export const FILE = 'file:';

/** The reads of renders, as rows: one when a key starts to be read, one when it stops. Costs only what changed. */
export interface ReadBook {
  /** Records the changes since the last frame. */
  put(): void;
  /** Whether everything that the render read is recorded. */
  readonly isRecorded: boolean;
  readonly waitsForTables: boolean;
}

/** The sources of reads besides state. */
export type ReadSources = Pick<PlanCode, 'files' | 'queries'>;

export function createReadBook(
  { options, memory }: EngineBase,
  renderer: Renderer,
  { files, queries }: ReadSources,
): ReadBook {
  /** Whether reads of volatile state and queries are recorded too. */
  const keepsPassing = options.keepVolatile === true;
  /** File contents are stored if there are blobs to store them in. */
  const keepsFiles = options.blobs !== undefined;
  const { ledger, volatile } = memory;
  const passing = new Set<string>();
  const tables = new Set<string>();
  const ofFiles = new Set<string>();
  let former: ReadonlySet<string> | undefined = memory.formerReads;

  const note = (set: Set<string>, key: string, isRead: boolean) => void (isRead ? set.add(key) : set.delete(key));

  return {
    put() {
      for (const key of former ?? []) if (!renderer.reads.has(key)) ledger.put('read', key, undefined);
      former = undefined;
      for (const key of renderer.takeReadChanges()) {
        if (key.startsWith(LOOP)) continue;
        const isRead = renderer.reads.has(key);
        if (key.startsWith(VOL) || key.startsWith(QUERY)) note(passing, key, isRead);
        if (key.startsWith(TABLE)) note(tables, key, isRead);
        if (key.startsWith(FILE)) note(ofFiles, key, isRead);
        ledger.put('read', key, isRead ? true : undefined);
      }
      for (const key of ofFiles) ledger.put('read', key, files.recordOf(key) ?? true);
      files.reading(ofFiles);
      if (!keepsPassing) return;
      for (const key of passing) {
        const value = key.startsWith(VOL) ? volatile.peek(key.slice(VOL.length)) : queries.answerOf(key);
        ledger.put('read', key, value === undefined ? {} : { value });
      }
    },
    get isRecorded() {
      return (keepsPassing || passing.size === 0) && (keepsFiles || ofFiles.size === 0);
    },
    get waitsForTables() {
      return tables.size > 0;
    },
  };
}
