import { hash } from 'node:crypto';
import path from 'node:path';
import type { ImportClosure } from '@signalbox/plan';
import { readPlainFile } from '@signalbox/plan/plain-file';
import type { PlanSource } from './thread-api.ts';

/** Identifies plan files: equal for the same files with the same contents, whether on disk or stored by a run. */
export type PlanKey = string;

/** Plan files with known imports, so that their key can be computed without running their code. */
export interface KnownPlans {
  /** Undefined while the imports of a file are unknown, or after one of them changed. */
  keyOf(source: PlanSource): PlanKey | undefined;
  /** Records the imports of a plan file. */
  learn(source: PlanSource, closure: Pick<ImportClosure, 'root' | 'entry' | 'files'>): PlanKey;
}

export function createKnownPlans(): KnownPlans {
  const closures = new Map<string, Pick<ImportClosure, 'root' | 'entry' | 'files'>>();
  return {
    keyOf(source) {
      if (source.kind === 'kept') {
        const files = source.files.map(({ path: name, contents }) => [name, digestOf(contents)] as const);
        return keyOf(source.root, source.entry, files);
      }
      const known = closures.get(source.file);
      if (known === undefined) return undefined;
      const isSame = known.files.every(file => digestOnDisk(path.join(known.root, file.path)) === file.digest);
      return isSame ? closureKey(known) : undefined;
    },
    learn(source, closure) {
      if (source.kind === 'file') closures.set(source.file, closure);
      return closureKey(closure);
    },
  };
}

function closureKey({ root, entry, files }: Pick<ImportClosure, 'root' | 'entry' | 'files'>): PlanKey {
  return keyOf(
    root,
    entry,
    files.map(file => [file.path, file.digest] as const),
  );
}

function keyOf(root: string, entry: string, files: readonly (readonly [string, string])[]): PlanKey {
  return hash('sha256', JSON.stringify([root, entry, ...files.toSorted(([a], [b]) => (a < b ? -1 : 1))]));
}

function digestOnDisk(file: string): string | undefined {
  try {
    return digestOf(readPlainFile(file));
  } catch {
    return undefined;
  }
}

const digestOf = (contents: Uint8Array): string => `sha256:${hash('sha256', contents)}`;
