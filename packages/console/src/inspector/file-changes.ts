import { type PatchLine, patchFiles } from '../run/patch-files.ts';

interface FileChange {
  readonly path: string;
  readonly lines: readonly PatchLine[];
}

/** The files of a patch in its order. A file that was changed twice, with other changes in between, appears twice. */
export function fileChanges(patch: string): readonly FileChange[] {
  return patch
    .split(/^(?=diff --git )/m)
    .flatMap(part => [...patchFiles(part)].map(([path, lines]) => ({ path, lines })));
}
