import * as fs from 'node:fs';
import { namesIfReadable } from '../filesystem/directory-names.ts';

/**
 * Kills remains of sandboxes whose process was killed while `bwrap` was building them. The first process waits for `bwrap`
 * before it asks to die with it; if `bwrap` dies meanwhile, it waits forever. It has run nothing.
 */
export function endStuckSandboxes(command: readonly string[]): void {
  const begins = command.map(word => `${word}\0`).join('');
  const own = process.geteuid?.();
  for (const pid of namesIfReadable('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      if (fs.statSync(`/proc/${pid}`).uid !== own || !isStuck(pid, begins)) continue;
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

/** Whether it is the first process of a `bwrap` namespace whose `bwrap` is gone. */
function isStuck(pid: string, begins: string): boolean {
  if (!read(pid, 'cmdline').startsWith(begins)) return false;
  const status = read(pid, 'status');
  const numbers = /^NSpid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
  const parent = /^PPid:\s+(\d+)$/m.exec(status)?.[1] ?? '0';
  return (
    numbers.length > 1 && numbers.at(-1) === '1' && !(parent !== '0' && read(parent, 'cmdline').startsWith(begins))
  );
}

function read(pid: string, name: string): string {
  return fs.readFileSync(`/proc/${pid}/${name}`, 'utf8');
}
