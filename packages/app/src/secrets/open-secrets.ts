import { createHmac, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  createSecretFilter,
  type KnownSecret,
  knownSecret,
  knownSecretOf,
  parsedJson,
  type SecretFilter,
  type SecretMac,
} from '@signalbox/model';
import * as z from 'zod';
import { presentOrNextToken } from '../access-token.ts';
import { makePrivateDirectory } from '../private-directory.ts';
import { readConfigPart } from '../settings/config-file.ts';
import { formsOf } from './secret-forms.ts';
import { secretsOf, type UnusableSecret } from './secret-variables.ts';

/**
 * The known secrets of a data directory (R42).
 *
 * 1. Values are stored as length and keyed hash, in `keys/secrets.ndjson`; the key is beside it, and both are private to their owner. No
 *    value is ever written.
 * 2. A secret that any process had is recognised by every later process.
 * 3. Any number of processes add to the list: each line is written atomically, and unreadable ones are skipped.
 */
export interface Secrets {
  readonly filter: SecretFilter;
  /** For threads of this process, which must not have the values. */
  readonly shared: SharedSecrets;
  readonly mac: SecretMac;
  /** Variables with secret names whose values cannot be removed from texts. */
  readonly unusable: readonly UnusableSecret[];
  /** Adds a secret, here and for every later process. Durable when it returns. */
  learn(secrets: readonly KnownSecret[]): void;
}

/** Plain data. */
export interface SharedSecrets {
  readonly key: string;
  readonly known: readonly KnownSecret[];
}

export interface SecretsOptions {
  readonly dataDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes nothing: new secrets are known to this process only. */
  readonly readOnly?: boolean;
}

/** `secrets` of the data directory's configuration. */
export const secretsPart = z.strictObject({
  /** Variables with secret values despite their names. */
  variables: z.array(z.string().min(1).max(200)).max(1000).optional(),
});

const KEY = /^[0-9a-f]{64}$/;

export function openSecrets({ dataDirectory, env, readOnly = false }: SecretsOptions): Secrets {
  const folder = path.join(dataDirectory, 'keys');
  const key = keyIn(folder, readOnly);
  const mac = macOf(key);
  const settings = readConfigPart(dataDirectory, 'secrets', secretsPart);
  const named = new Set(settings.ok ? settings.value?.variables : []);
  const { secrets, unusable } = secretsOf(env, named);
  const known = readKnown(folder);
  const macs = new Set(known.map(secret => secret.mac));
  const token = presentOrNextToken(dataDirectory, { readOnly });
  const own = token === undefined ? [] : [{ name: 'signalbox token', value: token }];
  const added: KnownSecret[] = [];
  for (const { name, value } of [...secrets, ...own]) {
    for (const form of formsOf(value)) {
      const secret = knownSecretOf(name, form, mac);
      if (macs.has(secret.mac)) continue;
      macs.add(secret.mac);
      added.push(secret);
    }
  }
  if (added.length > 0 && !readOnly) append(folder, added);
  const all = [...known, ...added];
  let filter = createSecretFilter({ known: all, mac });
  return {
    filter: {
      text: text => filter.text(text),
      data: value => filter.data(value),
      has: text => filter.has(text),
      settled: text => filter.settled(text),
    },
    shared: { key, known: all },
    mac,
    unusable,
    learn(secrets) {
      const more = secrets.filter(secret => !macs.has(secret.mac));
      if (more.length === 0) return;
      for (const secret of more) macs.add(secret.mac);
      if (!readOnly) append(folder, more);
      all.push(...more);
      filter = createSecretFilter({ known: all, mac });
    },
  };
}

/** The filter of a thread with the known secrets; without them it recognises shapes only. */
export function filterOf(shared: SharedSecrets | undefined): SecretFilter {
  const { key, known } = shared ?? { key: randomBytes(32).toString('hex'), known: [] };
  return createSecretFilter({ known, mac: macOf(key) });
}

/** Keyed hashes, as stored for values. */
export function macOf(key: string): SecretMac {
  const bytes = Buffer.from(key, 'hex');
  return text => createHmac('sha256', bytes).update(text).digest('hex');
}

/** The key of the data directory, created if there is none. If it cannot be stored, it belongs to this process alone. */
function keyIn(folder: string, readOnly: boolean): string {
  const file = path.join(folder, 'secrets.key');
  const found = keyAt(file);
  if (found !== undefined) return found;
  const made = randomBytes(32).toString('hex');
  if (readOnly) return made;
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    makePrivateDirectory(folder);
    writeFileSync(temporary, made, { mode: 0o600, flag: 'wx', flush: true });
    // The first process has created it.
    if (keyAt(file) === undefined) rmSync(file, { force: true });
    linkSync(temporary, file);
  } catch {
    // Another process created it meanwhile, or the disk is not writable: those who need the disk find out when they write.
  } finally {
    rmSync(temporary, { force: true });
  }
  return keyAt(file) ?? made;
}

function keyAt(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return KEY.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function readKnown(folder: string): readonly KnownSecret[] {
  let text: string;
  try {
    text = readFileSync(path.join(folder, LIST), 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap(line => {
    const parsed = line === '' ? undefined : knownSecret.safeParse(parsedJson(line));
    return parsed?.success === true ? [parsed.data] : [];
  });
}

function append(folder: string, secrets: readonly KnownSecret[]): void {
  try {
    makePrivateDirectory(folder);
    const handle = openSync(path.join(folder, LIST), 'a', 0o600);
    try {
      // Ends a line that a process left unfinished.
      writeFileSync(handle, `\n${secrets.map(secret => JSON.stringify(secret)).join('\n')}\n`);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch {
    // If the disk is not writable, no row of this process exists either.
  }
}

const LIST = 'secrets.ndjson';
