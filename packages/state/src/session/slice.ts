import type * as z from 'zod';
import { defaultPolicy, type SlicePolicy } from './slice-policy.ts';

/** A named, typed list in a session. Items are plain data and never change once they are in. */
export interface Slice<T> {
  readonly name: string;
  readonly item: z.ZodType<T>;
  readonly policy: SlicePolicy;
}

/** A named, typed event that reducers handle. */
export interface SessionEvent<E> {
  readonly name: string;
  readonly payload: z.ZodType<E>;
}

/** Pure: takes the current items and returns operations as data. */
export type Reducer<T, E> = (items: readonly T[], event: E) => SliceOperation<T>;

export type SliceOperation<T> =
  | { readonly kind: 'append'; readonly item: T }
  | { readonly kind: 'extend'; readonly items: readonly T[] }
  | { readonly kind: 'replace'; readonly items: readonly T[] }
  | { readonly kind: 'clear' };

export function defineSlice<T>(definition: {
  readonly name: string;
  readonly item: z.ZodType<T>;
  readonly policy?: SlicePolicy;
}): Slice<T> {
  return { ...definition, policy: definition.policy ?? defaultPolicy(definition.name) };
}

export function defineEvent<E>(name: string, payload: z.ZodType<E>): SessionEvent<E> {
  return { name, payload };
}

export const append = <T>(item: T): SliceOperation<T> => ({ kind: 'append', item });
export const extend = <T>(items: readonly T[]): SliceOperation<T> => ({ kind: 'extend', items });
export const replace = <T>(items: readonly T[]): SliceOperation<T> => ({ kind: 'replace', items });
export const clear = (): SliceOperation<never> => ({ kind: 'clear' });
