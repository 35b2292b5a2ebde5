import type { Renderer } from '../render/renderer.ts';
import type { EngineBase, PlanCode } from './engine.ts';

/** Before keys of reads: loops, tables that a query waits for, queries themselves, volatile state, files. */
export const LOOP = 'loop:';
export const TABLE = 'db:';
export const QUERY = 'query:';
export const VOL = 'vol:';
export const FILE = 'file:';

/** What renders read, as rows: one when a key begins to be read, one when it ends. Costs what changed. */
export interface ReadBook {
  /** Puts what changed since the last frame. */
  put(): void;
  /** Whether everything that the render read is kept. */
  readonly isRecorded: boolean;
  readonly waitsForTables: boolean;
}

/** Where what is read besides state comes from. */
export type ReadSources = Pick<PlanCode, 'files' | 'queries'>;

export function createReadBook(
  { options, memory }: EngineBase,
  renderer: Renderer,
  { files, queries }: ReadSources,
): ReadBook {
  /** Whether what was read of volatile state and of queries is kept too. */
  const keepsPassing = options.keepVolatile === true;
  /** Contents of files are kept where there are blobs to keep them in. */
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
