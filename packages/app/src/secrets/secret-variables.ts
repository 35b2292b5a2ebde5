import { existsSync } from 'node:fs';
import { redactionMark, SHORTEST_SECRET } from '@signalbox/model';
import { ownWords } from '@signalbox/runs';
import { isSecretName } from './secret-names.ts';

/** A value that must not be written, and its name. */
export interface NamedSecret {
  readonly name: string;
  readonly value: string;
}

/** A variable with a secret name whose value cannot be removed from texts. */
export interface UnusableSecret {
  readonly name: string;
  readonly why: string;
}

const HOLDS_ADDRESS = /(?:_ur[il]|connection_?strings?(?:_.*)?|dsn)$/i;
const IS_CONNECTION = /connection_?strings?(?:_.*)?$/i;

/** The secrets among variables: by name, by the password in an address, and those in `named`. */
export function secretsOf(
  variables: Readonly<Record<string, string | undefined>>,
  named: ReadonlySet<string> = new Set(),
): { readonly secrets: readonly NamedSecret[]; readonly unusable: readonly UnusableSecret[] } {
  const secrets: NamedSecret[] = [];
  const unusable: UnusableSecret[] = [];
  for (const [name, given] of Object.entries(variables)) {
    const value = given?.trim() ?? '';
    const isNamed = named.has(name);
    const isSecretByName = isNamed || (isSecretName(name) && !isPlace(value));
    const passwords = isSecretByName || HOLDS_ADDRESS.test(name) ? passwordsIn(value) : [];
    const isSecret = isSecretByName || (IS_CONNECTION.test(name) && passwords.length > 0);
    for (const secret of new Set([...(isSecret ? [value] : []), ...passwords])) {
      const why = secret === '' ? undefined : whyUnusable(secret);
      if (secret !== '' && why === undefined) secrets.push({ name, value: secret });
      else if (why !== undefined) unusable.push({ name, why });
    }
  }
  return { secrets, unusable };
}

function isPlace(value: string): boolean {
  return /^(\/|~|\.{1,2}\/|[A-Za-z]:[\\/])/.test(value) && existsSync(value);
}

/** The passwords in an address or a connection string: of a URL, in `name=value` parts, and before `@tcp(host)`. */
function passwordsIn(value: string): readonly string[] {
  const inUrl = value.includes('://') ? URL.parse(value)?.password : undefined;
  const parts = [...value.matchAll(PART)].flatMap(({ groups = {} }) => {
    const { name = '', single, double, bare } = groups;
    return isSecretName(name.trim().replaceAll(' ', '_')) ? (single ?? double ?? bare ?? []) : [];
  });
  const before = /^[^:@/\s]+:(?<password>[^@\s]+)@\w*\(/.exec(value)?.groups?.password;
  return [...(inUrl ? [decoded(inUrl)] : []), ...parts, ...(before === undefined ? [] : [before])];
}

const PART =
  /(?:^|[;&?\s])(?<name>[A-Za-z][\w -]*?)\s*=\s*(?:'(?<single>[^']+)'|"(?<double>[^"]+)"|(?<bare>[^;&\s]+))/g;

function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** Why a value cannot be removed from texts; undefined if it can. */
export function whyUnusable(value: string): string | undefined {
  if (value.length < SHORTEST_SECRET) return `it has fewer than ${SHORTEST_SECRET} characters`;
  if (redactionMark('').includes(value)) return 'it is part of the mark itself';
  if (!/^[\w.-]{1,40}$/.test(value)) return undefined;
  words ??= ownWords();
  for (const word of words) if (word.includes(value)) return 'it is a word that every run has';
  return undefined;
}

let words: ReadonlySet<string> | undefined;
