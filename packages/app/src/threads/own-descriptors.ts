/**
 * Restricts a thread to the file descriptors that it opened itself. Descriptors belong to the whole process: a plan that closes unknown
 * numbers ends the process, and one that writes to them writes to the database.
 */
import type { EventEmitter } from 'node:events';
import fs from 'node:fs';

/** Functions that close a descriptor or change its file. */
const CHANGING = [
  ...['close', 'ftruncate', 'fchmod', 'fchown', 'futimes', 'fsync', 'fdatasync'],
  ...['read', 'readv', 'write', 'writev'],
].flatMap(name => [name, `${name}Sync`]);

/** Functions that take a path, or the number of a descriptor instead. */
const EITHER = ['readFile', 'writeFile', 'appendFile', 'truncate'].flatMap(name => [name, `${name}Sync`]);

/** The standard streams can be used, but not closed. */
const STANDARD = [0, 1, 2];
const USED = new Set([...['read', 'readv', 'write', 'writev'].flatMap(name => [name, `${name}Sync`]), ...EITHER]);

type Call = (...args: readonly unknown[]) => unknown;
type Functions = Record<string, Call>;

/** `fix` replaces a function for good; `refuse` throws. */
export function guardDescriptors(
  fix: (owner: object, name: string, value: unknown) => void,
  refuse: (name: string) => never,
): void {
  const own = new Set<number>();
  const replace = (owner: object, name: string, call: (real: Call, args: readonly unknown[]) => unknown) => {
    const given = (owner as Functions)[name];
    if (given === undefined) return;
    // A proxy keeps the function's other properties, such as its promise form.
    fix(
      owner,
      name,
      new Proxy(given, { apply: (real, self, args) => call((...now) => Reflect.apply(real, self, now), args) }),
    );
  };

  replace(fs, 'openSync', (open, args) => {
    const descriptor = open(...args);
    own.add(descriptor as number);
    return descriptor;
  });
  replace(fs, 'open', (open, args) => {
    const answer = args.at(-1);
    if (typeof answer !== 'function') return open(...args);
    return open(...args.slice(0, -1), (error: unknown, descriptor: unknown) => {
      if (typeof descriptor === 'number') own.add(descriptor);
      (answer as Call)(error, descriptor);
    });
  });
  replace(fs.promises, 'open', async (open, args) => {
    const handle = (await open(...args)) as fs.promises.FileHandle & EventEmitter;
    const descriptor = handle.fd;
    own.add(descriptor);
    handle.once('close', () => own.delete(descriptor));
    return handle;
  });
  for (const name of [...CHANGING, ...EITHER]) {
    replace(fs, name, (real, args) => {
      const [descriptor] = args;
      if (typeof descriptor !== 'number') return real(...args);
      if (!own.has(descriptor) && !(USED.has(name) && STANDARD.includes(descriptor))) refuse(`fs.${name}`);
      if (name === 'close' || name === 'closeSync') own.delete(descriptor);
      return real(...args);
    });
  }
}
