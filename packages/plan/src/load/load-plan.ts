import { hash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Digest, type ErrorEnvelope, err, ok, type Result } from '@signalbox/model';
import { type AnyPlan, isPlan } from '../plan-definition.ts';
import { PlanError, type PlanErrorCode, planFailure, type SourcePosition } from '../plan-error.ts';
import { markedUrl } from './plan-modules.ts';

/** A plan and what it is made of. */
export interface LoadedPlan {
  readonly plan: AnyPlan;
  readonly closure: ImportClosure;
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

let loads = 0;

/**
 * Loads a plan from its file: no build, nothing installed beside it, and what was changed since the last load is loaded
 * anew. Whatever is wrong is told with the author's position.
 */
export async function loadPlan(file: string): Promise<Result<LoadedPlan, ErrorEnvelope<PlanErrorCode>>> {
  const absolute = path.resolve(file);
  if (!existsSync(absolute)) return err(planFailure(new PlanError('plan/load-failed', `there is no file ${absolute}`)));
  const entry = realpathSync(absolute);
  const files = new Map<string, Digest>();
  const packages = new Map<string, string>();
  loads += 1;
  const url = await markedUrl(entry, String(loads), {
    file: (name, contents) => files.set(name, `sha256:${hash('sha256', contents, 'hex')}` as Digest),
    package: (name, manifest) => packages.set(name, manifest),
  });
  let loaded: { readonly default?: unknown };
  try {
    loaded = await import(url);
  } catch (error) {
    return err(planFailure(loadError(error, entry, new Set(files.keys())), 'plan/load-failed'));
  }
  if (!isPlan(loaded.default)) {
    return err(planFailure(new PlanError('plan/not-a-plan', `${entry} does not export a plan as default`)));
  }
  return ok({ plan: loaded.default, closure: closureOf(entry, files, packages) });
}

function loadError(error: unknown, entry: string, files: ReadonlySet<string>): PlanError {
  if (error instanceof PlanError) return error;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const source = error instanceof Error ? positionIn(error, files) : undefined;
  return new PlanError('plan/load-failed', source === undefined ? `${text} (in ${entry})` : text, {
    source,
    cause: error,
  });
}

/** The first line of the stack that is in one of the files. Source maps have put the author's lines there. */
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
  entry: string,
  files: ReadonlyMap<string, Digest>,
  packages: ReadonlyMap<string, string>,
): ImportClosure {
  const root = [...files.keys()].map(path.dirname).reduce(commonFolder, path.dirname(entry));
  const relative = (file: string) => path.relative(root, file).split(path.sep).join('/');
  const byName = <T extends { readonly path: string } | { readonly name: string }>(a: T, b: T) =>
    JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
  return {
    root,
    entry: relative(entry),
    files: [...files].map(([file, digest]) => ({ path: relative(file), digest })).sort(byName),
    packages: [...packages].map(([name, manifest]) => ({ name, version: versionOf(manifest) })).sort(byName),
  };
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
