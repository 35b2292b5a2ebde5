import type { FileItem, PlanFiles } from '../src/workspaces/plan-files.ts';

/** Files without a disk. A test that changes one tells whoever watches. */
export interface MemoryFiles extends PlanFiles {
  change(path: string, content: string | undefined): void;
  text(path: string): string | undefined;
  /** The paths that are being watched. */
  readonly watched: readonly string[];
  /** Every write fails with this. */
  fault: string | undefined;
}

export function memoryFiles(initial: Readonly<Record<string, string>> = {}): MemoryFiles {
  const files = new Map<string, Uint8Array>(Object.entries(initial).map(([path, text]) => [path, Buffer.from(text)]));
  let versions = 0;
  let watching: { readonly paths: readonly string[]; readonly onChange: () => void } | undefined;
  const inside = (path: string) => {
    if (path.startsWith('/') || path.split('/').includes('..')) throw new Error('it leaves the root');
    return path;
  };
  return {
    fault: undefined,
    read: path => files.get(inside(path)),
    list(path) {
      const under = inside(path) === '.' ? '' : `${path}/`;
      const names = new Map<string, FileItem['kind']>();
      for (const name of files.keys()) {
        if (!name.startsWith(under)) continue;
        const [first = '', ...rest] = name.slice(under.length).split('/');
        names.set(first, rest.length === 0 ? 'file' : 'directory');
      }
      if (names.size === 0) return undefined;
      return [...names].map(([name, kind]) => ({ name, kind })).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    stat(path) {
      const file = files.get(inside(path));
      return file && { kind: 'file', bytes: file.length };
    },
    write(path, content) {
      if (this.fault !== undefined) throw new Error(this.fault);
      files.set(inside(path), Buffer.from(content));
      versions += 1;
    },
    mark: () => ({ text: String(versions), isFresh: false }),
    watch(paths, onChange) {
      watching = { paths, onChange };
      return () => {
        watching = undefined;
      };
    },
    change(path, content) {
      versions += 1;
      if (content === undefined) files.delete(path);
      else files.set(path, Buffer.from(content));
      watching?.onChange();
    },
    text: path => files.get(path)?.toString(),
    get watched() {
      return watching?.paths ?? [];
    },
  };
}
