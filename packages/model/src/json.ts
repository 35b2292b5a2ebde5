import * as z from 'zod';

/** Plain data: it may be persisted, hashed or sent. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A record of ours as plain data. Its type allows nothing else, but an interface has no index signature. */
export function asJson(value: object): Json {
  return value as Json;
}

/** Undefined if the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maximum nesting of plain data, so that every walk over it, including `JSON.stringify`, stays within the stack. */
export const JSON_MAX_DEPTH = 500;

// The refinements of both schemas check what their types say.
const notPlain = { error: (issue: { input?: unknown }) => plainDataFault(issue.input), abort: true };

export const json = z
  .unknown()
  .refine(value => plainDataFault(value) === undefined, notPlain) as unknown as z.ZodType<Json>;

/** An object of plain data whose keys are not fixed. */
export const jsonObject = z
  .unknown()
  .refine(value => typeof value === 'object' && value !== null && !Array.isArray(value), {
    error: 'must be an object',
    abort: true,
  })
  .refine(value => plainDataFault(value) === undefined, notPlain)
  .meta({ type: 'object' }) as unknown as z.ZodType<JsonObject>;

/** A string that has a UTF-8 form, so that it can be hashed and written. */
export const text = z.string().refine(value => value.isWellFormed(), 'must be Unicode text without lone surrogates');

/**
 * Why a value is not plain data, or undefined if it is. Nothing is converted: anything that JSON would drop or change
 * (functions, dates, instances, holes) is a fault. Only an undefined member counts as absent.
 */
export function plainDataFault(value: unknown, depth = 0): string | undefined {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? undefined : 'a string has a lone surrogate';
    case 'number':
      return Number.isFinite(value) ? undefined : `${value} is not a JSON number`;
    case 'boolean':
      return undefined;
    case 'object':
      return value === null ? undefined : containerFault(value, depth + 1);
    default:
      return `${typeof value} has no JSON form`;
  }
}

function containerFault(container: object, depth: number): string | undefined {
  if (depth > JSON_MAX_DEPTH) return `nested deeper than ${JSON_MAX_DEPTH} levels, or without end`;
  if (Array.isArray(container)) {
    for (const item of container) {
      const fault = plainDataFault(item, depth);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  if (!isPlainObject(container)) return 'an instance of a class is not plain data';
  for (const [key, member] of Object.entries(container)) {
    const fault = plainDataFault(key) ?? (member === undefined ? undefined : plainDataFault(member, depth));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** True for an object literal of any realm: its prototype, if any, is the end of the chain. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
