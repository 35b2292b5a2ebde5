import { writeFileSync } from 'node:fs';
import { Bug, type RunId, utf8Bytes } from '@signalbox/model';
import { openReader, type Reader } from '@signalbox/store';
import { startChild } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { at, frame, interval, set, signal, startRun } from '../../runs/test/builders.ts';
import { describeRunStore } from '../../runs/test/contract/run-store.ts';
import { migrate, migrations, SCHEMA_VERSION } from '../src/migrations/migrate.ts';
import { openConnection } from '../src/sqlite/connection.ts';
import { databaseOf } from './support/database-file.ts';
import { opened, temporaryHome, temporaryStore } from './support/stores.ts';

const CHILD = childScript(import.meta.dirname, 'support/child.ts');

describeRunStore('SQLite, read beside the owner', () => {
  const store = temporaryStore();
  return { ...store, ...reading(store.home) };
});

function reading(home: string): Reader {
  const reader = openReader({ path: databaseOf(home) });
  if (!reader.ok) throw new Bug(reader.error.message);
  onTestFinished(() => reader.value.close());
  return reader.value;
}

describe('a reader beside the owner', () => {
  it('[D20] sees each commit as soon as it is answered, and blobs', async () => {
    const home = temporaryHome();
    const store = opened(home);
    const writer = await startRun(store);
    const reader = reading(home);
    for (let index = 0; index < 20; index++) {
      const big = 'x'.repeat(index === 7 ? 100_000 : 10);
      const intervals = [interval('state', 'a', index, set(big))];
      await writer.write({ at: at(), frame: frame(index), intervals, events: [signal(`${index}`)] });
      expect(await reader.run(writer.run)).toEqual(await store.run(writer.run));
      expect(await reader.valueAt(writer.run, 'state', 'a', index)).toBe(big);
      expect((await reader.events(writer.run, index + 1, 5)).map(({ event }) => event.seq)).toEqual([index + 1]);
    }
    const put = await store.put([utf8Bytes('a prompt')]);
    expect(put.ok && (await reader.get(put.value[0] as never))).toEqual({ ok: true, value: Buffer.from('a prompt') });
    store.close();
    expect((await reader.runs()).items.map(({ id }) => id)).toEqual([writer.run]);
  });

  it('[D20] in another process reads while it writes, and what it acknowledged after it was killed', async () => {
    const home = temporaryHome();
    const child = startChild(CHILD, 'committing', home);
    let seen = '';
    await new Promise<void>(resolve => {
      child.process.stdout?.on('data', (chunk: string) => {
        seen += chunk;
        if (seen.split('\n').length > 40) resolve();
      });
    });
    const beside = reading(home);
    const during = (await beside.runs()).items.length;
    child.kill();
    const { stdout } = await child.ended;
    const acknowledged = stdout.split('\n').slice(0, -1);
    const after = reading(home);
    const kept = new Set<string>();
    for (const { id } of (await after.runs()).items) {
      for (const { event } of await after.events(id as RunId, 0, 100_000)) {
        if (event.type === 'signal.received') kept.add(`${event.payload} ${event.name}`);
      }
    }
    expect(during).toBe(4);
    expect([...new Set(acknowledged).difference(kept)]).toEqual([]);
  });

  it('[D21] says what is not there, older, newer or not ours, and leaves it as it is', () => {
    const codeOf = (home: string) => {
      const reader = openReader({ path: databaseOf(home) });
      if (reader.ok) reader.value.close();
      return reader.ok ? 'ok' : reader.error.code;
    };
    expect(codeOf(temporaryHome())).toBe('store/missing');
    expect(codeOf(`${temporaryHome()}/nowhere`)).toBe('store/missing');
    const versioned = (version: number, steps: typeof migrations = migrations) => {
      const home = temporaryHome();
      const connection = openConnection(databaseOf(home));
      if (!connection.ok) throw new Bug(connection.error.message);
      migrate(connection.value, steps);
      connection.value.exec(`pragma user_version = ${version}`);
      connection.value.close();
      return home;
    };
    expect(codeOf(versioned(0, []))).toBe('store/missing');
    expect([1, 6, SCHEMA_VERSION - 1, SCHEMA_VERSION].map(version => codeOf(versioned(version)))).toEqual([
      'store/older',
      'store/older',
      'store/older',
      'ok',
    ]);
    expect(codeOf(versioned(SCHEMA_VERSION + 1))).toBe('store/newer');
    const foreign = temporaryHome();
    writeFileSync(databaseOf(foreign), 'not a database'.repeat(500));
    expect(codeOf(foreign)).toBe('store/unusable');
    const empty = temporaryHome();
    writeFileSync(databaseOf(empty), '');
    expect(codeOf(empty)).toBe('store/missing');
  });
});
