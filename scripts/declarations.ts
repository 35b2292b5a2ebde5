import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withDirectImports, workspaceOrigins } from './direct-imports.ts';
import { localProgram } from './local-program.ts';

export interface DeclarationOptions {
  /** The file `<name>.d.ts` for each of these modules. */
  readonly entries: Readonly<Record<string, string>>;
  readonly outDir: string;
  readonly root: string;
}

/**
 * Writes the types of some modules of the workspace, and of all that those types speak of, so that they stand on their own:
 * no package of the workspace is named in them. Other packages stay imports.
 */
export function writeDeclarations({ entries, outDir, root }: DeclarationOptions): void {
  mkdirSync(outDir, { recursive: true });
  // Inside the workspace, because types of packages are looked up from where the configuration lies.
  const work = mkdtempSync(path.join(outDir, '.types-'));
  try {
    const complaints = emit(Object.values(entries), work, root);
    const find = workspaceOrigins(root);
    const wanted = Object.values(entries);
    const done = new Set<string>();
    for (let module = wanted.pop(); module !== undefined; module = wanted.pop()) {
      if (done.has(module)) continue;
      done.add(module);
      const here = path.dirname(module);
      const written = path.join(work, declarationOf(path.relative(root, module)));
      if (!existsSync(written)) throw new Error(`the types of ${module} could not be written\n${complaints}`);
      const declared = readFileSync(written, 'utf8');
      const text = withDirectImports(declared, find, target => relativeImport(here, target)).replace(
        INLINE,
        (whole, specifier, name) => {
          const origin = find(specifier, name);
          return origin === undefined ? whole : `import("${relativeImport(here, origin.module)}").${origin.name}`;
        },
      );
      for (const [, specifier = ''] of text.matchAll(RELATIVE)) wanted.push(path.join(here, specifier));
      const file = path.join(outDir, placeOf(root, module));
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(
        file,
        text.replace(RELATIVE, found => found.replace(/\.tsx?$/, '.js')),
      );
    }
    for (const [name, module] of Object.entries(entries)) {
      const target = placeOf(root, module)
        .split(path.sep)
        .join('/')
        .replace(/\.d\.ts$/, '.js');
      writeFileSync(path.join(outDir, `${name}.d.ts`), `export * from './${target}';\n`);
    }
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** A type that the compiler names by a package of the workspace. */
const INLINE = /import\("(@signalbox\/[^"]+)"\)\.(\w+)/g;
const RELATIVE = /(?<=(?:from|import) ['"]|import\(['"])(\.{1,2}\/[^'"]+)/g;

/** The declarations of `packages/plan/src/a.ts` are in `types/plan/src/a.d.ts`: modules keep their places to each other. */
function placeOf(root: string, module: string): string {
  return declarationOf(path.join('types', path.relative(path.join(root, 'packages'), module)));
}

function declarationOf(file: string): string {
  return file.replace(/\.tsx?$/, '.d.ts');
}

function relativeImport(from: string, module: string): string {
  const place = path.relative(from, module).split(path.sep).join('/');
  return place.startsWith('.') ? place : `./${place}`;
}

/** Types were checked before; here they are only written. Returns what the compiler says of those that it could not write. */
function emit(files: readonly string[], outDir: string, root: string): string {
  const project = path.join(outDir, 'tsconfig.json');
  const compilerOptions = {
    noEmit: false,
    noCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: root,
    outDir,
    // Sources under node_modules count as foreign, and their types are not written.
    paths: ownPaths(root),
  };
  writeFileSync(
    project,
    JSON.stringify({ extends: path.join(root, 'tsconfig.json'), compilerOptions, files, include: [] }),
  );
  const { stdout, stderr } = spawnSync(process.execPath, [localProgram('typescript', 'tsc'), '-p', project], {
    cwd: root,
    encoding: 'utf8',
  });
  return `${stdout}${stderr}`;
}

/** Where the workspace's packages, and the parts that they export by name, are written. */
function ownPaths(root: string): Readonly<Record<string, readonly string[]>> {
  const folder = path.join(root, 'packages');
  const paths = readdirSync(folder).flatMap(name => {
    const place = path.join(folder, name);
    const manifest = JSON.parse(readFileSync(path.join(place, 'package.json'), 'utf8'));
    if (!manifest.name.startsWith('@signalbox/')) return [];
    return Object.entries<string>(manifest.exports ?? {}).map(([part, file]) => [
      path.posix.join(manifest.name, part),
      [path.join(place, file)],
    ]);
  });
  return Object.fromEntries(paths);
}
