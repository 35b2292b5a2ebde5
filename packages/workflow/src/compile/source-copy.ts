import type { Json } from '@signalbox/model';
import { limits } from './limits.ts';
import type { ProblemList } from './problem.ts';

/** A mutable copy of a source that remembers the location of each of its objects and lists. */
export interface SourceCopy {
  readonly root: unknown;
  /** The JSON pointer of an object or list of the copy, even after changes to the copy. */
  pointerOf(container: object): string;
  /** The pointer of a member: a field of an object, or an item of a list at its current index. */
  memberPointer(container: object, key: string | number): string;
  /** Removes a member: a field, or list items at these current indices. */
  remove(container: object, key: string): void;
  removeItems(list: unknown[], indices: ReadonlySet<number>): void;
}

/**
 * Copies plain data within the limits, or reports why not and returns undefined. A key named `__proto__` is reported and
 * omitted, so that no later code can trip over it.
 */
export function copySource(source: Json, problems: ProblemList): SourceCopy | undefined {
  const pointers = new WeakMap<object, string>();
  const origins = new WeakMap<object, number[]>();
  let values = 0;
  let fits = true;

  function copy(value: unknown, pointer: string, depth: number): unknown {
    if (!fits) return undefined;
    if (++values > limits.values) {
      fits = false;
      const message = `The file holds more than ${limits.values} values.`;
      problems.add('too_many_values', '', message, 'Split it into several workflows or routines.');
      return undefined;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= limits.depth) {
      fits = false;
      const message = `The file nests deeper than ${limits.depth} levels.`;
      problems.add('too_deep', pointer, message, 'Flatten what stands here.');
      return undefined;
    }
    if (Array.isArray(value)) {
      const list = value.map((item, index) => copy(item, `${pointer}/${index}`, depth + 1));
      pointers.set(list, pointer);
      origins.set(list, [...list.keys()]);
      return list;
    }
    const object: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined) continue;
      const at = `${pointer}/${pointerToken(key)}`;
      if (key === '__proto__') {
        problems.add('unknown_field', at, 'The name __proto__ is not a field and is left out.', 'Remove it.');
        continue;
      }
      object[key] = copy(member, at, depth + 1);
    }
    pointers.set(object, pointer);
    return object;
  }

  const root = copy(source, '', 0);
  if (!fits) return undefined;
  const pointerOf = (container: object) => pointers.get(container) ?? '';
  return {
    root,
    pointerOf,
    memberPointer(container, key) {
      const index = Array.isArray(container) ? (origins.get(container)?.[Number(key)] ?? key) : key;
      return `${pointerOf(container)}/${pointerToken(String(index))}`;
    },
    remove(container, key) {
      Reflect.deleteProperty(container, key);
    },
    removeItems(list, indices) {
      const origin = origins.get(list) ?? [...list.keys()];
      origins.set(
        list,
        origin.filter((_, index) => !indices.has(index)),
      );
      list.splice(0, list.length, ...list.filter((_, index) => !indices.has(index)));
    },
  };
}

/** A key escaped for a JSON pointer (RFC 6901). */
export function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The value that a JSON pointer leads to. */
export function atPointer(root: unknown, pointer: string): { readonly found: boolean; readonly value: unknown } {
  let value = root;
  if (pointer === '') return { found: true, value };
  for (const token of pointer.slice(1).split('/')) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) {
      return { found: false, value: undefined };
    }
    value = Reflect.get(value, key);
  }
  return { found: true, value };
}
