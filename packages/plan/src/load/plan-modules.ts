import { isBuiltin, type ModuleFormat, registerHooks } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as zod from 'zod';
import * as jsxDevRuntime from '../jsx/jsx-dev-runtime.ts';
import * as jsxRuntime from '../jsx/jsx-runtime.ts';
import * as planApi from '../plan-api.ts';
import { type CompileCache, compileModule, needsCompiler } from './compile-module.ts';
import { readPlainFile } from './plain-file.ts';

/** Observes every module of one load, to determine the plan's import closure. */
export interface ModuleWitness {
  file(path: string, contents: Uint8Array): void;
  package(name: string, manifest: string): void;
  /** The stored content of a file; undefined to read from disk. */
  kept?(path: string): Uint8Array | undefined;
  /** The content of a file that is already open; undefined to open its path. */
  opened?(path: string): Uint8Array | undefined;
  readonly cache?: CompileCache | undefined;
}

const STACK_FRAMES = 40;
const MARK = 'signalbox-load';
const VIRTUAL = 'signalbox-runtime:';
const RUNTIME = Symbol.for('signalbox.plan.runtime');

/** `signalbox` is what runs the plan, even if a package of that name is installed beside it. */
const runtime: Readonly<Record<string, object>> = {
  signalbox: planApi,
  'signalbox/jsx-runtime': jsxRuntime,
  'signalbox/jsx-dev-runtime': jsxDevRuntime,
};

/**
 * Packages that come with us and are already in memory: loading them from files would take longer than the rest of a plan. A plan with its
 * own copy gets that.
 */
const ours: Readonly<Record<string, object>> = { zod, 'zod/v4': zod };
/** Their paths in our installation. */
const ourPlaces = new Map<string, string>();

const parts: Readonly<Record<string, object>> = { ...runtime, ...ours };

const witnesses = new Map<string, ModuleWitness>();
let isRegistered = false;

/** The URL under which a file is loaded fresh by our rules, with its local imports. */
export function markedUrl(file: string, load: string, witness: ModuleWitness): string {
  if (!isRegistered) register();
  isRegistered = true;
  witnesses.set(load, witness);
  const url = pathToFileURL(file);
  url.searchParams.set(MARK, load);
  return url.href;
}

function register(): void {
  process.setSourceMapsEnabled(true);
  // The author's frames come after those of the packages that they called.
  Error.stackTraceLimit = Math.max(Error.stackTraceLimit, STACK_FRAMES);
  (globalThis as Record<symbol, unknown>)[RUNTIME] = parts;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const load = loadOf(context.parentURL);
      const resolve = (parent: string) => nextResolve(specifier, { ...context, parentURL: parent });
      if (load === undefined) {
        const found = keptEntry(specifier) ?? nextResolve(specifier, context);
        // A plan's packages import the same instance as the plan.
        return context.conditions.includes('import') && isOurs(specifier, found.url, resolve) ? part(specifier) : found;
      }
      if (Object.hasOwn(runtime, specifier)) return part(specifier);
      if (isBuiltin(specifier)) return nextResolve(specifier, context);
      const kept = keptFile(specifier, context.parentURL ?? '', load);
      if (kept !== undefined) return kept;
      const found = resolveOrOurs(specifier, resolve, context.parentURL ?? '');
      if (!found.url.startsWith('file:')) return found;
      const manifest = manifestOf(fileURLToPath(found.url));
      if (manifest !== undefined) {
        witnesses.get(load)?.package(manifest.name, manifest.path);
        return isOurs(specifier, found.url, resolve) ? part(specifier) : found;
      }
      const url = new URL(found.url);
      url.searchParams.set(MARK, load);
      return { ...found, url: url.href };
    },
    load(url, context, nextLoad) {
      if (url.startsWith(VIRTUAL))
        return { format: 'module', source: bridge(url.slice(VIRTUAL.length)), shortCircuit: true };
      const load = loadOf(url);
      if (load === undefined) return nextLoad(url, context);
      const file = fileURLToPath(url);
      const witness = witnesses.get(load);
      const kept = witness?.kept?.(file);
      const contents = kept ?? witness?.opened?.(file) ?? readPlainFile(file);
      witness?.file(file, contents);
      if (!needsCompiler(file)) {
        if (kept === undefined) return { ...nextLoad(url, context), source: Buffer.from(contents) };
        return {
          format: formats[path.extname(file)] ?? 'module',
          source: Buffer.from(kept).toString('utf8'),
          shortCircuit: true,
        };
      }
      return {
        format: 'module',
        source: compileModule(file, contents, witness?.cache),
        shortCircuit: true,
      };
    },
  });
}

/** For files that need no compiler. */
const formats: Readonly<Record<string, ModuleFormat>> = { '.json': 'json', '.cjs': 'commonjs' };

/** The first file of a load, if it is served from the stored files. */
function keptEntry(specifier: string) {
  const load = loadOf(specifier);
  return load === undefined ? undefined : keptFile(specifier, specifier, load);
}

/** A file that is served from the stored files, whether or not it exists on disk. */
function keptFile(specifier: string, parent: string, load: string) {
  const kept = witnesses.get(load)?.kept;
  if (kept === undefined || !/^(?:\.{0,2}\/|file:)/.test(specifier)) return undefined;
  const url = new URL(specifier, parent);
  url.search = '';
  if (url.protocol !== 'file:' || kept(fileURLToPath(url)) === undefined) return undefined;
  url.searchParams.set(MARK, load);
  return { url: url.href, format: formats[path.extname(url.pathname)] ?? ('module' as const), shortCircuit: true };
}

/** A module that re-exports a part of the runtime: the plan and the engine share one instance of it. */
function bridge(specifier: string): string {
  const names = Object.keys(parts[specifier] ?? {});
  const from = `const part = globalThis[Symbol.for('signalbox.plan.runtime')][${JSON.stringify(specifier)}];`;
  // Some names are keywords.
  return [from, ...names.map(name => `const _${name} = part.${name};\nexport { _${name} as ${name} };`)].join('\n');
}

function part(specifier: string) {
  return { url: VIRTUAL + specifier, format: 'module' as const, shortCircuit: true };
}

/** Whether the resolved module is a package that comes with us, and not another of its name. */
function isOurs(specifier: string, url: string, resolve: (parent: string) => { readonly url: string }): boolean {
  if (!Object.hasOwn(ours, specifier)) return false;
  const known = ourPlaces.get(specifier) ?? resolve(import.meta.url).url;
  ourPlaces.set(specifier, known);
  return url === known;
}

/** Resolves from the plan's own place; packages that cannot be found there but come with us, such as zod, are ours. */
function resolveOrOurs<Found>(specifier: string, resolve: (parent: string) => Found, parent: string): Found {
  const plain = new URL(parent);
  plain.searchParams.delete(MARK);
  try {
    return resolve(plain.href);
  } catch (error) {
    if (!/^zod($|\/)/.test(specifier)) throw error;
    return resolve(import.meta.url);
  }
}

function loadOf(url: string | undefined): string | undefined {
  if (url === undefined || !url.startsWith('file:') || !url.includes(MARK)) return undefined;
  return new URL(url).searchParams.get(MARK) ?? undefined;
}

/** The package that a file under `node_modules` belongs to. */
function manifestOf(file: string): { readonly name: string; readonly path: string } | undefined {
  const parts = file.split(path.sep);
  const at = parts.lastIndexOf('node_modules');
  if (at < 0) return undefined;
  const length = parts[at + 1]?.startsWith('@') ? 3 : 2;
  const root = parts.slice(0, at + length);
  return { name: root.slice(at + 1).join('/'), path: path.join(path.sep, ...root, 'package.json') };
}
