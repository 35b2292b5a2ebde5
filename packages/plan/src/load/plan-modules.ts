import { readFileSync } from 'node:fs';
import { isBuiltin, type ModuleFormat, registerHooks } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as jsxDevRuntime from '../jsx/jsx-dev-runtime.ts';
import * as jsxRuntime from '../jsx/jsx-runtime.ts';
import * as planApi from '../plan-api.ts';
import { type CompileCache, compileModule, needsCompiler } from './compile-module.ts';

/** Told of every module of one load, so that the plan's import closure is known. */
export interface ModuleWitness {
  file(path: string, contents: Uint8Array): void;
  package(name: string, manifest: string): void;
  /** What a file held when it was kept; undefined where the disk is asked. */
  kept?(path: string): Uint8Array | undefined;
  readonly cache?: CompileCache | undefined;
}

const MARK = 'signalbox-load';
const VIRTUAL = 'signalbox-runtime:';
const RUNTIME = Symbol.for('signalbox.plan.runtime');

/** `signalbox` is what runs the plan, whether or not something of that name is installed where the plan lies. */
const runtime: Readonly<Record<string, object>> = {
  signalbox: planApi,
  'signalbox/jsx-runtime': jsxRuntime,
  'signalbox/jsx-dev-runtime': jsxDevRuntime,
};

const witnesses = new Map<string, ModuleWitness>();
let isRegistered = false;

/** The URL under which a file is loaded, with its local imports, anew and by our rules. */
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
  (globalThis as Record<symbol, unknown>)[RUNTIME] = runtime;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const load = loadOf(context.parentURL);
      if (load === undefined) return keptEntry(specifier) ?? nextResolve(specifier, context);
      if (Object.hasOwn(runtime, specifier)) return { url: VIRTUAL + specifier, format: 'module', shortCircuit: true };
      if (isBuiltin(specifier)) return nextResolve(specifier, context);
      const kept = keptFile(specifier, context.parentURL ?? '', load);
      if (kept !== undefined) return kept;
      const found = resolveOrOurs(
        specifier,
        plain => nextResolve(specifier, { ...context, parentURL: plain }),
        context.parentURL ?? '',
      );
      if (!found.url.startsWith('file:')) return found;
      const manifest = manifestOf(fileURLToPath(found.url));
      if (manifest !== undefined) {
        witnesses.get(load)?.package(manifest.name, manifest.path);
        return found;
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
      const contents = kept ?? readFileSync(file);
      witness?.file(file, contents);
      if (!needsCompiler(file)) {
        if (kept === undefined) return nextLoad(url, context);
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

/** Of files that need no compiler. */
const formats: Readonly<Record<string, ModuleFormat>> = { '.json': 'json', '.cjs': 'commonjs' };

/** The first file of a load, if it is served as it was kept. */
function keptEntry(specifier: string) {
  const load = loadOf(specifier);
  return load === undefined ? undefined : keptFile(specifier, specifier, load);
}

/** A file that is served as it was kept, whether or not something is there on the disk. */
function keptFile(specifier: string, parent: string, load: string) {
  const kept = witnesses.get(load)?.kept;
  if (kept === undefined || !/^(?:\.{0,2}\/|file:)/.test(specifier)) return undefined;
  const url = new URL(specifier, parent);
  url.search = '';
  if (url.protocol !== 'file:' || kept(fileURLToPath(url)) === undefined) return undefined;
  url.searchParams.set(MARK, load);
  return { url: url.href, format: formats[path.extname(url.pathname)] ?? ('module' as const), shortCircuit: true };
}

/** A module that hands out the exports of a part of the runtime: the plan and the engine share one instance of it. */
function bridge(specifier: string): string {
  const names = Object.keys(runtime[specifier] ?? {});
  const part = `globalThis[Symbol.for('signalbox.plan.runtime')][${JSON.stringify(specifier)}]`;
  return names.map(name => `export const ${name} = ${part}.${name};`).join('\n');
}

/** As from the plan's own place; what cannot be found there but comes with us, such as zod, is ours. */
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
