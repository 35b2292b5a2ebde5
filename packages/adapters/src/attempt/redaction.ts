import type { Json } from '@signalbox/model';

/** Redacts secret values in everything that leaves the agent. */
export interface Redactor {
  text(value: string): string;
  data<T extends Json>(value: T): T;
}

/** Shorter values occur by chance. */
const SHORTEST_SECRET = 8;

export function createRedactor(secrets: readonly string[]): Redactor {
  const values = secrets.filter(secret => secret.length >= SHORTEST_SECRET);
  const text = (value: string) => values.reduce((kept, secret) => kept.replaceAll(secret, '[redacted]'), value);
  const data = (value: Json): Json => {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(data);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [text(key), data(part as Json)]));
  };
  return { text, data: <T extends Json>(value: T) => (values.length === 0 ? value : (data(value) as T)) };
}
