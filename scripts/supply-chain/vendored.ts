import { foreignPackages, type Lock, type LockedPackage, packageOf } from './lock-file.ts';

/** Parts of a published package whose sources name no version: they have that of the package. */
const PARTS: Readonly<Record<string, string>> = {
  '@modelcontextprotocol/core-internal': '@modelcontextprotocol/server',
};

/**
 * Packages that others had built into theirs before they published them, from the sources that the maps of a bundle name. No lock
 * file knows them: the version is in the path that they had where they were built, the licence is that of any version that is here.
 */
export function vendoredPackages(lock: Lock, sources: readonly string[]): readonly LockedPackage[] {
  const found = new Map<string, LockedPackage>();
  for (const source of sources) {
    const file = source.replace(/^(\.\.\/)+/, '');
    const [, name] = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
    if (name === undefined || packageOf(lock, file) !== undefined) continue;
    const one = vendored(lock, name, file);
    found.set(`${one.name}@${one.version}`, one);
  }
  return [...found.values()];
}

function vendored(lock: Lock, name: string, file: string): LockedPackage {
  const whole = foreignPackages(lock).find(one => one.name === PARTS[name]);
  const [, version = whole?.version] = /\/\.pnpm\/(?:@[^@/]+|[^@/]+)@([^/_(]+)/.exec(file) ?? [];
  const license = whole?.license ?? foreignPackages(lock).find(one => one.name === name)?.license;
  if (version === undefined || license === undefined) {
    throw new Error(`${file} is in the bundle, and its version or licence is not known: see ${import.meta.filename}`);
  }
  return { name, version, license, place: `vendored/${name}` };
}
