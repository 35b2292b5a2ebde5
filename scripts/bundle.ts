import { rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { build, type Metafile } from 'esbuild';

export interface BundleOptions {
  readonly entry: string;
  /** Emptied first. */
  readonly outDir: string;
  /** The packages that stay imports; every other module of the workspace becomes part of the bundle. */
  readonly dependencies: readonly string[];
  /** Where packages are looked up, and what the paths in messages start from. */
  readonly root: string;
}

/**
 * Bundles a program as modules for Node; what it imports lazily stays in files of its own. Answers with what is wrong:
 * packages that the program uses and its package does not declare.
 */
export async function bundle({ entry, outDir, dependencies, root }: BundleOptions): Promise<readonly string[]> {
  rmSync(outDir, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outdir: outDir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24.15',
    sourcemap: 'linked',
    external: [...dependencies],
    logLevel: 'warning',
    metafile: true,
  });
  return undeclaredPackages(metafile, dependencies);
}

/** Packages that the output imports or has swallowed without `dependencies` naming them. */
export function undeclaredPackages(metafile: Metafile, dependencies: readonly string[]): readonly string[] {
  const imported = Object.values(metafile.outputs)
    .flatMap(output => output.imports)
    .filter(found => found.external === true && !isBuiltin(found.path))
    .map(found => found.path);
  const swallowed = Object.keys(metafile.inputs).flatMap(input => input.split('node_modules/').slice(1).slice(-1));
  const names = [...imported, ...swallowed].map(path => path.split('/', path.startsWith('@') ? 2 : 1).join('/'));
  return [...new Set(names)].filter(name => !dependencies.includes(name)).sort();
}
