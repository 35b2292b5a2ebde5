import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/builders.ts';
import { makeCgroup } from './cgroup.ts';
import { DEFAULT_LIMITS } from './command-limits.ts';

/** Directories and files in place of the kernel's: what is asked of them is looked at, not what a kernel makes of it. */
let directory: ReturnType<typeof temporaryDirectory>;
let mount: string;
beforeEach(() => {
  directory = temporaryDirectory();
  mount = `${directory.path}/cgroup`;
});
afterEach(() => directory.remove());

function group(at: string, controllers: string): void {
  fs.mkdirSync(`${mount}${at}`, { recursive: true });
  fs.writeFileSync(`${mount}${at}/cgroup.subtree_control`, `${controllers}\n`);
  fs.writeFileSync(`${mount}${at}/cgroup.procs`, '');
}

function made(own: string) {
  fs.writeFileSync(`${directory.path}/self`, own);
  return makeCgroup(DEFAULT_LIMITS, { self: `${directory.path}/self`, mount });
}
const groupsIn = (at: string) => fs.readdirSync(`${mount}${at}`).filter(name => name.startsWith('signalbox-'));

describe('the cgroup of a command', () => {
  beforeEach(() => {
    group('', 'cpu memory pids');
    fs.writeFileSync(`${mount}/cgroup.controllers`, 'cpu memory pids\n');
    group('/user.slice', 'memory pids');
    group('/user.slice/app', 'memory pids');
    group('/user.slice/app/terminal', '');
  });

  it('[S156] is made in the nearest group that hands out memory and processes, with the limits', () => {
    const cgroup = made('0::/user.slice/app/terminal\n');
    const [name = ''] = groupsIn('/user.slice/app');
    const file = (one: string) => fs.readFileSync(`${mount}/user.slice/app/${name}/${one}`, 'utf8');
    expect(file('memory.max')).toBe(String(2048 * 2 ** 20));
    expect(Number(file('pids.max'))).toBeGreaterThan(1024);
    expect(cgroup?.enter).toContain(`'${mount}/user.slice/app/${name}/cgroup.procs'`);

    group('/user.slice/app', 'cpu');
    made('0::/user.slice/app/terminal\n');
    expect(groupsIn('/user.slice')).toHaveLength(1);
  });

  it('[S156] says which limit the kernel enforced', () => {
    const cgroup = made('0::/user.slice/app/terminal\n');
    const [name = ''] = groupsIn('/user.slice/app');
    const tell = (file: string, text: string) => fs.writeFileSync(`${mount}/user.slice/app/${name}/${file}`, text);
    expect(cgroup?.reached()).toBeUndefined();
    tell('pids.events', 'max 3\n');
    expect(cgroup?.reached()).toBe('processes');
    tell('memory.events', 'low 0\noom 1\noom_kill 1\n');
    expect(cgroup?.reached()).toBe('memory');
  });

  it.each([
    ['there is no unified hierarchy', '4:memory:/x\n'],
    ['we are at the top of it', '0::/\n'],
  ])('[S156] is not made where %s', (_, own) => {
    expect(made(own)).toBeUndefined();
  });

  it('[S156] is not made where nothing is delegated', () => {
    for (const at of ['', '/user.slice', '/user.slice/app']) fs.rmSync(`${mount}${at}/cgroup.procs`);
    expect(made('0::/user.slice/app/terminal\n')).toBeUndefined();
  });
});
