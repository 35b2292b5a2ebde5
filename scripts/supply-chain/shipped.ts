import { installedWith, type Lock, type LockedPackage } from './lock-file.ts';

/** Installed beside the program. */
const PROGRAM = 'packages/signalbox';
/** Built into the page that the program serves. */
const CONSOLE = 'packages/console';

/** Everything of others that users get: installed with the package, or part of what is in it. */
function shippedPackages(lock: Lock): ReadonlySet<LockedPackage> {
  return new Set([...installedWith(lock, PROGRAM), ...installedWith(lock, CONSOLE)].filter(isForeign));
}

export function shippedPlaces(lock: Lock): ReadonlySet<string> {
  return new Set([...shippedPackages(lock)].map(({ place }) => place));
}

/** Packages that npm installs with ours. */
export function installedPackages(lock: Lock): ReadonlySet<LockedPackage> {
  return new Set([...installedWith(lock, PROGRAM)].filter(isForeign));
}

function isForeign({ place }: LockedPackage): boolean {
  return place.includes('node_modules/');
}
