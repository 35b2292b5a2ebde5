import type { JsonObject } from '@signalbox/model';

/** What an answer has said so far of its spending. */
export interface Told {
  readonly model?: string;
  /** All input, cached or not. */
  readonly input?: number;
  readonly output?: number;
  /** Both are part of `input`. */
  readonly cached?: number;
  readonly cacheWrite?: number;
}

/** One vendor's format, as far as the meter reads it. It writes nothing but refusals. */
export interface Wire {
  /** Whether a path is a call of a model in this format, and the model if the path names it. */
  call(path: string): { readonly model?: string } | undefined;
  /** The most tokens that a request lets the model answer; undefined if it does not say, NaN if it says something else than a number. */
  maxOutput(body: JsonObject): number | undefined;
  /** How many answers it asks for, each as long. */
  answers(body: JsonObject): number;
  /** What an event of the stream, or a whole answer, adds to what was told. */
  told(before: Told, data: JsonObject): Told;
  /** Bytes that an event of its stream has if it is the last one that a client waits for; undefined if only the end of the body is. */
  readonly endMarks: readonly string[];
  isLast(data: JsonObject | string): boolean;
  /** The body of a refusal. */
  refusal(status: number, message: string): JsonObject;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function member(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);
}

export function objectAt(value: unknown, ...path: readonly string[]): JsonObject | undefined {
  const found = member(value, ...path);
  return isObject(found) ? found : undefined;
}

/** A count of tokens; undefined if it is none. */
export function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The most that a request names, in whichever of the members that its provider reads. Other values than counts are read differently by providers. */
export function most(...values: readonly unknown[]): number | undefined {
  const given = values.filter(value => value !== undefined && value !== null);
  return given.length === 0 ? undefined : Math.max(...given.map(value => count(value) ?? Number.NaN));
}

export function name(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= 256 ? value : undefined;
}

/** Only what is known replaces what was told before. */
export function known(told: { readonly [Name in keyof Told]: Told[Name] | undefined }): Told {
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined));
}
