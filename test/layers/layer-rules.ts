import path from 'node:path';
import type { SourceFile } from '../source-file.ts';
import { type Import, importsOf, targetOf } from './imports.ts';
import { type Manifest, manifestOf, manifestProblems } from './manifest-rules.ts';
import {
  internalName,
  isVendorSdk,
  JOURNAL_FILES,
  type PackageRow,
  packageTable,
  pureGlobs,
  TESTKIT_USERS,
} from './package-table.ts';

/** Every breach of the table of packages in these files, as one sentence each; none when the layers hold. */
export function layerProblems(files: readonly SourceFile[]): readonly string[] {
  const folders = [...new Set(files.flatMap(file => /^packages\/([^/]+)\//.exec(file.path)?.[1] ?? []))].sort();
  return [
    ...folders.flatMap(folder => packageProblems(folder, files)),
    ...manifestProblems(files),
    ...readmeProblems(folders, files),
  ];
}

function packageProblems(folder: string, files: readonly SourceFile[]): readonly string[] {
  const row = packageTable.find(candidate => candidate.name === folder);
  if (row === undefined) return [`packages/${folder} is not in the table of packages`];
  const problems: string[] = [];
  if (!files.some(file => file.path === `packages/${folder}/README.md`)) {
    problems.push(`packages/${folder} has no README.md`);
  }
  const manifestFile = files.find(file => file.path === `packages/${folder}/package.json`);
  if (manifestFile === undefined) return [...problems, `packages/${folder} has no package.json`];
  const manifest = manifestOf(manifestFile);
  const sources = files.filter(file => file.path.startsWith(`packages/${folder}/src/`) && isSource(file.path));
  return [...problems, ...sources.flatMap(file => sourceProblems(file, row, manifest))];
}

function isSource(file: string): boolean {
  return /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file);
}

function sourceProblems(file: SourceFile, row: PackageRow, manifest: Manifest): readonly string[] {
  return importsOf(file).flatMap(found => {
    const problem = importProblem(file.path, found, row, manifest);
    return problem === undefined ? [] : [`${file.path}:${found.line} ${problem}`];
  });
}

function importProblem(file: string, found: Import, row: PackageRow, manifest: Manifest): string | undefined {
  const { specifier } = found;
  const pure = pureGlobs.some(glob => path.posix.matchesGlob(file, glob));
  if (specifier === undefined) return pure ? 'is pure and imports a computed module' : undefined;
  const target = targetOf(specifier);
  switch (target.kind) {
    case 'relative':
      return path.posix.join(path.posix.dirname(file), specifier).startsWith(`packages/${row.name}/`)
        ? undefined
        : `imports ${specifier}, which leaves its package`;
    case 'platform':
      if (pure) return `is pure and imports ${specifier}`;
      return row.name === 'journal' && !file.startsWith(JOURNAL_FILES)
        ? `imports ${specifier}; in journal only ${JOURNAL_FILES} does`
        : undefined;
    case 'package':
      return packageImportProblem(file, target.name, row, manifest);
  }
}

function packageImportProblem(file: string, name: string, row: PackageRow, manifest: Manifest): string | undefined {
  const internal = internalName(name);
  if (internal === 'testkit') {
    if (!TESTKIT_USERS.some(user => file.startsWith(user)))
      return `imports ${name}; of all sources only ${TESTKIT_USERS.join(' and ')} may`;
  } else if (internal !== undefined && !row.mayImport.includes(internal)) {
    return `imports ${name}; ${row.name} may import ${row.mayImport.join(', ') || 'no other package'}`;
  }
  if (isVendorSdk(name) && !/^packages\/adapters\/src\/[^/]+\//.test(file)) {
    return `imports ${name}; vendor SDKs belong in packages/adapters/src/<vendor>`;
  }
  if (Object.hasOwn(manifest.dependencies, name)) return undefined;
  return internal !== undefined && Object.hasOwn(manifest.devDependencies, name)
    ? undefined
    : `imports ${name}, which packages/${row.name}/package.json does not declare`;
}

/** The page on the architecture names the packages that exist, in the table that has a row for `model`. */
function readmeProblems(folders: readonly string[], files: readonly SourceFile[]): readonly string[] {
  const page = files.find(file => file.path === 'docs/architecture.md');
  if (page === undefined) return ['there is no docs/architecture.md'];
  const named = page.source
    .split(/\n(?!\|)/)
    .map(block => [...block.matchAll(/^\| `([a-z]+)` \|/gm)].flatMap(match => match[1] ?? []))
    .find(names => names.includes('model'));
  if (named === undefined) return ['docs/architecture.md has no table of packages'];
  return [
    ...folders
      .filter(folder => !named.includes(folder))
      .map(folder => `docs/architecture.md does not name packages/${folder}`),
    ...named
      .filter(name => !folders.includes(name))
      .map(name => `docs/architecture.md names ${name}, which does not exist`),
  ];
}
