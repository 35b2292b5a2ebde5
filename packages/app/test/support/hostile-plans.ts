/** Plans that do what a mistake, or malice, may do to the thread that they run in. */

/** The outcome of a run of the plan. */
type HostileEnd =
  /** It is told to end: it may have ended by itself, or its start may have been refused. */
  | 'terminated'
  /** It is told to pause while it works, and then to end. */
  | 'paused'
  /** Its thread was lost to it. */
  | 'lost'
  /** It was refused what it tried, and said so. */
  | 'refused';

export interface HostilePlan {
  readonly name: string;
  readonly end: HostileEnd;
  /** The text of its file. `mark` writes a file when the deed is about to be done. */
  text(mark: string): string;
}

const HEAD = `import { writeFileSync } from 'node:fs';
import { definePlan, Task } from 'signalbox';
`;
const PLAN = (run: string) =>
  `export default definePlan({ name: 'hostile', render: () => <Task id="a" retries={0} run={${run}} /> });\n`;

/** Breaks every function of a global and of its prototype. */
const patching = (name: string): HostilePlan => ({
  name: `patches ${name}`,
  end: 'terminated',
  text: mark => `${HEAD}
const own = Reflect.ownKeys;
const define = Object.defineProperty;
const describe = Object.getOwnPropertyDescriptor;
const broken = function () { throw 'patched'; };
${mark}
export default definePlan({ name: 'hostile', render: () => {
  for (const target of [globalThis[${JSON.stringify(name)}], globalThis[${JSON.stringify(name)}]?.prototype]) {
    if (target === undefined || target === null) continue;
    for (const key of own(target)) {
      const it = describe(target, key);
      if (key !== 'constructor' && key !== 'prototype' && it.configurable && typeof it.value === 'function')
        define(target, key, { value: broken, writable: true, configurable: true });
    }
  }
  return <Task id="a" run={async () => 1} />;
} });
`,
});

const removing = (name: string): HostilePlan => ({
  name: `takes ${name} away`,
  end: 'terminated',
  text: mark => `${HEAD}${mark}
globalThis[${JSON.stringify(name)}] = undefined;
${PLAN('async () => 1')}`,
});

/** Takes a global away from a thread that goes on, and is told things. */
const working = (name: string): HostilePlan =>
  inTask(
    `takes ${name} away while it works`,
    'paused',
    `globalThis[${JSON.stringify(name)}] = undefined; await new Promise(() => {});`,
  );

const CLOCKS = `Date.now = () => 0;
Date = class extends Date { constructor() { super(0); } static now() { return 0; } };
performance.now = () => 0;
process.hrtime = () => [0, 0];
process.hrtime.bigint = () => 0n;
`;

const inTask = (name: string, end: HostileEnd, deed: string): HostilePlan => ({
  name,
  end,
  text: mark => `${HEAD}${PLAN(`async () => { ${mark} ${deed} }`)}`,
});

const GLOBALS = Object.getOwnPropertyNames(globalThis)
  .filter(name => {
    const it: unknown = Object.getOwnPropertyDescriptor(globalThis, name)?.value;
    return (typeof it === 'function' || typeof it === 'object') && it !== null && !name.startsWith('__');
  })
  .filter(name => !['globalThis', 'global', 'expect', 'GLOBAL', 'root'].includes(name))
  .toSorted();

const MOST_USED: readonly string[] = ['Array', 'Object', 'Promise'];

export const patches = (isAll: boolean): readonly HostilePlan[] => (isAll ? GLOBALS : MOST_USED).map(patching);
/** A person waits for each of these threads, so few are tried each time. */
export const workings = (isAll: boolean): readonly HostilePlan[] => (isAll ? GLOBALS : MOST_USED).map(working);
export const removals = (isAll: boolean): readonly HostilePlan[] => (isAll ? GLOBALS : ['Date']).map(removing);

const SPIN = 'for (;;);';
const GROW = 'const kept = []; for (;;) kept.push(Buffer.alloc(16_000_000, 1));';

export const deeds: readonly HostilePlan[] = [
  { name: 'stops the clock', end: 'terminated', text: mark => `${HEAD}${CLOCKS}${mark}${PLAN('async () => 1')}` },
  inTask('exits', 'lost', 'process.exit(0); await new Promise(() => {});'),
  inTask('exits for real', 'lost', 'process.reallyExit(0); await new Promise(() => {});'),
  inTask('rejects where nobody catches it', 'lost', "Promise.reject(new Error('x')); await new Promise(() => {});"),
  inTask('throws in a timer', 'lost', "setTimeout(() => { throw new Error('x'); }); await new Promise(() => {});"),
  inTask('spins', 'terminated', SPIN),
  inTask('spins in microtasks', 'terminated', 'for (;;) await null;'),
  inTask('fills buffers', 'lost', GROW),
  inTask(
    'fills buffers, a little at a time',
    'lost',
    GROW.replace('for (;;)', 'for (;;) await new Promise(setImmediate),'),
  ),
  inTask('fills the heap', 'lost', 'const kept = []; for (;;) kept.push(new Array(10_000).fill(0).map(() => ({})));'),
  inTask(
    'grows memory of WebAssembly',
    'lost',
    'const memory = new WebAssembly.Memory({ initial: 1 }); for (;;) { memory.grow(256); new Uint8Array(memory.buffer).fill(1); }',
  ),
];

/** Does something to every descriptor that the process may have, and throws if each time was refused. */
const toEach = (deed: string) =>
  `const fs = (await import('node:fs')).default; let n = 3, refused = 0;
  for (; n < 100; n++) try { ${deed}; } catch (error) { if (error.code === 'ERR_PLAN_REFUSED') refused++; }
  if (refused === 97) throw new Error('refused');`;

/** Deeds that a plan is refused, each with an error that it may catch. */
const refusals: Readonly<Record<string, string>> = {
  aborts: 'process.abort();',
  'kills the process': "process.kill(process.pid, 'SIGKILL');",
  'kills the group of the process': "process.kill(0, 'SIGKILL');",
  'kills the process by the raw call': 'process._kill(process.pid, 9);',
  'loads a native addon': "process.dlopen({ exports: {} }, '/nowhere.node');",
  'sets flags of V8': "(await import('node:v8')).setFlagsFromString('--max-old-space-size=1');",
  'attaches to the main thread': "new (await import('node:inspector')).Session().connectToMainThread();",
  'fills shared memory': 'const kept = []; for (;;) kept.push(new SharedArrayBuffer(16_000_000));',
  'closes descriptors': toEach('fs.closeSync(n)'),
  'closes descriptors by a callback': toEach('fs.close(n, () => {})'),
  'closes descriptors by a promise': toEach("await (await import('node:util')).promisify(fs.close)(n)"),
  'writes to descriptors': toEach("fs.writeSync(n, 'x')"),
  'reads descriptors': toEach('fs.readSync(n, Buffer.alloc(1))'),
  'truncates descriptors': toEach('fs.ftruncateSync(n)'),
  'replaces files by their descriptors': toEach("fs.writeFileSync(n, 'x')"),
  'reads a report of the process': 'process.report.getReport();',
  'uses the port to the host': "(await import('node:worker_threads')).parentPort.postMessage(null);",
};

/** One plan for each, or one that tries all of them. */
export const refusedDeeds = (isEach: boolean): readonly HostilePlan[] => {
  const all = Object.entries(refusals);
  const groups = isEach
    ? all.map(([name, deed]) => [name, [deed]] as const)
    : [['tries what is refused', Object.values(refusals)] as const];
  return groups.map(([name, tried]) =>
    inTask(
      name,
      'refused',
      `let caught = 0; ${tried.map(deed => `try { ${deed} } catch { caught++; }`).join(' ')} throw new Error('caught ' + caught + ' of ${tried.length}');`,
    ),
  );
};
