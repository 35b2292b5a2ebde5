import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { matches } from './licences.ts';
import { foreignPackages, type Lock, type LockedPackage } from './lock-file.ts';

/** How a package brings code that is not JavaScript that somebody can read, or runs some when it is installed. */
export type Means = 'install script' | 'native code';

export interface AllowedCode {
  /** Whole names. One that ends with `*` stands for those that begin so. */
  readonly name: string;
  readonly means: readonly Means[];
  readonly isShipped?: boolean;
  readonly reason: string;
}

const ALLOWED_CODE: readonly AllowedCode[] = [
  {
    name: 'esbuild',
    means: ['install script'],
    isShipped: true,
    reason: 'Compiles plans. Its script checks the program for this platform, and works with scripts switched off too.',
  },
  { name: '@esbuild/*', means: ['native code'], isShipped: true, reason: 'The program of esbuild, one a platform.' },
  {
    name: 'node',
    means: ['install script'],
    reason: 'The Node that the repository is built and tested with; its script fetches it.',
  },
  {
    name: '@modelcontextprotocol/inspector',
    means: ['install script'],
    reason: 'A client for tests. The script is switched off in package.json (allowScripts).',
  },
  { name: '@napi-rs/keyring-*', means: ['native code'], reason: 'Keys of the inspector, a client for tests.' },
  { name: '@biomejs/cli-*', means: ['native code'], reason: 'The formatter and linter.' },
  { name: '@typescript/typescript-*', means: ['native code'], reason: 'The compiler of TypeScript.' },
  {
    name: '@oxc-parser/binding-*',
    means: ['native code'],
    reason: 'Parses sources for knip, which finds unused code.',
  },
  { name: '@oxc-resolver/binding-*', means: ['native code'], reason: 'Resolves imports for knip.' },
  { name: '@rolldown/binding-*', means: ['native code'], reason: 'Builds the console, inside Vite.' },
  { name: '@tailwindcss/oxide-*', means: ['native code'], reason: 'Makes the style sheets of the console.' },
  { name: 'lightningcss-*', means: ['native code'], reason: 'Makes the style sheets of the console.' },
  {
    name: 'fsevents',
    means: ['native code'],
    reason: 'Vite watches files with it on macOS, while the console is developed.',
  },
  {
    name: 'bare-*',
    means: ['native code'],
    reason: 'For a runtime that is not Node; comes with what unpacks the browser of tests.',
  },
];

/** Problems with install scripts and native code of packages. `shipped` are the places of those that users get. */
export function codeProblems(
  found: readonly { readonly of: LockedPackage; readonly means: Means }[],
  shipped: ReadonlySet<string>,
  allowed: readonly AllowedCode[] = ALLOWED_CODE,
): readonly string[] {
  const used = new Set<string>();
  const problems = found.flatMap(({ of: { name, version, place }, means }) => {
    const entry = allowed.find(one => matches(one.name, name) && one.means.includes(means));
    if (entry === undefined) return [`${name}@${version} has ${means === 'install script' ? 'an ' : ''}${means}`];
    used.add(`${entry.name} ${means}`);
    return shipped.has(place) && entry.isShipped !== true ? [`${name}@${version} has ${means} and is shipped`] : [];
  });
  const stale = allowed
    .flatMap(({ name, means }) => means.map(one => `${name} ${one}`))
    .filter(one => !used.has(one))
    .map(one => `no package needs the entry for ${one}`);
  return [...new Set([...problems, ...stale])].sort();
}

/** Looks at what the lock says of every package, and at the files of those that are installed. */
export function codeOf(lock: Lock, root: string): readonly { readonly of: LockedPackage; readonly means: Means }[] {
  return foreignPackages(lock).flatMap(of => [
    ...(of.hasInstallScript === true ? [{ of, means: 'install script' } as const] : []),
    ...(isForPlatforms(of) || hasNativeFiles(path.join(root, of.place)) ? [{ of, means: 'native code' } as const] : []),
  ]);
}

function isForPlatforms({ os, cpu, libc }: LockedPackage): boolean {
  return os !== undefined || cpu !== undefined || libc !== undefined;
}

/** Whether there is an addon, or what one is compiled from, among the files of a package. */
function hasNativeFiles(folder: string): boolean {
  if (!existsSync(folder)) return false;
  return readdirSync(folder, { withFileTypes: true }).some(entry => {
    if (entry.isDirectory()) {
      return (
        entry.name === 'prebuilds' || (entry.name !== 'node_modules' && hasNativeFiles(path.join(folder, entry.name)))
      );
    }
    return entry.name === 'binding.gyp' || /\.(node|dll|dylib|so)$/.test(entry.name);
  });
}
