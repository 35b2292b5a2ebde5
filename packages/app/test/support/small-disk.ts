import { spawn, spawnSync } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** A disk that only the processes which run on it see, and that is gone with them. */
const unshare = ['unshare', process.getuid?.() === 0 ? '-m' : '-Urm', 'sh', '-c'] as const;
const script = (size: string) => `mount -t tmpfs -o size=${size} tmpfs "$0" && exec "$@"`;

/** Whether this machine lets us have one. */
export const hasSmallDisks = spawnSync(unshare[0], [...unshare.slice(1), script('1m'), '/mnt', 'true']).status === 0;

/** The command that runs a program where `place` is a small disk. */
export function smallDisk(place: string, size: string, program: readonly string[]): readonly string[] {
  return [...unshare, script(size), place, ...program];
}

const remount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';

/** Whether this machine lets us have a read-only one. */
export const hasReadOnlyDisks = spawnSync(unshare[0], [...unshare.slice(1), remount, '/mnt', 'true']).status === 0;

/** The command that runs a program where `place` and everything in it is on a read-only disk. */
export function readOnlyDisk(place: string, program: readonly string[]): readonly string[] {
  return [...unshare, remount, place, ...program];
}

/** Runs a program where `place` is a small disk, and answers what it printed. */
export async function onSmallDisk(place: string, size: string, program: readonly string[]): Promise<string> {
  const [file = '', ...args] = smallDisk(place, size, program);
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const { pid } = child;
  onTestFinished(() => {
    if (pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGKILL');
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', text => {
    printed += text;
  });
  const code = await new Promise<number | null>(resolve => child.once('close', resolve));
  if (code !== 0) throw new Error(`it ended with ${code}: ${printed}`);
  return printed;
}

/** A disk that can be made read-only while files on it are open, as the system does it when a disk fails. It outlives its processes. */
const loop = 'mount -o loop "$0" "$1" && shift && exec "$@"';

/** Whether this machine lets us have one: only root can. */
export const hasFailingDisks =
  process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'sh', '-c', 'mkfs.ext4 -V && losetup -f']).status === 0;

/** Makes the disk, in a file. */
export function makeFailingDisk(image: string): void {
  const made = spawnSync('sh', ['-c', 'truncate -s 16M "$0" && mkfs.ext4 -q -F "$0"', image]);
  if (made.status !== 0) throw new Error(String(made.stderr));
}

/** Mends what a disk that failed was left with. */
export function mendFailingDisk(image: string): void {
  // 1: errors were corrected.
  if ((spawnSync('e2fsck', ['-fy', image]).status ?? 9) > 1) throw new Error(`${image} cannot be mended`);
}

/** The command that runs a program where `place` is such a disk. */
export function failingDisk(image: string, place: string, program: readonly string[]): readonly string[] {
  return ['unshare', '-m', 'sh', '-c', loop, image, place, ...program];
}

/** Makes the disk of a process that runs on it read-only: what is open for writing stays open. */
export function failDisk(pid: number, place: string): void {
  const done = spawnSync('nsenter', ['-t', String(pid), '-m', 'mount', '-o', 'remount,abort', place]);
  if (done.status !== 0) throw new Error(String(done.stderr));
}
