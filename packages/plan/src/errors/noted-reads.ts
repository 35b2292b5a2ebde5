import { AsyncLocalStorage } from 'node:async_hooks';
import { type CalledElement, noteCircumstances } from './circumstances.ts';

const calls = new AsyncLocalStorage<Set<string>>();

/** Calls code outside a render, and notes the keys that it reads, also after it has waited. */
export function notingReads<T>(reads: Set<string>, code: () => T): T {
  return calls.run(reads, code);
}

/** Calls the author's code on an element; what it throws is remembered with the element and the keys that it read. */
export function callAuthor<T>(element: CalledElement, code: () => T): T {
  const reads = new Set<string>();
  try {
    return notingReads(reads, code);
  } catch (thrown) {
    noteCircumstances(thrown, { element, reads });
    throw thrown;
  }
}

/** Where a read outside a render is noted, if it is. */
export function readsOfCall(): Set<string> | undefined {
  return calls.getStore();
}
