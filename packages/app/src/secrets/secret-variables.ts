import { existsSync } from 'node:fs';
import { redactionMark, SHORTEST_SECRET } from '@signalbox/model';
import { ownWords } from '@signalbox/runs';

/** A value that must not be written down, and what it is called. */
export interface NamedSecret {
  readonly name: string;
  readonly value: string;
}

/** A variable that holds a secret by its name, whose value cannot be taken out. */
export interface UnusableSecret {
  readonly name: string;
  readonly why: string;
}

const ENDS_SECRET = /(api_?key|token|secret|password|passwd|passphrase|credential)s?$/i;
const WORD_SECRET = /(^|_)(keys?|pass|pwd|pat|dsn|cookie|auth)$/i;
const HOLDS_ADDRESS = /(_ur[il]|connection_string)$/i;
/** The working directory, and the one before. */
const NOT_SECRET = new Set(['PWD', 'OLDPWD']);

/** The secrets among variables: by their names, by the password in an address, and those that are `named` as secret. */
export function secretsOf(
  variables: Readonly<Record<string, string | undefined>>,
  named: ReadonlySet<string> = new Set(),
): { readonly secrets: readonly NamedSecret[]; readonly unusable: readonly UnusableSecret[] } {
  const secrets: NamedSecret[] = [];
  const unusable: UnusableSecret[] = [];
  for (const [name, given] of Object.entries(variables)) {
    const value = given?.trim() ?? '';
    const isNamed = named.has(name);
    const isSecret = isNamed || (isSecretName(name) && !isPlace(value));
    const password = isSecret || HOLDS_ADDRESS.test(name) ? passwordIn(value) : undefined;
    for (const secret of [...(isSecret ? [value] : []), ...(password === undefined ? [] : [password])]) {
      const why = secret === '' ? undefined : whyUnusable(secret);
      if (secret !== '' && why === undefined) secrets.push({ name, value: secret });
      else if (why !== undefined) unusable.push({ name, why });
    }
  }
  return { secrets, unusable };
}

export function isSecretName(name: string): boolean {
  return !NOT_SECRET.has(name) && (ENDS_SECRET.test(name) || WORD_SECRET.test(name));
}

function isPlace(value: string): boolean {
  return /^(\/|~|\.{1,2}\/|[A-Za-z]:[\\/])/.test(value) && existsSync(value);
}

function passwordIn(value: string): string | undefined {
  if (!value.includes('://')) return undefined;
  const password = URL.parse(value)?.password;
  if (!password) return undefined;
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

function whyUnusable(value: string): string | undefined {
  if (value.length < SHORTEST_SECRET) return `it has fewer than ${SHORTEST_SECRET} characters`;
  if (redactionMark('').includes(value)) return 'it is part of the mark itself';
  if (!/^[\w.-]{1,40}$/.test(value)) return undefined;
  words ??= ownWords();
  for (const word of words) if (word.includes(value)) return 'it is a word that every run has';
  return undefined;
}

let words: ReadonlySet<string> | undefined;
