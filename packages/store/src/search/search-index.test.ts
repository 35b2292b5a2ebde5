import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FindQuery, RunId } from '@signalbox/model';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findInIndex } from './find-in-index.ts';
import { openSearchIndex, type SearchEntry } from './search-index.ts';

const AT = '2026-11-19T00:00:00.000Z';
const runs = ['01a1f1e2-fb92-7445-ba69-000000000001', '01a1f1e2-fb92-7445-ba69-000000000002'] as RunId[];
const [first, second] = runs as [RunId, RunId];

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'search-'));
  file = path.join(folder, 'search.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function entry(kind: SearchEntry['kind'], key: string, title: string, body = '', more: Partial<SearchEntry> = {}) {
  return { kind, key, title, body, at: AT, ...more } satisfies SearchEntry;
}

function put(run: RunId, entries: readonly SearchEntry[], from = 0, records = from + 1): boolean {
  const index = openSearchIndex({ path: file });
  try {
    const of = entries.map(one => ({ ...one, run }));
    return index.put({ id: run, run, name: `name of ${run.at(-1)}`, from, records, mark: 'run', entries: of });
  } finally {
    index.close();
  }
}

const find = (q: string, more: Partial<FindQuery> = {}) => findInIndex({ path: file }, { q, ...more });
const titles = (q: string, more: Partial<FindQuery> = {}) => find(q, more).found.map(({ title }) => title);

describe('the search index', () => {
  it('[D391] finds what has every word, as a beginning, and phrases in quotation marks', () => {
    put(first, [
      entry('message', '1', 'writer', 'The rate limit of the café was reached'),
      entry('message', '2', 'reader', 'Limits rate nobody'),
      entry('file', '3', 'src/auth/login.ts', 'edit'),
    ]);
    expect(titles('rate lim')).toEqual(['reader', 'writer']);
    expect(titles('"rate limit"')).toEqual(['writer']);
    expect(titles('cafe REACHED')).toEqual(['writer']);
    expect(titles('auth/log')).toEqual(['src/auth/login.ts']);
    expect(titles('login.ts')).toEqual(['src/auth/login.ts']);
    expect(titles('rate missing')).toEqual([]);
    expect(find('limit').found.at(-1)?.snippet).toEqual([
      { text: 'The rate ', hit: false },
      { text: 'limit', hit: true },
      { text: ' of the café was reached', hit: false },
    ]);
  });

  it('[D391] takes whatever is typed as text, never as syntax', () => {
    put(first, [entry('message', '1', 'writer', 'AND OR NOT NEAR( title : "x" ^y -z *')]);
    expect(titles('AND')).toEqual(['writer']);
    expect(titles('NOT x')).toEqual(['writer']);
    expect(titles('tags : kmessage')).toEqual([]);
    for (const q of ['"', '*', '()', '^', 'a"b', '-', 'krun:', '{title} : x']) expect(() => find(q)).not.toThrow();
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40 }), q => {
        find(q);
      }),
      { numRuns: 200 },
    );
  });

  it('[D392] lists titles first, the newest first, counted by kind, and each once over all pages', () => {
    put(first, [
      entry('message', '1', 'old', 'order'),
      entry('run', 'run', 'orders of May', ''),
      entry('call', '2', 'new', 'order'),
    ]);
    put(second, [entry('message', '1', 'newest', 'an order', { at: '2026-11-20T00:00:00.000Z' })]);
    expect(titles('order')).toEqual(['orders of May', 'newest', 'new', 'old']);
    expect(find('order').counts).toEqual({ run: 1, message: 2, call: 1 });
    expect(titles('order', { kind: ['message', 'call'] })).toEqual(['newest', 'new', 'old']);
    expect(titles('order', { run: first })).toEqual(['orders of May', 'new', 'old']);
    expect(find('order', { run: second }).counts).toEqual({ message: 1 });
    expect(titles('order', { since: '2026-11-19T12:00:00.000Z' })).toEqual(['newest']);
    expect(find('order').found[1]).toMatchObject({ run: second, runName: 'name of 2', kind: 'message' });
    const seen: string[] = [];
    for (let after: string | undefined, isMore = true; isMore; isMore = after !== undefined) {
      const page = find('order', { limit: 1, ...(after !== undefined && { after }) });
      seen.push(...page.found.map(({ title }) => title));
      after = page.next;
    }
    expect(seen).toEqual(['orders of May', 'newest', 'new', 'old']);
  });

  it('[D393] knows how far each log is indexed, and takes no part of it twice', () => {
    const call = (body: string) => entry('call', 'c', 'Edit', body, { isMore: true });
    expect(put(first, [call('a.txt')])).toBe(true);
    expect(put(first, [call('a.txt')])).toBe(false);
    expect(put(first, [call('written')], 1)).toBe(true);
    expect(titles('a.txt written')).toEqual(['Edit']);
    const index = openSearchIndex({ path: file });
    expect([...index.logs()]).toEqual([[first, { records: 2, mark: 'run' }]]);
    index.close();
  });

  it('[D393] takes several logs together, and names those that another process was faster with', () => {
    const index = openSearchIndex({ path: file });
    const log = (run: RunId, from: number, title: string) => {
      const entries = [entry('run', 'run', title)];
      return { id: run, run, name: title, from, records: from + 1, mark: 'run', entries };
    };
    put(first, [entry('run', 'run', 'known')]);
    const left = index.putAll([log(first, 0, 'late'), log(second, 0, 'begun'), log(second, 1, 'continued')]);
    expect([...left]).toEqual([first]);
    expect(['known', 'late', 'begun', 'continued'].map(word => titles(word))).toEqual([
      ['known'],
      [],
      [],
      ['continued'],
    ]);
    expect([...index.logs()].map(([id, { records }]) => [id, records])).toEqual([
      [first, 1],
      [second, 2],
    ]);
    index.close();
  });

  it('[D393] forgets a log whole: no byte of its text stays in the file', () => {
    const word = 'xylophonequartz';
    put(first, [entry('message', '1', 'writer', `${word} ${'and more '.repeat(400)}`)]);
    put(second, [entry('message', '1', 'writer', 'stays')]);
    const index = openSearchIndex({ path: file });
    index.forget(first);
    index.close();
    expect(titles(word)).toEqual([]);
    expect(titles('stays')).toEqual(['writer']);
    expect(readFileSync(file).includes(word)).toBe(false);
  });

  it('[D390] is a cache: damaged or of another version it is made again, and without it nothing is found', () => {
    expect(find('anything')).toEqual({ found: [], counts: {} });
    put(first, [entry('run', 'run', 'orders')]);
    writeFileSync(file, 'this is no database'.repeat(1000));
    expect(find('orders')).toEqual({ found: [], counts: {} });
    const index = openSearchIndex({ path: file });
    expect(index.logs().size).toBe(0);
    index.close();
    put(first, [entry('run', 'run', 'orders')]);
    expect(titles('orders')).toEqual(['orders']);
  });
});
