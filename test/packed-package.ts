import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { isProgramStale } from '../scripts/staleness.ts';
import { repositoryRoot } from './source-file.ts';

const published = path.join(repositoryRoot, 'packages/signalbox');

export interface PackedPackage {
  /** The packed file. */
  readonly file: string;
  /** The files in it. */
  readonly files: readonly string[];
}

/** Packs the published package into a folder, built from the sources as they are. */
export function packPackage(folder: string): PackedPackage {
  // Others serve the page that a build empties and writes anew: what is built already stays as it is.
  if (isProgramStale()) succeed(process.execPath, [path.join(repositoryRoot, 'scripts/build.ts')], repositoryRoot);
  const stdout = succeed('npm', ['pack', '--json', '--pack-destination', folder], published);
  const [{ filename, files }] = JSON.parse(stdout);
  return {
    file: path.join(folder, filename),
    files: files.map((file: { path: string }) => file.path).sort(),
  };
}

/** The packages that it declares. */
export function declaredPackages(): readonly string[] {
  return Object.keys(JSON.parse(readFileSync(path.join(published, 'package.json'), 'utf8')).dependencies);
}

/** Unpacks it into `node_modules` of a folder. Nothing is installed: the packages that it declares, and others, are linked beside it. */
export function unpackPackage({ file }: PackedPackage, folder: string, others: readonly string[] = []): void {
  const modules = path.join(folder, 'node_modules');
  mkdirSync(path.join(modules, 'signalbox'), { recursive: true });
  succeed('tar', ['-xzf', file, '-C', path.join(modules, 'signalbox'), '--strip-components=1'], folder);
  for (const name of [...declaredPackages(), ...others]) {
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
    symlinkSync(path.join(repositoryRoot, 'node_modules', name), path.join(modules, name));
  }
}

function succeed(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    env: ownEnvironment(),
    shell: program === 'npm' && process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}

/** With the Node that runs this test first on the PATH, and none of the settings of an npm or a test above. */
export function ownEnvironment(): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(npm_|NODE_(?!EXTRA_CA_CERTS)|VITEST|SIGNALBOX_|FORCE_COLOR)/i.test(entry[0]),
  );
  return {
    ...Object.fromEntries(inherited),
    PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}`,
  };
}
