import { hash } from 'node:crypto';
import path from 'node:path';
import type { ErrorEnvelope, Result } from '@signalbox/model';
import { type CompileCache, type ImportLimit, type LoadedPlan, loadKept, loadPlan } from '@signalbox/plan';
import { readPlainFile } from '@signalbox/plan/plain-file';
import type { PlanSource } from './thread-api.ts';

/** The plans of a thread. A module cannot be unloaded, so a plan with unchanged files is not loaded again. */
export interface LoadedPlans {
  load(source: PlanSource): Promise<Result<LoadedPlan, ErrorEnvelope>>;
}

export function loadedPlans(cache?: CompileCache, limit?: ImportLimit): LoadedPlans {
  const byFile = new Map<string, LoadedPlan>();
  const byContents = new Map<string, LoadedPlan>();
  return {
    async load(source) {
      if (source.kind === 'file') {
        const known = byFile.get(source.file);
        if (known !== undefined && isAsLoaded(known)) return { ok: true, value: known };
        const loaded = await loadPlan(source.file, { cache, limit, isPlace: source.isPlace });
        if (loaded.ok) byFile.set(source.file, loaded.value);
        return loaded;
      }
      const key = contentsOf(source);
      const known = byContents.get(key);
      if (known !== undefined) return { ok: true, value: known };
      const loaded = await loadKept(source, { cache, limit });
      if (loaded.ok) byContents.set(key, loaded.value);
      return loaded;
    },
  };
}

function isAsLoaded({ closure }: LoadedPlan): boolean {
  return closure.files.every(({ path: name, digest }) => {
    try {
      return `sha256:${hash('sha256', readPlainFile(path.join(closure.root, name)))}` === digest;
    } catch {
      return false;
    }
  });
}

function contentsOf({ root, entry, files }: Extract<PlanSource, { readonly kind: 'kept' }>): string {
  return JSON.stringify([root, entry, ...files.map(file => [file.path, hash('sha256', file.contents)])]);
}
