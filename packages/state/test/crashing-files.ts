import { type HostFiles, nodeHostFiles } from '../src/index.ts';

/** Changes on disk, of which the n-th ends the process with SIGKILL, before or after it is made. */
export function crashing(target: number, before: boolean): { port: HostFiles; count(): number } {
  let count = 0;
  const crash = (now: boolean) => {
    if (now && count === target) {
      process.kill(process.pid, 'SIGKILL');
      for (;;);
    }
  };
  const wrap =
    <A extends unknown[], R>(work: (...args: A) => R) =>
    (...args: A): R => {
      count++;
      crash(before);
      const result = work(...args);
      if (result instanceof Promise) {
        const mine = count;
        return result.then(value => {
          if (mine === target) {
            count = target;
            crash(!before);
          }
          return value;
        }) as R;
      }
      crash(!before);
      return result;
    };
  const { now, create, append, ...rest } = nodeHostFiles;
  const writer = (open: HostFiles['create']) => (path: string, mode: number) => {
    const own = open(path, mode);
    return { write: wrap((chunk: Uint8Array) => own.write(chunk)), close: () => own.close() };
  };
  const wrapped = Object.fromEntries(Object.entries(rest).map(([name, work]) => [name, wrap(work as () => unknown)]));
  // Every member of the port is either wrapped here or named before.
  const port = { ...wrapped, now, create: wrap(writer(create)), append: wrap(writer(append)) } as unknown as HostFiles;
  return { port, count: () => count };
}
