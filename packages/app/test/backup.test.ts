import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
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
  it('[A716] has no programs of agents, and none of their homes', async () => {
    const { data, store, place } = await inUse();
    store.close();
    for (const name of ['agents/claude/node_modules', 'agent-homes/one']) {
      mkdirSync(path.join(data, name), { recursive: true, mode: 0o700 });
      writeFileSync(path.join(data, name, 'file'), 'x');
    }
    const target = path.join(place, 'backup');
    expect(backupHome(data, target, clock)).toMatchObject({ ok: true, value: { ok: true, defects: [] } });
    expect(readdirSync(target).filter(name => name.startsWith('agent') || name === 'reserve')).toEqual([]);
  });

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

  it('[A560] that is not what was written waits for nothing, and brings no link, device, pipe or mode with it', async () => {
    const { data, store, place } = await inUse();
    store.close();
    const target = path.join(place, 'backup');
    expect(backupHome(data, target, clock)).toMatchObject({ value: { ok: true } });
    const secret = path.join(place, 'secret');
    writeFileSync(secret, 'a secret of somebody');
    let tries = 0;
    const restoredWith = (tamper: (backup: string) => void) => {
      tries += 1;
      const [backup, home] = [path.join(place, `tampered-${tries}`), path.join(place, `restored-${tries}`)];
      cpSync(target, backup, { recursive: true, preserveTimestamps: true });
      tamper(backup);
      return { home, said: restoreHome(backup, home) };
    };
    const refused = (name: string) => ({
      ok: false,
      error: { code: 'command/usage', message: expect.stringContaining(`${name} is not a file`) },
    });
    for (const name of ['backup.json', 'db.sqlite']) {
      for (const make of [
        (file: string) => execFileSync('mkfifo', [file]),
        (file: string) => symlinkSync('/dev/zero', file),
        (file: string) => mkdirSync(file),
      ]) {
        const { home, said } = restoredWith(backup => {
          rmSync(path.join(backup, name));
          make(path.join(backup, name));
        });
        expect(said).toMatchObject(refused(name));
        expect(existsSync(home)).toBe(false);
      }
    }
    const large = restoredWith(backup => truncateSync(path.join(backup, 'backup.json'), 2 ** 33));
    expect(large.said).toMatchObject({ ok: false, error: { code: 'command/usage' } });

    const { home, said } = restoredWith(backup => {
      symlinkSync(secret, path.join(backup, 'token'));
      execFileSync('mkfifo', [path.join(backup, 'runs', 'pipe')]);
      writeFileSync(path.join(backup, 'program'), '#!/bin/sh\n');
      chmodSync(path.join(backup, 'program'), 0o6777);
      chmodSync(path.join(backup, 'keys', 'keyring.json'), 0o400);
      chmodSync(path.join(backup, 'keys'), 0o2777);
    });
    expect(said).toMatchObject({
      ok: true,
      value: {
        ok: false,
        defects: ['runs/pipe', 'token'].map(name => `${name} is a link, a device or a pipe, and was left out`),
      },
    });
    expect([existsSync(path.join(home, 'token')), existsSync(path.join(home, 'runs/pipe'))]).toEqual([false, false]);
    const modes = ['program', 'keys/keyring.json', 'keys'].map(name => statSync(path.join(home, name)).mode & 0o7777);
    expect(modes).toEqual([0o600, 0o600, 0o700]);
  });

  it('[A561] leaves out what the kernel keeps below a layer', async () => {
    const { data, store, place } = await inUse();
    store.close();
    const layer = path.join(data, 'layers', 'one');
    mkdirSync(path.join(layer, 'upper'), { recursive: true });
    mkdirSync(path.join(layer, 'work', 'work'), { recursive: true });
    writeFileSync(path.join(layer, 'upper', 'script'), '#!/bin/sh\n', { mode: 0o755 });
    const target = path.join(place, 'backup');
    expect(backupHome(data, target, clock)).toMatchObject({ value: { ok: true } });
    expect(readdirSync(path.join(target, 'layers', 'one'))).toEqual(['upper']);
    expect(statSync(path.join(target, 'layers/one/upper/script')).mode & 0o777).toBe(0o700);
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
