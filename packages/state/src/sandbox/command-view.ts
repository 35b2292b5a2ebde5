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
 * What a command sees of the filesystem besides its root. Paths are absolute, and real except for links at the top of the system.
 *
 * 1. Anything not listed does not exist: other homes, other projects, mounted disks, service sockets.
 * 2. A home is covered by an empty, private directory; its readable entries are added back at their own paths.
 * 3. Credentials are hidden by name in every readable place, including the root, unless the project's rules name them.
 */
export interface CommandView {
  readonly readable: readonly ReadablePlace[];
  /** Allowed by the project's rules. */
  readonly writable: readonly string[];
  /** Entries inside the root or another readable place that must not be seen. */
  readonly hidden: readonly string[];
  /** Homes replaced by an empty private directory. */
  readonly covered: readonly string[];
  /** The command's home, writable and private; undefined if it needs a separate directory. */
  readonly home: string | undefined;
  /** The PATH of the command. */
  readonly path: string;
}

export interface ViewOptions {
  readonly root: string;
  readonly rules?: SandboxRules;
  readonly env?: Environment;
  readonly platform?: NodeJS.Platform;
  /** The facts of this machine, if known. */
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
  // A place inside the root belongs to the root.
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

/** What all views on this machine have in common. Finding it takes some milliseconds. */
export interface MachineView {
  readonly homes: readonly string[];
  readonly system: readonly { readonly path: string; readonly real: string }[];
  readonly path: readonly string[];
  /** Toolchains and caches. */
  readonly places: readonly ReadablePlace[];
  /** The credentials in each of them. */
  readonly credentials: ReadonlyMap<string, readonly string[]>;
  /** In system directories. */
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

/** A recent version of the same. Only the first caller waits for it: it is refreshed in the background. */
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

/** System directories. Their content is the same for every user of the machine. */
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

/** Package manager caches, relative to a home: downloaded packages, no user data. */
const CACHES: readonly string[] = [
  ...['.npm/_cacache', '.cache/node', '.cache/yarn', '.yarn/berry/cache', '.local/share/pnpm/store', '.cache/deno'],
  ...['.bun/install/cache', '.cache/pip', '.cache/uv', '.local/share/uv/python', '.cache/pypoetry', '.conda/pkgs'],
  ...['.cargo/registry', '.cargo/git', '.rustup/toolchains', '.rustup/settings.toml', 'go/pkg/mod', '.cache/go-build'],
  ...['.m2/repository', '.m2/wrapper', '.gradle/caches', '.gradle/wrapper', '.gradle/jdks', '.ivy2/cache'],
  ...['.cache/coursier', '.nuget/packages', '.cache/composer', '.gem/ruby', '.bundle/cache', '.hex/packages', '.mix'],
  ...['.cabal/packages', '.stack/programs', '.cache/ms-playwright', '.cache/Cypress', '.cache/zig', '.cocoapods/repos'],
  ...['Library/Caches/pip', 'Library/Caches/Yarn', 'Library/Caches/go-build', 'Library/Caches/ms-playwright'],
  ...['Library/Caches/CocoaPods', 'Library/pnpm/store'],
];

/** The home named by the environment, and that of our account. */
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

/** Homes of people inside a system directory. Elsewhere they are not visible anyway. */
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

export function isDirectory(path: string): boolean {
  return fs.statSync(path).isDirectory();
}

function realOf(path: string): string | undefined {
  try {
    return path === '' || !fs.existsSync(path) ? undefined : fs.realpathSync(path);
  } catch {
    return undefined;
  }
}
