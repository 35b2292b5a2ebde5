/**
 * What a thread reserves and disables before plan code is loaded in it. A plan is its author's code; this protects the rest from its
 * mistakes. It is not a barrier against malicious code: see docs/plans-and-trust.md.
 *
 * 1. The port to the host belongs to this file: no plan finds it where Node has it.
 * 2. Functions that end the process, or reach the owner's memory and environment, refuse.
 * 3. Descriptors that the thread did not open are neither closed nor used by it.
 * 4. Shared memory, which no limit of a thread counts, is bounded here.
 */
import inspector from 'node:inspector';
import { syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';
import workerThreads from 'node:worker_threads';
import { Bug } from '@signalbox/model';
import { guardDescriptors } from './own-descriptors.ts';
import type { ThreadData } from './thread-api.ts';

if (workerThreads.parentPort === null) throw new Bug('this is the entry of a thread');

export const port = workerThreads.parentPort;
export const data = workerThreads.workerData as ThreadData;

/** Call it when all our code is loaded, and before any plan is. */
export function guardThread(sharedBytes: number): void {
  fix(workerThreads, 'parentPort', null);
  fix(workerThreads, 'workerData', null);
  fix(inspector, 'open', refuse('inspector.open'));
  fix(inspector, 'waitForDebugger', refuse('inspector.waitForDebugger'));
  fix(inspector.Session.prototype, 'connectToMainThread', refuse('inspector.Session.connectToMainThread'));
  fix(v8, 'setFlagsFromString', refuse('v8.setFlagsFromString'));
  const { process } = globalThis;
  // A report lists the environment of the whole process.
  fix(process, 'report', undefined);
  fix(process, 'dlopen', refuse('A native addon', 'Start a process for it.'));
  for (const name of ['binding', '_linkedBinding', '_debugProcess', 'abort', 'execve']) {
    fix(process, name, refuse(`process.${name}`));
  }
  const { kill } = process;
  fix(process, 'kill', (pid: number, signal?: NodeJS.Signals | number) => {
    if (signal !== 0 && isOwner(Number(pid))) refuse('process.kill of the process itself', 'Throw an error instead.')();
    return kill(pid, signal);
  });
  // `process.kill` calls it on the process object that it was looked up on.
  const { _kill: rawKill } = process as unknown as { readonly _kill: (pid: number, signal: number) => number };
  fix(process, '_kill', (pid: number, signal: number) => {
    if (signal !== 0 && isOwner(Number(pid))) refuse('process._kill of the process itself')();
    return rawKill(pid, signal);
  });
  guardDescriptors(fix, name => refuse(`${name} of a descriptor that the plan did not open`)());
  boundSharedMemory(sharedBytes);
  syncBuiltinESMExports();
}

/** Whether a signal to it would reach this process: by its id, its group, or as a broadcast. */
function isOwner(pid: number): boolean {
  return pid === process.pid || pid === 0 || pid === -1 || pid === -process.pid;
}

function refuse(what: string, instead = ''): () => never {
  return () => {
    const message = `${what} is not available in a plan: it is shared with every other run. ${instead}`.trimEnd();
    throw Object.assign(new Error(message), { code: 'ERR_PLAN_REFUSED' });
  };
}

function fix(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, writable: false, configurable: false, enumerable: true });
}

function boundSharedMemory(most: number): void {
  const { SharedArrayBuffer: Shared, FinalizationRegistry: Registry } = globalThis;
  let bytes = 0;
  const freed = new Registry<number>(size => {
    bytes -= size;
  });
  const bounded = new Proxy(Shared, {
    construct(target, args, newTarget) {
      const [length, options] = args as [unknown, { readonly maxByteLength?: unknown } | undefined];
      const size = Number(options?.maxByteLength ?? length ?? 0) || 0;
      if (bytes + size > most) throw new RangeError('Array buffer allocation failed');
      const made = Reflect.construct(target, args, newTarget === bounded ? target : newTarget) as object;
      bytes += size;
      freed.register(made, size);
      return made;
    },
  });
  fix(globalThis, 'SharedArrayBuffer', bounded);
  fix(Shared.prototype, 'constructor', bounded);
}
