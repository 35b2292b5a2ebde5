import type { DatabaseSync } from 'node:sqlite';
import {
  type FindKind,
  type FindQuery,
  type FoundList,
  type FoundThing,
  findKind,
  foundThing,
  type SnippetPart,
} from '@signalbox/model';
import type { Row } from '../sqlite/row-codec.ts';
import { kindTag, readSearchFile, runTag } from './search-schema.ts';

/** Without `behind`, which only who can read the logs knows. */
export type Found = Omit<FoundList, 'behind'>;

const DEFAULT_LIMIT = 30;
const NOTHING: Found = { found: [], counts: {} };

/** Searches the index in a file; nothing is found without one. Throws SQLite's errors. */
export function findInIndex({ path }: { readonly path: string }, query: FindQuery): Found {
  const database = readSearchFile(path);
  if (database === undefined) return NOTHING;
  try {
    return findIn(database, query);
  } finally {
    database.close();
  }
}

/** How many words of a text are shown. */
const WORDS_AROUND = 18;
const [BEGIN, END] = ['\u0002', '\u0003'];

/** Searches an open index. */
export function findIn(
  database: DatabaseSync,
  { q, kind, run, since, after, limit = DEFAULT_LIMIT }: FindQuery,
): Found {
  const match = matchOf(q);
  if (match === undefined) return NOTHING;
  const inRun = run === undefined ? '' : ` AND tags : ${runTag(run)}`;
  const ofKinds = kind === undefined ? '' : ` AND tags : (${kind.map(kindTag).join(' OR ')})`;
  const from = Number(after ?? 0);
  const end = from + limit + 1;
  const page = database.prepare(PAGE);
  const rowsOf = (columns: string) =>
    page.all({ match: `${columns} : (${match})${inRun}${ofKinds}`, since: since ?? null, limit: end });
  // What is called so comes first, then what says so; the newest first.
  const titled = rowsOf('title');
  const isTitled = new Set(titled.map(({ n }) => n));
  const said = titled.length >= end ? [] : rowsOf('{title body}').filter(({ n }) => !isTitled.has(n));
  const rows = [...titled, ...said].slice(from, end);
  const counts: Partial<Record<FindKind, number>> = {};
  const all = { match: `{title body} : (${match})${inRun}`, since: since ?? null };
  for (const { kind: one, count } of database.prepare(COUNT).all(all)) counts[findKind.parse(one)] = Number(count);
  const things = rows.slice(0, limit).map(thingOf);
  return { found: things, counts, ...(rows.length > limit && end <= MOST_PAGES && { next: String(from + limit) }) };
}

/** Further pages are not asked for: a longer text finds less. */
const MOST_PAGES = 2_000;

/** In the order of the index, so that texts are cut for these rows only. */
const PAGE = `
  select entries.*, logs.name, words.title, snippet(words, 1, '${BEGIN}', '${END}', '…', ${WORDS_AROUND}) as snippet from words join entries on entries.n = words.rowid left join logs on logs.id = entries.log
  where words match :match and (:since is null or at >= :since) order by words.rowid desc limit :limit`;

/** Among the newest so many: a word that most texts have is not counted to the end. */
const MOST_COUNTED = 2_000;

const COUNT = `
  select kind, count(*) as count from (
    select kind from words join entries on entries.n = words.rowid
    where words match :match and (:since is null or at >= :since) order by words.rowid desc limit ${MOST_COUNTED})
  group by kind`;

function thingOf(row: Row): FoundThing {
  const { title, snippet, kind, run, session, node, artifact, name, at } = row;
  return foundThing.parse({
    kind,
    run: run ?? undefined,
    session: session ?? undefined,
    node: node ?? undefined,
    artifact: artifact ?? undefined,
    runName: name ?? undefined,
    title: String(title ?? ''),
    snippet: partsOf(String(snippet ?? '')),
    at,
  });
}

/** A text with marks around its hits, in parts. */
function partsOf(marked: string): readonly SnippetPart[] {
  return marked.split(BEGIN).flatMap((part, index) => {
    const [hit = '', rest] = index === 0 ? ['', part] : part.split(END);
    return [
      { text: hit, hit: true },
      { text: rest ?? '', hit: false },
    ].filter(({ text }) => text !== '');
  });
}

/** FTS5's form of what a person typed: every word as a beginning, words in quotation marks as a phrase. Undefined without words. */
function matchOf(typed: string): string | undefined {
  const terms = [...typed.matchAll(/"([^"]*)"?|([^\s"]+)/g)].flatMap(([, phrase, word]) => {
    const term = phrase ?? word ?? '';
    if (!/[\p{L}\p{N}]/u.test(term)) return [];
    return [`"${term}"${phrase === undefined ? ' *' : ''}`];
  });
  return terms.length === 0 ? undefined : terms.join(' ');
}
