import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import type { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { systemProgram } from '../programs/system-programs.ts';
import { endStuckSandboxes } from './stuck-sandboxes.ts';

const bwrap = systemProgram('bwrap');

function childrenOf(parent: number): readonly number[] {
  return fs
    .readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && statusOf(name).includes(`PPid:\t${parent}\n`))
    .map(Number);
}

function statusOf(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

const PATIENT = { timeout: 180_000 };
const isThere = (pid: number) => fs.existsSync(`/proc/${pid}`);

describe.skipIf(bwrap === undefined)('a sandbox that is half-made', () => {
  it('[S223] stays if its process is killed, and is ended by the next; one whose process lives is left alone', async () => {
    // No other test, nor a process of this machine, has this descriptor for its options.
    const options = 7;
    const outer = [bwrap as string, '--args', String(options), '--'];
    const half = async () => {
      const stdio = Array.from({ length: options + 2 }, (_, at): 'ignore' | 'pipe' =>
        at < options ? 'ignore' : 'pipe',
      );
      const made = spawn(outer[0] as string, [...outer.slice(1), '/bin/true'], { stdio });
      // It waits for this descriptor to be closed after it made its namespaces.
      const block = [
        '--unshare-user',
        '--unshare-pid',
        ...['--info-fd', '1'],
        '--userns-block-fd',
        String(options + 1),
        '--ro-bind',
        '/',
        '/',
      ];
      (made.stdio.at(options) as Writable).end(block.map(option => `${option}\0`).join(''));
      await expect.poll(() => childrenOf(made.pid as number), PATIENT).toHaveLength(1);
      return { made, first: childrenOf(made.pid as number)[0] as number };
    };
    const [killed, living] = [await half(), await half()];
    killed.made.kill('SIGKILL');
    await once(killed.made, 'exit');
    expect(isThere(killed.first)).toBe(true);
    endStuckSandboxes(outer);
    await expect.poll(() => isThere(killed.first), PATIENT).toBe(false);
    expect(isThere(living.first)).toBe(true);
    (living.made.stdio.at(options + 1) as Writable).end();
    const [, signal] = await once(living.made, 'exit');
    expect(signal).toBe(null);
  });
});
