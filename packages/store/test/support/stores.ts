import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Bug } from '@signalbox/model';
import { openStore, type Store, type StoreOptions } from '@signalbox/store';
import { onTestFinished } from 'vitest';
import { databaseOf } from './database-file.ts';

/** A directory of its own for a test, gone when the test is over. */
export function temporaryHome(): string {
  const home = mkdtempSync(path.join(tmpdir(), 'signalbox-store-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** A store that must open. The caller closes it. */
export function opened(home: string, options: Omit<StoreOptions, 'path'> = {}): Store {
  const store = openStore({ path: databaseOf(home), ...options });
  if (!store.ok) throw new Bug(store.error.message);
  return store.value;
}

/** A store of its own for a test, closed when the test is over. */
export function temporaryStore(options: Omit<StoreOptions, 'path'> = {}): Store & { readonly home: string } {
  const home = temporaryHome();
  const store = opened(home, options);
  onTestFinished(() => store.close());
  return { ...store, home };
}
