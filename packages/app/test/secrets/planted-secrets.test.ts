import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type ModelScript, startChild, startModelServer } from '@signalbox/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { childScript } from '../../../../test/child-script.ts';
import { bodyOfCell, cellOfBody } from '../../../store/src/runs/body-cell.ts';
import { until } from '../support/until.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  type Kind,
  kinds,
  type Planted,
  planOf,
  plantedSecrets,
  REDACTED,
  shapes,
  variableOf,
  writtenForms,
} from './planted-secrets.ts';

const child = childScript(import.meta.dirname, 'planted-child.ts');
const living = new Set<ReturnType<typeof startChild>>();
afterAll(() => {
  for (const { kill } of living) kill();
});

function newOwner(...args: readonly string[]) {
  const running = startChild(child, ...args);
  living.add(running);
  void running.ended.then(() => living.delete(running));
  return running;
}

/** An agent that says secrets, reads them from files and writes them into calls. */
function scriptOf(planted: Planted): ModelScript {
  const half = planted.split.length / 2;
  return [
    {
      text: ['I found ', planted.split.slice(0, half), planted.split.slice(half), ' and go on.'],
      calls: [
        { tool: 'read_file', input: { path: 'secrets.txt' } },
        { tool: 'write_file', input: { path: 'secrets.txt', content: `gone, but for ${planted.toolInput}` } },
      ],
    },
    { text: ['Done with ', planted.jwt.slice(0, 9), planted.jwt.slice(9)] },
  ];
}

/** Secrets that the contents of files hold, which undo and resume need: the plan's own, and what an agent overwrote. */
const inFiles: readonly string[] = ['source', 'broken', 'file', 'toolOutput', 'privateKey'];

/** Every find, as `<secret> in <place>`. */
function search(
  planted: Partial<Planted>,
  places: readonly (readonly [place: string, content: Buffer])[],
): readonly string[] {
  const wanted = Object.entries(planted).flatMap(([kind, secret]) =>
    writtenForms(secret).map(form => [kind, Buffer.from(form)] as const),
  );
  const found = places.flatMap(([place, content]) =>
    wanted.filter(([, form]) => content.includes(form)).map(([kind]) => `${kind} in ${place}`),
  );
  return [...new Set(found)].sort();
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.join(entry.parentPath, entry.name));
}

const COMPRESSED = [
  [Buffer.from([0x1f, 0x8b, 0x08]), (bytes: Buffer) => gunzipSync(bytes)],
  [Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), (bytes: Buffer) => zstdDecompressSync(bytes)],
] as const;

/** Bytes as they are, and what is compressed anywhere in them, also inside of that. */
function unpacked(bytes: Buffer): readonly Buffer[] {
  const found: Buffer[] = [bytes];
  for (const [magic, open] of COMPRESSED) {
    for (let at = bytes.indexOf(magic); at >= 0; at = bytes.indexOf(magic, at + 1)) {
      try {
        found.push(...unpacked(open(bytes.subarray(at))));
      } catch {
        // These bytes only look like it.
      }
    }
  }
  return found;
}

function contentsOf(file: string): readonly Buffer[] {
  return unpacked(readFileSync(file));
}

/** Every value of every row, read as SQLite reads it. */
function rowsOf(file: string): readonly Buffer[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
  const values = tables.flatMap(({ name }) =>
    database
      .prepare(`select * from "${name}"`)
      .all()
      .flatMap(row => Object.values(row)),
  );
  database.close();
  const bytes = values.map(value => (value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(`${value}\n`)));
  // The bodies of records are compressed with a dictionary: nothing shows from outside that they are.
  const bodies = values.filter(value => value instanceof Uint8Array).map(cell => Buffer.from(bodyOfCell(cell)));
  return [Buffer.concat(bytes), ...bytes.flatMap(value => unpacked(value).slice(1)), ...bodies];
}

describe('the search for planted secrets', () => {
  it('[A248] finds each of them as it is, encoded, and compressed anywhere in a file or a row', () => {
    const folder = temporaryFolder();
    const planted = plantedSecrets();
    const hidden = [gzipSync, zstdCompressSync, (bytes: Buffer) => gzipSync(zstdCompressSync(bytes))];
    const database = new DatabaseSync(path.join(folder, 'db.sqlite'));
    database.exec('create table t (a, b)');
    for (const [index, [kind, secret]] of Object.entries(planted).entries()) {
      for (const [at, form] of writtenForms(secret).entries()) {
        const bytes = Buffer.from(`before ${form} after`);
        const pack = hidden[at % hidden.length] ?? gzipSync;
        writeFileSync(path.join(folder, `${kind}-${at}`), Buffer.concat([Buffer.from('x'), pack(bytes)]));
        const cell = index % 2 === 0 ? cellOfBody(`${'x'.repeat(200)} ${form}`) : pack(bytes);
        database.prepare('insert into t values (?, ?)').run(kind, cell);
      }
    }
    database.close();
    const forms = Object.entries(planted).flatMap(([kind, secret]) =>
      writtenForms(secret).map((_, at) => `${kind} in ${kind}-${at}`),
    );
    const rows = Object.keys(planted).map(kind => `${kind} in a row`);
    expect(search(planted, placesIn(folder))).toEqual(expect.arrayContaining([...forms, ...rows]));
  });
});

describe('planted secrets', () => {
  it('[A248] are found in no byte below the data directory and in no answer, after everything that can happen', async () => {
    const folder = temporaryFolder();
    const data = path.join(folder, 'data');
    const planted = plantedSecrets();
    const pem = ['-----BEGIN', 'PRIVATE KEY-----\n'].join(' ');
    mkdirSync(path.join(folder, 'work'));
    writeFileSync(
      path.join(folder, 'work', 'secrets.txt'),
      `${planted.toolOutput}\n${planted.file}\n${pem}${planted.privateKey}\n-----END PRIVATE KEY-----\n`,
    );
    writeFileSync(path.join(folder, 'planted.json'), JSON.stringify(planted));
    writeFileSync(path.join(folder, 'planted.tsx'), planOf(folder, planted));
    const server = await startModelServer(scriptOf(planted));
    const model = { ANTHROPIC_API_KEY: 'the-key-of-the-model', ANTHROPIC_BASE_URL: server.url };
    const known = Object.fromEntries(kinds.map(kind => [variableOf(kind), planted[kind]]));

    writeFileSync(path.join(folder, 'env.json'), JSON.stringify({ ...model, ...known }));
    const first = newOwner(folder, 'begin');
    // It is killed where work is under way, after its agent.
    await until(() => (existsSync(path.join(folder, 'go.waits')) ? true : undefined));
    first.kill();
    const begun = await first.ended;
    expect(begun.signal).toBe('SIGKILL');
    // A value that nobody knows yet is there, so the search works.
    const atCrash = search(planted, [...placesIn(data), ['an answer', Buffer.from(begun.stdout)]]);
    expect(atCrash).toContain('found in a row');
    const afterCrash = atCrash.filter(hit => !hit.startsWith('found in '));

    // The next process has none of the variables.
    writeFileSync(path.join(folder, 'env.json'), JSON.stringify(model));
    writeFileSync(path.join(folder, 'go'), '');
    const second = newOwner(folder, 'end');
    const ended = await second.ended;
    await server.close();
    expect({ code: ended.code, signal: ended.signal }).toEqual({ code: 0, signal: null });

    const bundles = ['run.bundle', 'session.bundle'].flatMap(name =>
      contentsOf(path.join(folder, name)).map(content => [name, content] as const),
    );
    // A person found it, and took it out.
    const [before = '', after = ''] = ended.stdout.split(REDACTED);
    const { found: _, ...others } = planted;
    const early = search(others, [['an answer', Buffer.from(before)]]);
    const backup = placesIn(path.join(folder, 'backup')).map(
      ([place, content]) => [`${place} of a backup`, content] as const,
    );
    expect(backup.length).toBeGreaterThan(10);
    const places = [...placesIn(data), ...backup, ...bundles, ['an answer', Buffer.from(after)] as const];
    const found = [...afterCrash, ...early, ...search(planted, places)];
    const allowed = (hit: string) => inFiles.some(kind => hit.startsWith(`${kind} in blobs/`));
    expect(found.filter(hit => !allowed(hit))).toEqual([]);

    // Contents for undo and resume are there, for their owner alone, so the search works.
    for (const kind of ['source', 'file', 'toolOutput', 'privateKey'])
      expect(found.some(hit => hit.startsWith(`${kind} in blobs/`))).toBe(true);
    for (const file of filesBelow(path.join(data, 'blobs'))) expect(statSync(file).mode & 0o077).toBe(0);
    // Every secret came up, and its mark says which it is.
    const everything = Buffer.concat([...placesIn(data), ...bundles].map(([, content]) => content));
    const unmarked = kinds.filter(
      kind =>
        !['file', 'broken', 'source'].includes(kind) && !everything.includes(`[redacted: ${variableOf(kind as Kind)}]`),
    );
    expect(unmarked).toEqual([]);
    expect(shapes).toHaveLength(4);
    for (const shape of ['github token', 'url password', 'private key', 'json web token'])
      expect(everything.includes(`[redacted: ${shape}]`)).toBe(true);
  });
});

/** Every file of a data directory that nobody owns, and the rows of its database. */
function placesIn(data: string): readonly (readonly [string, Buffer])[] {
  const files = filesBelow(data).flatMap(file =>
    contentsOf(file).map(content => [path.relative(data, file), content] as const),
  );
  return [...files, ...rowsOf(path.join(data, 'db.sqlite')).map(content => ['a row', content] as const)];
}
