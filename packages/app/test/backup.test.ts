import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore, type Store } from '@signalbox/store';
import { describe, expect, it } from 'vitest';
import { everyAnswer, variedRun } from '../../store/test/support/varied-runs.ts';
import { backupHome, restoreHome } from '../src/backup/backup-home.ts';
import { thisMachine } from '../src/machine.ts';
import { deriveJournal } from '../src/run-journal/derive-journal.ts';
import { temporaryFolder } from './temporary-folder.ts';

const { clock } = thisMachine();

function opened(data: string): Store {
  const store = openStore({ path: path.join(data, 'db.sqlite') });
  if (!store.ok) throw new Error(store.error.message);
  return store.value;
}

/** A data directory that somebody goes on writing. */
async function inUse() {
  const data = temporaryFolder();
  const store = opened(data);
  for (const seed of [1, 2, 3]) await deriveJournal(data, store, await variedRun(store, seed));
  mkdirSync(path.join(data, 'keys'), { mode: 0o700 });
  writeFileSync(path.join(data, 'keys', 'keyring.json'), '{}', { mode: 0o600 });
  writeFileSync(path.join(data, 'owner.lock'), '');
  return { data, store, place: temporaryFolder() };
}

describe('a backup', () => {
  it('[A338] is made beside the owner, and restores every answer', async () => {
    const { data, store, place } = await inUse();
    const before = await everyAnswer(store);
    const target = path.join(place, 'backup');
    expect(backupHome(data, target, clock)).toMatchObject({ ok: true, value: { ok: true, runs: 6, defects: [] } });
    await variedRun(store, 4);
    store.close();
    expect(existsSync(path.join(target, 'owner.lock'))).toBe(false);
    expect(readFileSync(path.join(target, 'keys', 'keyring.json'), 'utf8')).toBe('{}');
    for (const name of readdirSync(target))
      expect([name, statSync(path.join(target, name)).mode & 0o077]).toEqual([name, 0]);

    const restored = path.join(place, 'restored');
    expect(restoreHome(target, restored)).toMatchObject({ ok: true, value: { ok: true, runs: 6, defects: [] } });
    const other = opened(restored);
    expect(await everyAnswer(other)).toEqual(before);
    other.close();
  });

  it('[A339] is refused where something is, and one that was changed is found out by its heads', async () => {
    const { data, store, place } = await inUse();
    store.close();
    const target = path.join(place, 'backup');
    expect(backupHome(data, data, clock)).toMatchObject({ ok: false, error: { code: 'command/usage' } });
    expect(backupHome(data, target, clock)).toMatchObject({ value: { ok: true } });
    expect(backupHome(data, target, clock)).toMatchObject({ ok: false, error: { code: 'store/unusable' } });
    expect(restoreHome(target, data)).toMatchObject({ ok: false, error: { code: 'store/unusable' } });
    expect(restoreHome(data, path.join(place, 'x'))).toMatchObject({ ok: false, error: { code: 'command/usage' } });
    const database = new DatabaseSync(path.join(target, 'db.sqlite'));
    database.exec(
      'pragma foreign_keys = off; delete from records where place / 268435456 = 1 and place % 268435456 > 3',
    );
    database.close();
    const restored = restoreHome(target, path.join(place, 'restored'));
    expect(restored).toMatchObject({ ok: true, value: { ok: false } });
    expect(JSON.stringify(restored)).toContain('has another head than when it was backed up');
  });
});
