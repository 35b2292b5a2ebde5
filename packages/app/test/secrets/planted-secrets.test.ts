import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type ModelScript, startChild, startModelServer } from '@signalbox/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { childScript } from '../../../../test/child-script.ts';
import { until } from '../support/until.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  type Kind,
  kinds,
  type Planted,
  planOf,
  plantedSecrets,
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

/** What is found where: `<secret> in <place>`. */
function search(planted: Planted, places: readonly (readonly [place: string, content: Buffer])[]): readonly string[] {
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

/** A file as it is, and what is in it if it is compressed. */
function contentsOf(file: string): readonly Buffer[] {
  const bytes = readFileSync(file);
  if (bytes.length < 4) return [bytes];
  if (bytes.readUInt16BE(0) === 0x1f8b) return [bytes, gunzipSync(bytes)];
  return bytes.readUInt32BE(0) === 0x28b52ffd ? [bytes, zstdDecompressSync(bytes)] : [bytes];
}

/** Every value of every row, read as SQLite reads it. */
function rowsOf(file: string): Buffer {
  const database = new DatabaseSync(file, { readOnly: true });
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
  const values = tables.flatMap(({ name }) =>
    database
      .prepare(`select * from "${name}"`)
      .all()
      .flatMap(row => Object.values(row)),
  );
  database.close();
  return Buffer.concat(
    values.map(value => (value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(`${value}\n`))),
  );
}

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
    const afterCrash = search(planted, [...placesIn(data), ['an answer', Buffer.from(begun.stdout)]]);

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
    const answers = ['an answer', Buffer.from(ended.stdout)] as const;
    const found = [...afterCrash, ...search(planted, [...placesIn(data), ...bundles, answers])];
    const allowed = (hit: string) => inFiles.some(kind => hit.startsWith(`${kind} in blobs/`));
    expect(found.filter(hit => !allowed(hit))).toEqual([]);

    // What undo and resume need is there, for its owner alone; so the search can find something.
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
  return [...files, ['a row', rowsOf(path.join(data, 'db.sqlite'))]];
}
