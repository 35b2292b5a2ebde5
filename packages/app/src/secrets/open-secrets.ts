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
 * What a data directory knows of secrets (R42).
 *
 * 1. Values are kept as length and keyed hash, in `keys/secrets.ndjson`; the key is beside it, and both are for their owner
 *    alone. No value is ever written.
 * 2. A secret that any process had is recognised by every process after it.
 * 3. Any number of processes add to the list: a line is written at once, and one that cannot be read is passed over.
 */
export interface Secrets {
  readonly filter: SecretFilter;
  /** For threads of this process, which must not have the values. */
  readonly shared: SharedSecrets;
  readonly mac: SecretMac;
  /** Variables that are called secret and cannot be taken out. */
  readonly unusable: readonly UnusableSecret[];
  /** Knows one more secret from now on, here and in every process after this one. Durable when it returns. */
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
  /** Nothing is written: what this process knows, it knows alone. */
  readonly readOnly?: boolean;
}

/** `secrets` of the data directory's configuration. */
const secretSettings = z.strictObject({
  /** Variables whose values are secret though their names do not say so. */
  variables: z.array(z.string().min(1).max(200)).max(1000).optional(),
});

const KEY = /^[0-9a-f]{64}$/;

export function openSecrets({ dataDirectory, env, readOnly = false }: SecretsOptions): Secrets {
  const folder = path.join(dataDirectory, 'keys');
  const key = keyIn(folder, readOnly);
  const mac = macOf(key);
  const settings = readConfigPart(dataDirectory, 'secrets', secretSettings);
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

/** The filter of a thread that was given what is known; one that was given nothing recognises shapes. */
export function filterOf(shared: SharedSecrets | undefined): SecretFilter {
  const { key, known } = shared ?? { key: randomBytes(32).toString('hex'), known: [] };
  return createSecretFilter({ known, mac: macOf(key) });
}

/** Keyed hashes, as they are kept of values. */
export function macOf(key: string): SecretMac {
  const bytes = Buffer.from(key, 'hex');
  return text => createHmac('sha256', bytes).update(text).digest('hex');
}

/** The key of the data directory, made where there is none. Where it cannot be kept, it is of this process alone. */
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
    // Whoever is first has made it.
    if (keyAt(file) === undefined) rmSync(file, { force: true });
    linkSync(temporary, file);
  } catch {
    // Another process made it meanwhile, or the disk takes nothing: whoever needs the disk is told by what it writes.
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
      // A line that a process left unfinished ends here.
      writeFileSync(handle, `\n${secrets.map(secret => JSON.stringify(secret)).join('\n')}\n`);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch {
    // A disk that takes nothing has no row of this process either.
  }
}

const LIST = 'secrets.ndjson';
