import { batch, effect, type Signal, signal } from '@preact/signals-core';
import type { Json } from '@signalbox/model';
import type { EffectCall } from '../effects/effect-registry.ts';
import { noteCircumstances } from '../errors/circumstances.ts';
import { readsOfCall } from '../errors/noted-reads.ts';

/** Prefixes of read keys: loops, tables that a query waits for, queries, volatile state, files, reads past the context. */
export const LOOP = 'loop:';
export const TABLE = 'db:';
export const QUERY = 'query:';
export const VOL = 'vol:';
export const FILE = 'file:';
/** What a render reads past its context and cannot be recorded, such as a variable of its process. */
export const PAST = 'past:';

/** A piece of a render, with what it read. It is evaluated once, and notified when something it read changes. */
export interface Tracked<T> {
  readonly value: T;
  readonly reads: ReadonlySet<string>;
  /** The effects that it requested, in order. */
  readonly effects: readonly EffectCall[];
  dispose(): void;
}

let reading: { readonly reads: Set<string>; readonly effects: EffectCall[] } | undefined;

/** Evaluates at once. `onStale` is called at most once, after a change of something that was read. */
export function track<T>(evaluate: () => T, onStale: () => void): Tracked<T> {
  const found = { reads: new Set<string>(), effects: [] as EffectCall[] };
  let outcome: { readonly value: T } | { readonly thrown: unknown } | undefined;
  const dispose = effect(() => {
    if (outcome !== undefined) {
      onStale();
      return;
    }
    const outer = reading;
    reading = found;
    try {
      outcome = { value: evaluate() };
    } catch (thrown) {
      noteCircumstances(thrown, { reads: found.reads });
      outcome = { thrown };
    } finally {
      reading = outer;
    }
  });
  if (outcome === undefined || 'thrown' in outcome) {
    dispose();
    throw outcome?.thrown;
  }
  return { value: outcome.value, ...found, dispose };
}

/** Values that renders read. A read inside `track` subscribes to the key, even while the key is absent. */
export interface Readable {
  read(key: string): Json | undefined;
  /** The current value, without subscribing. */
  peek(key: string): Json | undefined;
  /** Applies all changes at once: a reader of several keys is notified once. */
  write(changes: ReadonlyMap<string, Json | undefined>): void;
  entries(): ReadonlyMap<string, Json>;
}

/** `space` prefixes the key in recorded reads, so that different stores can be told apart. */
export function createReadable(space: string, initial: ReadonlyMap<string, Json>): Readable {
  const values = new Map(initial);
  const signals = new Map<string, Signal<Json | undefined>>();
  const signalOf = (key: string) => {
    let known = signals.get(key);
    if (known === undefined) {
      known = signal(values.get(key));
      signals.set(key, known);
    }
    return known;
  };
  return {
    read(key) {
      (reading?.reads ?? readsOfCall())?.add(`${space}${key}`);
      return reading === undefined ? values.get(key) : signalOf(key).value;
    },
    peek: key => values.get(key),
    write(changes) {
      batch(() => {
        for (const [key, value] of changes) {
          if (value === undefined) values.delete(key);
          else values.set(key, value);
          const known = signals.get(key);
          if (known !== undefined) known.value = value;
        }
      });
    },
    entries: () => values,
  };
}

/** The keys that the piece being evaluated reads; undefined outside a render. */
export function currentReads(): ReadonlySet<string> | undefined {
  return reading?.reads;
}

/** True while a component, a condition or a body is being evaluated. */
export function isRendering(): boolean {
  return reading !== undefined;
}

/** The hook form of an effect: it belongs to the piece that requests it. False outside a render. */
export function askForEffect(call: EffectCall): boolean {
  reading?.effects.push(call);
  return reading !== undefined;
}

/** Records a read without a key to subscribe to. */
export function noteRead(key: string): void {
  reading?.reads.add(key);
}

/** A render read something that is not recorded: its frames cannot be verified. Does nothing outside a render. */
export function notePastRead(name: string): void {
  noteRead(`${PAST}${name}`);
}
