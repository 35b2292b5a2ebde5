/**
 * An immutable list that grows cheaply: lists that extend one another share one buffer, so a log of n items costs n
 * slots however many snapshots of it exist.
 *
 * Invariant: a buffer is only pushed to by the list whose length is the buffer's length; every other list copies.
 */
export interface AppendList<T> {
  readonly buffer: T[];
  readonly length: number;
}

export function listOf<T>(items: readonly T[]): AppendList<T> {
  return { buffer: [...items], length: items.length };
}

export function extended<T>(list: AppendList<T>, items: readonly T[]): AppendList<T> {
  const buffer = list.buffer.length === list.length ? list.buffer : list.buffer.slice(0, list.length);
  for (const item of items) buffer.push(item);
  return { buffer, length: buffer.length };
}

export function itemsOf<T>(list: AppendList<T>): readonly T[] {
  return list.buffer.slice(0, list.length);
}

export function lastOf<T>(list: AppendList<T>): T | undefined {
  return list.length === 0 ? undefined : list.buffer[list.length - 1];
}
