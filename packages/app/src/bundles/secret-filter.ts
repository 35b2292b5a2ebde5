import type { Json } from '@signalbox/model';

/** Takes the values of secrets out of what leaves the machine. */
export interface SecretFilter {
  /** The same value where nothing is in it; counts what it changed. */
  data(value: Json): Json;
  /** As `data`, uncounted. */
  peek(value: Json): Json;
  isIn(content: Uint8Array): boolean;
  /** How many values were changed. */
  readonly hits: number;
}

/** What is shorter occurs by chance. */
const SHORTEST = 8;
const INSTEAD = '[redacted]';

export function createSecretFilter(secrets: readonly string[]): SecretFilter {
  const values = [...new Set(secrets)].filter(secret => secret.length >= SHORTEST);
  let hits = 0;
  const clean = (value: Json): Json => {
    if (typeof value === 'string') {
      return values.reduce((text, secret) => (text.includes(secret) ? text.replaceAll(secret, INSTEAD) : text), value);
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return sameOr(value, value.map(clean));
    const members = Object.entries(value).map(
      ([key, member]) => [clean(key) as string, clean(member as Json)] as const,
    );
    const isSame = Object.entries(value).every(
      ([key, member], at) => members[at]?.[0] === key && members[at]?.[1] === member,
    );
    return isSame ? value : Object.fromEntries(members);
  };
  const peek = (value: Json) => (values.length === 0 ? value : clean(value));
  return {
    peek,
    data(value) {
      const kept = peek(value);
      if (kept !== value) hits += 1;
      return kept;
    },
    isIn: content =>
      values.some(secret => Buffer.from(content.buffer, content.byteOffset, content.length).includes(secret)),
    get hits() {
      return hits;
    },
  };
}

/** Names of variables whose values are secrets. */
const SECRET_NAME = /(API_?KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$/i;

export function secretsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => (SECRET_NAME.test(name) && value !== undefined ? [value] : []));
}

function sameOr(before: readonly Json[], after: readonly Json[]): readonly Json[] {
  return before.every((item, at) => item === after[at]) ? before : after;
}
