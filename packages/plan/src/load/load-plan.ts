import { hash } from 'node:crypto';
import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Digest, type ErrorEnvelope, err, ok, type Result, thrownMessage } from '@signalbox/model';
import { noteAuthorFile } from '../errors/author-files.ts';
import type { Timers } from '../frames/frame-scheduler.ts';
import { type AnyPlan, isPlan } from '../plan-definition.ts';
import { PlanError, type PlanErrorCode, planFailure, type SourcePosition } from '../plan-error.ts';
import type { CompileCache } from './compile-module.ts';
import { readPlainFile } from './plain-file.ts';
import { type ModuleWitness, markedUrl } from './plan-modules.ts';
import { unquoted } from './unquoted.ts';

/** A plan and its files. */
export interface LoadedPlan {
  readonly plan: AnyPlan;
  readonly closure: ImportClosure;
  /** The loaded files of the closure, by path from its root. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

/** The stored files of a plan. */
export interface KeptPlan {
  /** Where the files were. Packages are resolved from there. */
  readonly root: string;
  /** Paths from the root, with `/`. */
  readonly entry: string;
  readonly files: readonly { readonly path: string; readonly contents: Uint8Array }[];
}

/** The author's files by content and the packages they use, as far as loading the plan needed them. */
export interface ImportClosure {
  /** The folder that holds all of the files. */
  readonly root: string;
  /** Paths from the root, with `/`. */
  readonly entry: string;
  readonly files: readonly { readonly path: string; readonly digest: Digest }[];
  readonly packages: readonly { readonly name: string; readonly version: string }[];
}

/** How long the import of a plan may wait: its code can wait for something that never comes. */
export interface ImportLimit {
  readonly timers: Timers;
  readonly ms: number;
  /** How long the thread has been idle in total. */
  waitedMs(): number;
}

let loads = 0;

export interface LoadOptions {
  readonly cache?: CompileCache | undefined;
  readonly limit?: ImportLimit | undefined;
  /** The file was checked with its links resolved: one that has since become a link, or lies behind one, is not read. */
  readonly isPlace?: boolean | undefined;
}

/**
 * Loads a plan from its file: no build, nothing installed beside it, and files that changed since the last load are loaded again. Errors
 * have the author's position.
 */
export async function loadPlan(
  file: string,
  { cache, limit, isPlace = false }: LoadOptions = {},
): Promise<Result<LoadedPlan, ErrorEnvelope<PlanErrorCode>>> {
  const absolute = path.resolve(file);
  const fault = fileFault(absolute);
  if (fault !== undefined) {
    const suggestion = 'Check the path of the plan.';
    return err(planFailure(new PlanError('plan/load-failed', fault, { suggestion })));
  }
  const real = isPlace ? absolute : realpathSync(absolute);
  if (!SOURCES.includes(path.extname(real))) return err(planFailure(new PlanError('plan/not-a-plan', notSource(file))));
  const contents = readPlace(real);
  if (contents === undefined)
    return err(planFailure(new PlanError('plan/load-failed', `${file} was replaced while it was opened`)));
  return load(real, { cache, limit }, { opened: name => (name === real ? contents : undefined) });
}

/** The file types of plans. Other files are not read: an error could reveal their content. */
const SOURCES: readonly string[] = ['.tsx', '.jsx', '.ts', '.mts', '.js', '.mjs', '.cjs'];

const notSource = (file: string) => `${file} is not the file of a plan: its name must end in ${SOURCES.join(', ')}`;

/** The content of a file whose path has no links; undefined if it is not, or no longer, that file. */
function readPlace(file: string): Uint8Array | undefined {
  try {
    return readPlainFile(file, ({ ino, dev }) => {
      const named = lstatSync(file);
      return named.ino === ino && named.dev === dev && realpathSync(file) === file;
    });
  } catch {
    return undefined;
  }
}

const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Why there is no plan to read. A pipe or a device may never end. */
function fileFault(file: string): string | undefined {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return `there is no file ${file}`;
    if (!found.isFile()) return `${file} is not a file`;
    return found.size > MAX_FILE_BYTES ? `${file} is too large for a plan: ${found.size} bytes` : undefined;
  } catch (error) {
    const { code } = error as { readonly code?: string };
    return `${file} cannot be read (${code ?? String(error)})`;
  }
}

/**
 * Loads a plan from stored files, whatever is in their place now. Positions and errors name their original places. A file that was not
 * stored is read from disk.
 */
export async function loadKept(
  { root, entry, files }: KeptPlan,
  options: Omit<LoadOptions, 'isPlace'> = {},
): Promise<Result<LoadedPlan, ErrorEnvelope<PlanErrorCode>>> {
  const kept = new Map(files.map(file => [path.resolve(root, file.path), file.contents]));
  const file = path.resolve(root, entry);
  if (!kept.has(file))
    return err(planFailure(new PlanError('plan/load-failed', `${file} is not among the kept files`)));
  return load(file, options, { kept: name => kept.get(name) });
}

async function load(
  entry: string,
  { cache, limit }: LoadOptions,
  given: Pick<ModuleWitness, 'kept' | 'opened'>,
): Promise<Result<LoadedPlan, ErrorEnvelope<PlanErrorCode>>> {
  const files = new Map<string, Uint8Array>();
  const packages = new Map<string, string>();
  loads += 1;
  const url = markedUrl(entry, String(loads), {
    file(name, contents) {
      files.set(name, contents);
      noteAuthorFile(name, contents);
    },
    package: (name, manifest) => packages.set(name, manifest),
    ...given,
    cache,
  });
  let loaded: { readonly default?: unknown };
  try {
    loaded = await imported(url, limit);
  } catch (error) {
    return err(planFailure(loadError(error, entry, new Set(files.keys())), 'plan/load-failed'));
  }
  if (!isPlan(loaded.default)) {
    return err(planFailure(new PlanError('plan/not-a-plan', `${entry} does not export a plan as default`)));
  }
  const root = [...files.keys()].map(path.dirname).reduce(commonFolder, path.dirname(entry));
  const contents = new Map([...files].map(([file, content]) => [relativePath(root, file), content]));
  return ok({ plan: loaded.default, closure: closureOf(root, entry, contents, packages), contents });
}

async function imported(url: string, limit: ImportLimit | undefined): Promise<{ readonly default?: unknown }> {
  if (limit === undefined) return import(url);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const endsAt = limit.waitedMs() + limit.ms;
  let cancel = () => {};
  const look = () => {
    const leftMs = endsAt - limit.waitedMs();
    if (leftMs > 0) cancel = limit.timers.after(Math.ceil(leftMs), look);
    else reject(new PlanError('plan/load-failed', `its import has not ended after waiting for ${limit.ms / 1000} s`));
  };
  look();
  try {
    return await Promise.race([import(url), late]);
  } finally {
    cancel();
  }
}

function loadError(error: unknown, entry: string, files: ReadonlySet<string>): PlanError {
  if (error instanceof PlanError) return error;
  const text = error instanceof Error ? `${error.name}: ${untold(error)}` : thrownMessage(error);
  const source = error instanceof Error ? positionIn(error, files) : undefined;
  const isMissing = (error as Partial<NodeJS.ErrnoException> | null)?.code === 'ERR_MODULE_NOT_FOUND';
  return new PlanError('plan/load-failed', source === undefined ? `${text} (in ${entry})` : text, {
    source,
    cause: error,
    ...(isMissing && { suggestion: 'Correct the import, or install the package beside the plan.' }),
  });
}

/** The message of an error without file content: a file that is not a plan may hold anything. */
function untold(error: Error): string {
  if (error.name === 'ReferenceError') return error.message.replace(/^\S+ is not defined$/, 'a name is not defined');
  return error.name === 'SyntaxError' ? unquoted(error.message) : error.message;
}

/** The first stack frame in one of the files. Source maps have put the author's lines there. */
function positionIn(error: Error, files: ReadonlySet<string>): SourcePosition | undefined {
  for (const line of (error.stack ?? '').split('\n')) {
    const found = /\(?((?:file:\/\/)?[^()\s][^()]*?):(\d+):(\d+)\)?$/.exec(line.trim().replace(/^at (?:.*\()?/, ''));
    const [, place = '', row, column] = found ?? [];
    const file = place.startsWith('file:') ? fileURLToPath(place) : place;
    if (files.has(file)) return { file, line: Number(row), column: Number(column) };
  }
  return undefined;
}

function closureOf(
  root: string,
  entry: string,
  contents: ReadonlyMap<string, Uint8Array>,
  packages: ReadonlyMap<string, string>,
): ImportClosure {
  const byName = <T extends { readonly path: string } | { readonly name: string }>(a: T, b: T) =>
    JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
  const digestOf = (content: Uint8Array) => `sha256:${hash('sha256', content, 'hex')}` as Digest;
  return {
    root,
    entry: relativePath(root, entry),
    files: [...contents].map(([file, content]) => ({ path: file, digest: digestOf(content) })).sort(byName),
    packages: [...packages].map(([name, manifest]) => ({ name, version: versionOf(manifest) })).sort(byName),
  };
}

function relativePath(root: string, file: string): string {
  return path.relative(root, file).split(path.sep).join('/');
}

function commonFolder(a: string, b: string): string {
  let folder = a;
  while (folder !== b && !b.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep))
    folder = path.dirname(folder);
  return folder;
}

function versionOf(manifest: string): string {
  try {
    return String((JSON.parse(readFileSync(manifest, 'utf8')) as { version?: unknown }).version ?? 'unknown');
  } catch {
    return 'unknown';
  }
}
