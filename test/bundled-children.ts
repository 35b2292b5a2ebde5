import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type OutputFile, type Plugin } from 'esbuild';
import type { TestProject } from 'vitest/node';
import { withDirectImports, workspaceOrigins } from '../scripts/direct-imports.ts';
import { withLazySchemas } from '../scripts/lazy-schemas.ts';
import { repositoryRoot } from '../scripts/local-program.ts';
import { entriesOfBuild } from './built-programs.ts';

const packages = path.join(repositoryRoot, 'packages');
const caches = path.join(repositoryRoot, 'node_modules/.cache/children');
const LAZY_SCHEMA = path.join(repositoryRoot, 'scripts/lazy-schema.ts');
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Bundles the programs that tests start as processes of their own, for a run of Vitest: a bundle starts in a third of the time. Tests
 * find them by a variable (`child-script.ts`); a run inside another has it from the outer. When files are watched, and in a full run,
 * there are no bundles, and tests start the sources.
 */
export default async function setup({ vitest }: TestProject): Promise<void> {
  const { SIGNALBOX_BUNDLED_CHILDREN, SIGNALBOX_FULL } = process.env;
  if (vitest.config.watch || SIGNALBOX_FULL === '1' || SIGNALBOX_BUNDLED_CHILDREN !== undefined) return;
  const outdir = path.join(caches, 'bundle');
  const { outputFiles } = await build({
    entryPoints: globSync(path.join(packages, '*/test/**/{child,*-child,*-driver}.ts')),
    outbase: packages,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [ownSources(), foreignPackages()],
    logLevel: 'error',
    write: false,
  });
  const files = outputFiles.map(file => ({ ...file, path: path.relative(outdir, file.path) }));
  process.env.SIGNALBOX_BUNDLED_CHILDREN = keep(files);
}

/** Writes the files to a place that is named by what they hold: Node finds what it compiled of them in an earlier run. */
function keep(files: readonly Pick<OutputFile, 'path' | 'hash' | 'contents'>[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file.path} ${file.hash}\n`);
  const place = path.join(caches, hash.digest('hex').slice(0, 16));
  const now = new Date();
  if (existsSync(place)) {
    try {
      utimesSync(place, now, now);
    } catch {
      // Another user made it.
    }
  } else {
    const made = `${place}.${process.pid}`;
    for (const file of files) {
      mkdirSync(path.dirname(path.join(made, file.path)), { recursive: true });
      writeFileSync(path.join(made, file.path), file.contents);
    }
    renameSync(made, place);
  }
  for (const name of readdirSync(caches)) {
    const one = path.join(caches, name);
    if (now.getTime() - (statSync(one, { throwIfNoEntry: false })?.mtimeMs ?? now.getTime()) > DAY_MS) {
      rmSync(one, { recursive: true, force: true });
    }
  }
  return place;
}

/** Modules find files beside them where their sources are. They load what they use, and make schemas when they use them, as in the build. */
function ownSources(): Plugin {
  const withEntries = entriesOfBuild();
  const find = workspaceOrigins(repositoryRoot);
  return {
    name: 'own-sources',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]packages[\\/].*\.tsx?$/ }, ({ path: file }) => {
        const source = withEntries(readFileSync(file, 'utf8'))
          // A bundle is one module, and the programs that tests start don't ask.
          .replaceAll('import.meta.main', 'false')
          .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href))
          .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(file)))
          .replaceAll('import.meta.filename', JSON.stringify(file));
        return {
          contents: withLazySchemas(
            withDirectImports(source, find, module => module),
            LAZY_SCHEMA,
          ),
          loader: file.endsWith('x') ? 'tsx' : 'ts',
        };
      });
    },
  };
}

/** Packages of others stay imports, but for what every program loads. */
function foreignPackages(): Plugin {
  const inlined = /^(@signalbox|@noble|zod|uuid|canonicalize)(\/|$)/;
  return {
    name: 'foreign-packages',
    setup({ onResolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path: name, kind }) =>
        kind === 'entry-point' || inlined.test(name) ? undefined : { external: true },
      );
    },
  };
}
