import * as fs from 'node:fs';
import { isWithin } from '../filesystem/path-locks.ts';
import { bytesOf, type CommandLimits } from './command-limits.ts';
import { STATUS_FD } from './command-pipes.ts';
import { type ConfinedCommand, harmlessEnv, passedOn } from './command-sandbox.ts';
import { isDirectory, type MachineView, viewOf } from './command-view.ts';
import { listeningSockets } from './unix-sockets.ts';

/**
 * - `capabilities`: for root. It keeps only those that give access to other users' files.
 * - `user-namespace`: for other users, and for a root that may not create namespaces otherwise.
 */
export type BubblewrapPrivileges = 'capabilities' | 'user-namespace';

/** Empty, private and writable: temporary directories, and those with service sockets. */
const PRIVATE = ['/tmp', '/var/tmp', '/run', '/var/run'];
/** These reveal information that no namespace confines. */
const OF_THE_MACHINE = [
  ...['keys', 'key-users', 'kcore', 'kmsg', 'latency_stats', 'sched_debug', 'timer_list', 'timer_stats', 'slabinfo'],
  ...['vmallocinfo', 'kpagecgroup', 'kpagecount', 'kpageflags', 'acpi', 'asound', 'scsi'],
].map(name => `/proc/${name}`);
const HOME = '/tmp/signalbox-home';
const FILE_CAPABILITIES = ['CAP_DAC_OVERRIDE', 'CAP_CHOWN', 'CAP_FOWNER'];

/** An entry in the command's filesystem. */
interface Mount {
  readonly path: string;
  /** `shown`: the host's entry. `empty`: a private directory. */
  readonly kind: 'shown' | 'empty' | 'hidden';
  readonly options: readonly string[];
  readonly isLink?: boolean;
}

export interface BubblewrapOptions {
  readonly arguments: readonly string[];
  /** Private directories of the command. */
  readonly inMemory: readonly string[];
  /** Other writable directories besides its root. */
  readonly writable: readonly string[];
  /** Whether they were computed without reading anything below the root. */
  readonly isRootUnseen: boolean;
}

/** The options, or why they cannot be computed. */
export function optionsOf(
  command: ConfinedCommand,
  privileges: BubblewrapPrivileges,
  machine: MachineView,
  sizes: CommandLimits | undefined,
): BubblewrapOptions | string {
  const { root, rules } = command;
  const own = [...new Set(PRIVATE.filter(path => fs.existsSync(path)).map(path => fs.realpathSync(path)))];
  const refused = command.refused.filter(path => fs.existsSync(path)).map(path => fs.realpathSync(path));
  const wide = [...own, '/dev', '/proc', '/sys'].find(path => isWithin(path, root));
  if (wide !== undefined) return `commands cannot be confined to ${root}: it contains ${wide}`;
  if (refused.includes(root)) return `${root} is refused`;
  const view = viewOf({ root, machine, ...(rules && { rules }) });
  const { own: places } = command;
  const harmless = () => ({ ...harmlessEnv(view.home ?? HOME, '/tmp', view.path), ...passedOn(rules) });
  const env = { ...(places === undefined && harmless()), ...command.env };

  const homes = places === undefined ? [] : [places.home];
  const size = sizes === undefined ? [] : ['--size', String(bytesOf(sizes.memoryMb))];
  const empty = (path: string): Mount => ({ path, kind: 'empty', options: [...size, '--tmpfs', path] });
  const mounts: readonly Mount[] = [
    ...[...own, ...view.covered].map(empty),
    ...view.readable.filter(({ path }) => !refused.some(one => isWithin(path, one))).map(({ path }) => readable(path)),
    { path: root, kind: 'shown', options: ['--bind', root, root] },
    ...view.writable.map((path): Mount => ({ path, kind: 'shown', options: ['--bind', path, path] })),
    ...[...view.hidden, ...refused].map((path): Mount => ({ path, kind: 'hidden', options: hidden(path) })),
    ...(places?.readable ?? []).map(path => readable(path)),
    ...homes.map((path): Mount => ({ path, kind: 'shown', options: ['--bind', path, path] })),
  ];
  // The last entry for a path counts: the sort is stable.
  const sorted = mounts.toSorted((a, b) => depth(a.path) - depth(b.path));
  // A link in a directory that is shown is there already, and cannot be made again.
  const isThere = ({ path }: Mount) =>
    sorted.findLast(mount => mount.path !== path && isWithin(path, mount.path))?.kind === 'shown';
  const ordered = sorted.filter(mount => mount.isLink !== true || !isThere(mount));
  const isShown = (path: string) => ordered.findLast(mount => isWithin(path, mount.path))?.kind === 'shown';
  const sockets = listeningSockets().filter(isShown);
  const options = [
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(rules?.network === 'host' ? [] : ['--unshare-net']),
    ...['--die-with-parent', '--json-status-fd', String(STATUS_FD)],
    ...(privileges === 'user-namespace' ? ['--unshare-user'] : []),
    // On a layer we are already root of a user namespace; the command must run as our own user.
    ...(command.layer?.isMapped === true
      ? ['--uid', String(process.geteuid?.()), '--gid', String(process.getegid?.())]
      : []),
    ...['--cap-drop', 'ALL'],
    ...(privileges === 'capabilities' ? FILE_CAPABILITIES.flatMap(name => ['--cap-add', name]) : []),
    ...['--dev', '/dev', ...size, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--proc', '/proc', '--remount-ro', '/proc'],
    ...OF_THE_MACHINE.filter(path => fs.existsSync(path)).flatMap(covered),
    ...ordered.flatMap(mount => mount.options),
    ...sockets.flatMap(path => ['--ro-bind', '/dev/null', path]),
    ...ordered
      .filter(({ path, kind }) => kind === 'hidden' && isDirectory(path))
      .flatMap(({ path }) => ['--remount-ro', path]),
    ...['--dir', view.home ?? HOME, '--remount-ro', '/', '--chdir', root],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
  // A null character could smuggle in another option.
  if (options.some(option => option.includes('\0'))) return 'a variable or a path contains a null character';
  const inside = [...ordered.map(({ path }) => path), ...sockets].filter(path => path !== root && isWithin(path, root));
  return {
    arguments: options,
    inMemory: ['/dev/shm', ...own, ...view.covered],
    writable: [...view.writable, ...homes],
    isRootUnseen: inside.length === 0,
  };
}

/** A link at the top of the system stays a link. */
function readable(path: string): Mount {
  const isLink = fs.lstatSync(path).isSymbolicLink();
  return {
    path,
    kind: 'shown',
    isLink,
    options: isLink ? ['--symlink', fs.readlinkSync(path), path] : ['--ro-bind', path, path],
  };
}

function hidden(path: string): readonly string[] {
  return isDirectory(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
}

/** Hidden permanently: nothing can be created there either. */
function covered(path: string): readonly string[] {
  return [...hidden(path), ...(isDirectory(path) ? ['--remount-ro', path] : [])];
}

function depth(path: string): number {
  return path.split('/').length;
}
