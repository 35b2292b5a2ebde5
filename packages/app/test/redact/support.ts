import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { removeSearchFile } from '@signalbox/store';
import { FORMS, SECRET, secretRun } from '../../../store/test/support/secret-runs.ts';
import { type OwnedStore, openOwnedStore } from '../../src/host/owned-store.ts';
import { createRunLogWriter } from '../../src/logs/run-log-writer.ts';
import { thisMachine } from '../../src/machine.ts';
import { contentOf, isPacked } from '../../src/packed-file.ts';
import { finishTaking } from '../../src/redact/finish-taking.ts';
import { createRedactDesk, type RedactDesk, type RedactDeskPorts } from '../../src/redact/redact-desk.ts';
import { secretSearch } from '../../src/redact/secret-files.ts';
import { oneByOne } from '../../src/retention/retention-desk.ts';
import { deriveJournal } from '../../src/run-journal/derive-journal.ts';
import { rewriteJournal } from '../../src/run-journal/rewrite-journal.ts';
import { searchFile } from '../../src/search/refresh-search.ts';

const machine = thisMachine();

export function owned(data: string): OwnedStore {
  const opened = openOwnedStore(data, machine, {});
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

function portsOf(data: string, { store, secrets }: OwnedStore) {
  const rewrite = (run: RunId) => rewriteJournal(data, store, run);
  const derived = {
    ...createRunLogWriter({ reader: store, dataDirectory: data, clean: secrets.filter.data }),
    ...secretSearch(data),
    dropSearch: async () => removeSearchFile(searchFile(data)),
  };
  return { store, dataDirectory: data, machine, secrets, rewriteJournal: rewrite, derived };
}

export function deskOf(data: string, home: OwnedStore, ports: Partial<RedactDeskPorts> = {}): RedactDesk {
  return createRedactDesk({ ...portsOf(data, home), driven: () => [], alone: oneByOne(), ...ports });
}

/** The first thing that the next owner does. */
export async function takenUp(data: string): Promise<boolean> {
  const home = owned(data);
  try {
    const done = await finishTaking(portsOf(data, home));
    if (!done.ok) throw new Error(done.error.message);
    return done.value;
  } finally {
    home.close();
  }
}

/** A data directory with a secret in a run, its fork, their journals, logs and a cache. */
export async function secretHome(data: string): Promise<{ readonly run: RunId; readonly fork: RunId }> {
  const home = owned(data);
  // Past the filter: nobody knew the secret then.
  const ids = await secretRun(home.store);
  for (const id of [ids.run, ids.fork]) {
    const derived = await deriveJournal(data, home.store, id);
    if (!derived.ok) throw new Error(derived.error.message);
  }
  const log = path.join(data, 'runs', ids.run, 'logs');
  for (const folder of [log, path.join(data, 'logs'), path.join(data, 'cache', 'plans')]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'stream.ndjson'), `${JSON.stringify({ message: `it is ${SECRET}` })}\n`);
  }
  home.close();
  return ids;
}

/** The files below a directory that hold any form of the secret. No process holds the database. */
export function filesWithSecret(data: string): readonly string[] {
  if (!existsSync(data)) return [];
  return readdirSync(data, { recursive: true, encoding: 'utf8' })
    .filter(name => {
      const file = path.join(data, name);
      if (!statSync(file).isFile()) return false;
      const content = Buffer.from(isPacked(file) ? contentOf(file) : readFileSync(file));
      return FORMS.some(form => content.includes(form));
    })
    .sort();
}
