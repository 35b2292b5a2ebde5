/**
 * Watches what the code of a plan does past its context.
 *
 * 1. A render only reads and computes: files, programs, the network, timers, the machine's time and its randomness throw there, with the
 *    author's line. What the engine does for a render, such as `ctx.fs`, is not the plan's.
 * 2. What a render reads of its process and machine that the engine cannot record, such as a variable, is noted: its frames cannot be verified.
 * 3. Inside a tool's call, changes past its `files` and `command` are noted by name: they are not undone with it.
 *
 * It sees functions of Node's modules and of the global scope. Native addons and other threads pass it by.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import childProcess from 'node:child_process';
import crypto from 'node:crypto';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import { setImmediate, setInterval, setTimeout } from 'node:timers';
import timers from 'node:timers/promises';
import tls from 'node:tls';
import { isRendering, notePastRead, PlanError, planPosition } from '@signalbox/plan';

/** What a call has done past its files and commands, by name. */
const outside = new AsyncLocalStorage<Set<string>>();

/** Runs the code of a tool, and notes what it does past its call, also after it has waited. */
export function notingOutside<T>(noted: Set<string>, code: () => T): T {
  return outside.run(noted, code);
}

let isOurs = false;

/** Functions that the engine gives to plans, such as those of `ctx.fs`: what they do is not the plan's. They do not wait. */
export function unwatched<T extends object>(given: T): T {
  const wrapped = Object.entries(given).map(([name, value]) => {
    if (typeof value !== 'function') return [name, value];
    const call = (...args: readonly unknown[]) => {
      const before = isOurs;
      isOurs = true;
      try {
        return Reflect.apply(value, given, args);
      } finally {
        isOurs = before;
      }
    };
    return [name, call];
  });
  return Object.fromEntries(wrapped) as T;
}

/** `past`: harmless to read, but another process may read something else. */
type Kind = 'reads' | 'changes' | 'past';
type AnyFunction = (...args: unknown[]) => unknown;

const CHANGES =
  /^(?:write|append|mkdir|mkdtemp|rm|rmdir|unlink|rename|cp|copyFile|truncate|ftruncate|chmod|chown|link|symlink|utimes|createWriteStream)/;
const READS = /^(?:read|open|stat|lstat|access|exists|createReadStream|watch|glob|realpath)/;

/** Call it once, when all our code is loaded. */
export function watchIo(): void {
  for (const name of Object.keys(fs)) watchFunction(fs, name, `fs.${name}`, kindOf(name));
  for (const name of Object.keys(fs.promises)) watchFunction(fs.promises, name, `fs.promises.${name}`, kindOf(name));
  const programs = ['spawn', 'exec', 'execFile', 'fork', 'spawnSync', 'execSync', 'execFileSync'];
  for (const name of programs) watchFunction(childProcess, name, `child_process.${name}`, 'changes');
  for (const [module, name] of [
    [http, 'http'],
    [https, 'https'],
  ] as const)
    for (const method of ['request', 'get']) watchFunction(module, method, `${name}.${method}`, 'changes');
  for (const name of ['connect', 'createConnection']) watchFunction(net, name, `net.${name}`, 'changes');
  watchFunction(globalThis, 'fetch', 'fetch', 'changes');
  watchFunction(http2, 'connect', 'http2.connect', 'changes');
  watchFunction(tls, 'connect', 'tls.connect', 'changes');
  watchFunction(dgram, 'createSocket', 'dgram.createSocket', 'changes');
  for (const name of ['lookup', 'resolve']) {
    watchFunction(dns, name, `dns.${name}`, 'reads');
    watchFunction(dns.promises, name, `dns.promises.${name}`, 'reads');
  }
  watchClass('WebSocket');
  for (const name of ['setTimeout', 'setInterval', 'setImmediate'])
    watchFunction(globalThis, name, name, 'reads', { setTimeout, setInterval, setImmediate }[name] as AnyFunction);
  for (const name of ['setTimeout', 'setInterval', 'setImmediate'])
    watchFunction(timers, name, `timers/promises.${name}`, 'reads');
  watchFunction(Math, 'random', 'Math.random', 'reads');
  for (const name of ['randomUUID', 'randomBytes', 'randomInt', 'randomFill', 'randomFillSync', 'getRandomValues'])
    watchFunction(crypto, name, `crypto.${name}`, 'reads');
  for (const name of ['randomUUID', 'getRandomValues'])
    watchFunction(Crypto.prototype, name, `crypto.${name}`, 'reads');
  watchFunction(Date, 'now', 'Date.now', 'reads');
  watchFunction(performance, 'now', 'performance.now', 'reads');
  watchFunction(process, 'hrtime', 'process.hrtime', 'reads');
  for (const name of ['cwd', 'uptime', 'memoryUsage', 'cpuUsage', 'resourceUsage'])
    watchFunction(process, name, `process.${name}`, 'past');
  for (const name of Object.keys(os)) watchFunction(os, name, `os.${name}`, 'past');
  watchVariables();
  watchDate();
  syncBuiltinESMExports();
}

function kindOf(name: string): Kind | undefined {
  if (CHANGES.test(name)) return 'changes';
  return READS.test(name) ? 'reads' : undefined;
}

function watchFunction(owner: object, name: string, shown: string, kind: Kind | undefined, known?: AnyFunction): void {
  const descriptor = Object.getOwnPropertyDescriptor(owner, name);
  const original = known ?? (descriptor?.value as unknown);
  if (kind === undefined || typeof original !== 'function' || descriptor?.configurable === false) return;
  const watched = new Proxy(original as AnyFunction, {
    apply(target, self, args) {
      look(shown, kind);
      return Reflect.apply(target, self, args);
    },
  });
  Object.defineProperty(owner, name, { ...descriptor, value: watched });
}

/** `new Date()` reads the clock; with an argument it does not. */
function watchDate(): void {
  const { Date: Original } = globalThis;
  globalThis.Date = new Proxy(Original, {
    construct(target, args, newTarget) {
      if (args.length === 0) look('new Date()', 'reads');
      return Reflect.construct(target, args, newTarget) as Date;
    },
    apply(target, self, args) {
      look('Date()', 'reads');
      return Reflect.apply(target, self, args);
    },
  });
}

function watchClass(name: 'WebSocket'): void {
  const watched = new Proxy(globalThis[name], {
    construct(target, args, newTarget) {
      look(name, 'changes');
      return Reflect.construct(target, args, newTarget) as object;
    },
  });
  Object.defineProperty(globalThis, name, { value: watched, configurable: true, writable: true });
}

/** Whenever it makes a stack. */
const READ_BY_NODE = 'NODE_V8_COVERAGE';

function watchVariables(): void {
  const noted = (name: string | symbol) => {
    if (typeof name === 'string' && name !== READ_BY_NODE) look(`process.env.${name}`, 'past');
  };
  process.env = new Proxy(process.env, {
    get(target, name, self) {
      noted(name);
      return Reflect.get(target, name, self) as string | undefined;
    },
    set: (target, name, value) => Reflect.set(target, name, value),
    has(target, name) {
      noted(name);
      return Reflect.has(target, name);
    },
    ownKeys(target) {
      look('process.env', 'past');
      return Reflect.ownKeys(target);
    },
  });
}

function look(shown: string, kind: Kind): void {
  const noted = kind === 'changes' ? outside.getStore() : undefined;
  const rendering = isRendering();
  if (isOurs || (!rendering && noted === undefined)) return;
  if (kind === 'past') {
    notePastRead(shown);
    return;
  }
  const at = planPosition(new Error(shown));
  if (at === undefined) return;
  if (rendering) throw new PlanError('plan/render-failed', `${shown} in a render: ${INSTEAD}`, { source: at });
  noted?.add(shown);
}

const INSTEAD =
  'a render only reads and computes. Read files with ctx.fs, time and randomness with ctx.now and ctx.random, and do everything else in a Task';
