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
