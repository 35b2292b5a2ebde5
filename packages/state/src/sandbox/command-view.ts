import * as fs from 'node:fs';
import * as os from 'node:os';
import { isWithin } from '../filesystem/path-locks.ts';
import { closedBelow, credentialsIn } from './credentials.ts';
import { NO_RULES, type SandboxRules } from './sandbox-rules.ts';
import { pathEntries, toolchainsOn } from './toolchains.ts';

/** Something that a command may read, and why. */
export interface ReadablePlace {
  readonly path: string;
  readonly kind: 'system' | 'toolchain' | 'cache' | 'sandbox.json';
}

/**
 * What a command finds of the filesystem, besides its root. Paths are absolute, and real but for links at the top of the system.
 *
 * 1. What is not named is not there: other homes, other projects, mounted disks, sockets of services.
 * 2. A home is covered by an empty, private directory; what is readable in it is put back, at its own path.
 * 3. Credentials are hidden by name in every place that can be read, the root included, unless the project's rules name them.
 */
export interface CommandView {
  readonly readable: readonly ReadablePlace[];
  /** By the project's rules. */
  readonly writable: readonly string[];
  /** Inside the root or something readable, and not to be seen. */
  readonly hidden: readonly string[];
  /** Homes that an empty private directory stands for. */
  readonly covered: readonly string[];
  /** The home of the command, writable and private; undefined where it needs a directory of its own. */
  readonly home: string | undefined;
  /** The PATH of the command. */
  readonly path: string;
}

export interface ViewOptions {
  readonly root: string;
  readonly rules?: SandboxRules;
  readonly env?: Environment;
  readonly platform?: NodeJS.Platform;
  /** What this machine has, where that is known. */
  readonly machine?: MachineView;
}

export function viewOf({
  root,
  rules = NO_RULES,
  env = process.env,
  platform = process.platform,
  machine = machineView(env, platform),
}: ViewOptions): CommandView {
  const { homes, system } = machine;
  const widened = (paths: readonly string[]) => paths.flatMap(path => realOf(path) ?? []);
  const [read, writable] = [widened(rules.read), widened(rules.write)];
  const resolver = rules.network === 'host' ? widened(['/etc/resolv.conf']) : [];

  const named: ReadablePlace[] = [
    ...system.map(({ path }) => ({ path, kind: 'system' as const })),
    ...resolver.map(path => ({ path, kind: 'system' as const })),
    ...machine.places,
    ...read.map(path => ({ path, kind: 'sandbox.json' as const })),
  ];
  // A place inside the root is the root's.
  const places = named.filter(
    ({ path }, index) => !isWithin(path, root) && named.findIndex(other => other.path === path) === index,
  );
  const covered = homes.filter(home => !isWithin(home, root) && home !== '/');
  const seen = [root, ...places.filter(({ kind }) => kind !== 'system').map(({ path }) => path), ...writable];
  const visibleHomes = homes.filter(home => seen.some(one => isWithin(home, one)));
  const hidden = [
    ...[...seen, ...visibleHomes].flatMap(
      place => machine.credentials.get(place) ?? credentialsIn(place, homes.includes(place)),
    ),
    ...machine.hidden,
  ].filter(path => path !== root && !isWithin(root, path) && !read.includes(path) && !writable.includes(path));
  const shown = [...seen.map(path => realOf(path) ?? path), ...system.map(({ real }) => real)];
  const [home] = covered;
  return {
    readable: places,
    writable: writable.filter(path => !isWithin(path, root)),
    hidden: [...new Set(hidden)].filter(path => shown.some(one => isWithin(path, one))),
    covered,
    home: home !== undefined && home === realOf(env.HOME ?? '') ? home : undefined,
    path: machine.path.join(':'),
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What every view on this machine has in common. Looking for it takes some milliseconds. */
export interface MachineView {
  readonly homes: readonly string[];
  readonly system: readonly { readonly path: string; readonly real: string }[];
  readonly path: readonly string[];
  /** Toolchains and caches. */
  readonly places: readonly ReadablePlace[];
  /** The credentials in each of them. */
  readonly credentials: ReadonlyMap<string, readonly string[]>;
  /** In directories of the system. */
  readonly hidden: readonly string[];
}

function machineView(env: Environment, platform: NodeJS.Platform): MachineView {
  const homes = homesOf(env);
  const system = SYSTEM[platform === 'darwin' ? 'darwin' : 'linux']
    .filter(exists)
    .map(path => ({ path, real: realOf(path) ?? path }));
  const isSystem = (path: string) => system.some(({ real }) => isWithin(path, real));
  const entries = pathEntries(env.PATH ?? DEFAULT_PATH);
  const toolchains = toolchainsOn(
    entries.filter(entry => !isSystem(entry)),
    homes,
  );
  const caches = homes.flatMap(home => CACHES.flatMap(name => realOf(`${home}/${name}`) ?? []));
  const places = [
    ...toolchains.map(path => ({ path, kind: 'toolchain' as const })),
    ...caches.map(path => ({ path, kind: 'cache' as const })),
  ];
  return {
    ...{ homes, system, path: entries, places },
    credentials: new Map(places.map(({ path }) => [path, credentialsIn(path, homes.includes(path))])),
    hidden: [...othersHomes(homes).filter(isSystem), ...(platform === 'darwin' ? [] : closedBelow('/etc'))],
  };
}

/** The same, looked for not long ago. Nobody waits for it but the first: while one is used, the next is looked for. */
export function createRecentMachineView(env: Environment = process.env): () => MachineView {
  let known: { readonly view: MachineView; readonly of: string; readonly at: number } | undefined;
  const present = () => JSON.stringify([env.HOME, env.PATH]);
  const lookAgain = () => {
    known = { of: present(), view: machineView(env, process.platform), at: performance.now() };
    return known;
  };
  return () => {
    if (known?.of !== present() || performance.now() - known.at > OLDEST_MS) return lookAgain().view;
    if (performance.now() - known.at > RECENT_MS) setImmediate(lookAgain).unref();
    return known.view;
  };
}

const RECENT_MS = 5000;
const OLDEST_MS = 300_000;

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** Directories of the system. What they hold is the same for every user of the machine. */
const SYSTEM = {
  linux: [
    ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix/store', '/gnu/store'],
    ...['/run/current-system', '/sys/devices/system', '/var/lib/ca-certificates', '/var/lib/texmf'],
    ...['/var/cache/fontconfig', '/home/linuxbrew/.linuxbrew', '/snap'],
  ],
  darwin: [
    ...['/usr', '/bin', '/sbin', '/System', '/Library', '/Applications', '/opt', '/private/etc', '/private/var/db'],
    ...['/private/var/select', '/dev', '/nix/store'],
  ],
} as const;

/** What package managers have downloaded, relative to a home: packages, and nothing that is the user's. */
export const CACHES: readonly string[] = [
  ...['.npm/_cacache', '.cache/node', '.cache/yarn', '.yarn/berry/cache', '.local/share/pnpm/store', '.cache/deno'],
  ...['.bun/install/cache', '.cache/pip', '.cache/uv', '.local/share/uv/python', '.cache/pypoetry', '.conda/pkgs'],
  ...['.cargo/registry', '.cargo/git', '.rustup/toolchains', '.rustup/settings.toml', 'go/pkg/mod', '.cache/go-build'],
  ...['.m2/repository', '.m2/wrapper', '.gradle/caches', '.gradle/wrapper', '.gradle/jdks', '.ivy2/cache'],
  ...['.cache/coursier', '.nuget/packages', '.cache/composer', '.gem/ruby', '.bundle/cache', '.hex/packages', '.mix'],
  ...['.cabal/packages', '.stack/programs', '.cache/ms-playwright', '.cache/Cypress', '.cache/zig', '.cocoapods/repos'],
  ...['Library/Caches/pip', 'Library/Caches/Yarn', 'Library/Caches/go-build', 'Library/Caches/ms-playwright'],
  ...['Library/Caches/CocoaPods', 'Library/pnpm/store'],
];

/** The home that the environment names, and the one of our account. */
function homesOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const named = [env.HOME, accountHome()].filter(home => home?.startsWith('/'));
  const real = named.flatMap(home => realOf(home ?? '') ?? []).filter(home => home !== '/' && isDirectory(home));
  return [...new Set(real)];
}

function accountHome(): string | undefined {
  try {
    return os.userInfo().homedir;
  } catch {
    // An account without an entry has no home.
    return undefined;
  }
}

/** The first account that belongs to a person. */
const FIRST_PERSON = process.platform === 'darwin' ? 500 : 1000;

/** Homes of people that lie inside a directory of the system. Elsewhere they are not seen anyway. */
function othersHomes(own: readonly string[]): readonly string[] {
  let accounts: string;
  try {
    accounts = fs.readFileSync('/etc/passwd', 'utf8');
  } catch {
    return [];
  }
  return accounts.split('\n').flatMap(line => {
    const [, , id, , , home = ''] = line.split(':');
    const real = Number(id) >= FIRST_PERSON && home.length > 1 ? realOf(home) : undefined;
    return real === undefined || real === '/' || own.includes(real) ? [] : [real];
  });
}

function exists(path: string): boolean {
  return fs.existsSync(path);
}

function isDirectory(path: string): boolean {
  return fs.statSync(path).isDirectory();
}

function realOf(path: string): string | undefined {
  try {
    return path === '' || !fs.existsSync(path) ? undefined : fs.realpathSync(path);
  } catch {
    return undefined;
  }
}
