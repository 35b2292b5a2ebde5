import { hash } from 'node:crypto';
import { canonicalJson, type Digest, type Json, type RunId } from '@signalbox/model';
import type { Blobs, RunReader } from '@signalbox/runs';
import { FILE, PAST, QUERY, VOL } from '../render/tracked.ts';
import type { FileItem, FileStat, PlanFiles } from '../workspaces/plan-files.ts';

/** What renders read then, and read again now: volatile state, query answers, files. */
export interface RecordedReads {
  /** Moves to a frame. True if a query answer differs from that in the previous frame. */
  turnTo(frame: number): Promise<boolean>;
  /** Keys and values of volatile state. */
  volatile(): ReadonlyMap<string, Json | undefined>;
  query(sql: string, params: readonly Json[]): readonly Json[];
  /** Read-only. */
  readonly files: PlanFiles;
}

interface ReadRow {
  readonly value?: Json;
  readonly digest?: Digest;
  readonly absent?: true;
}

/** What a frame read without a record of its value, as people know it. */
export async function unrecordedReads(
  reader: Pick<RunReader, 'at'>,
  run: RunId,
  frame: number,
): Promise<readonly string[]> {
  const rows = await reader.at(run, 'read', frame);
  const found = [...rows].flatMap(([key, row]) => {
    if (row !== true) return [];
    if (key.startsWith(PAST)) return [key.slice(PAST.length)];
    if (key.startsWith(VOL)) return [`volatile state '${key.slice(VOL.length)}'`];
    if (key.startsWith(FILE)) return [`the file ${key.slice(FILE.length).replace(/^\w+:/, '')}`];
    return key.startsWith(QUERY) ? ['a query'] : [];
  });
  return [...new Set(found)].sort();
}

export function recordedReads(reader: RunReader, run: RunId, blobs: Pick<Blobs, 'get'> | undefined): RecordedReads {
  let rows: ReadonlyMap<string, Json> = new Map();
  const contents = new Map<Digest, Uint8Array>();

  async function keepContents(): Promise<void> {
    const wanted = new Set<Digest>();
    for (const [key, row] of rows) {
      const { digest } = key.startsWith(FILE) ? asRow(row) : {};
      if (digest !== undefined) wanted.add(digest);
    }
    for (const name of contents.keys()) if (!wanted.has(name)) contents.delete(name);
    for (const name of wanted) {
      const content = contents.has(name) ? undefined : await blobs?.get(name);
      if (content?.ok === true) contents.set(name, content.value);
    }
  }

  const rowOf = (look: string, path: string): ReadRow => {
    const row = rows.get(`${FILE}${look}:${path}`);
    if (row === undefined || row === true) throw new Error('what was read of it is not recorded');
    return asRow(row);
  };

  return {
    async turnTo(frame) {
      const before = rows;
      rows = await reader.at(run, 'read', frame);
      await keepContents();
      return hasOtherAnswer(before, rows);
    },
    volatile: () =>
      new Map(
        [...rows].flatMap(([key, row]) => (key.startsWith(VOL) ? [[key.slice(VOL.length), asRow(row).value]] : [])),
      ),
    query(sql, params) {
      const row = rows.get(`${QUERY}${hash('sha256', canonicalJson([sql, params]), 'hex').slice(0, 16)}`);
      if (row === undefined || row === true) throw new Error('what this query answered is not recorded');
      return (asRow(row).value ?? []) as readonly Json[];
    },
    files: {
      read(path) {
        const { absent, digest } = rowOf('read', path);
        if (absent === true || digest === undefined) return undefined;
        const content = contents.get(digest);
        if (content === undefined) throw new Error(`its content ${digest} is not kept`);
        return content;
      },
      list: path => rowOf('list', path).value as readonly FileItem[] | undefined,
      stat: path => rowOf('stat', path).value as FileStat | undefined,
      write() {},
      mark: path => ({
        text: canonicalJson(['read', 'list', 'stat'].map(look => rows.get(`${FILE}${look}:${path}`) ?? null)),
        isFresh: false,
      }),
    },
  };
}

function asRow(row: Json): ReadRow {
  return typeof row === 'object' && row !== null && !Array.isArray(row) ? (row as ReadRow) : {};
}

function hasOtherAnswer(before: ReadonlyMap<string, Json>, after: ReadonlyMap<string, Json>): boolean {
  for (const [key, row] of after) {
    if (!key.startsWith(QUERY)) continue;
    const known = before.get(key);
    if (known !== undefined && canonicalJson(known) !== canonicalJson(row)) return true;
  }
  return false;
}
