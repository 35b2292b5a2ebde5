import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { createClient, type News } from '@signalbox/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  failDisk,
  failingDisk,
  hasFailingDisks,
  hasSmallDisks,
  makeFailingDisk,
  mendFailingDisk,
  smallDisk,
} from '../../app/test/support/small-disk.ts';
import { entry, ownEnvironment, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
const execute = promisify(execFile);

/** Its first task fills the disk; what it says is to be committed when there is no room. Room is made when `go` is there. */
const PLAN = `
import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { definePlan, Phase, Step, Task } from 'signalbox';
const fill = () => {
  const file = openSync('disk/filler', 'w');
  for (let bytes = 65536; bytes >= 1; ) {
    try {
      writeSync(file, Buffer.alloc(bytes));
    } catch {
      bytes = Math.floor(bytes / 16);
    }
  }
  closeSync(file);
  const look = setInterval(() => {
    if (!existsSync('go')) return;
    clearInterval(look);
    rmSync('disk/filler');
  }, 20);
  return 'filled';
};
export default definePlan({
  name: 'filling',
  render: () => (
    <Phase name="all">
      <Step><Task id="fill" run={fill} /></Step>
      <Step><Task id="then" run={() => 'done'} /></Step>
    </Phase>
  ),
});
`;

const EVENTS = (run: string) => `/api/runs/${run}/events?view=stored`;
const serveIn = (disk: string) => [
  ...[process.execPath, entry, 'serve', '--port', '0', '--json'],
  ...['--data-dir', path.join(disk, 'data')],
];

/** A server that runs on a disk of its own. */
async function serving(cwd: string, [program = '', ...args]: readonly string[], known?: string) {
  const child = spawn(program, args, {
    cwd,
    env: ownEnvironment(cwd),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  onTestFinished(() => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL');
  });
  let [told, complained] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', text => {
    told += text;
  });
  child.stderr.setEncoding('utf8').on('data', text => {
    complained += text;
  });
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  await until(() => told.includes('\n'));
  const { url, page } = JSON.parse(told);
  // Only the first start of a data directory prints it.
  const token = known ?? new URL(page).hash.slice('#token='.length);
  const client = createClient({ url, token });
  return {
    child,
    ended,
    client,
    token,
    complained: () => complained,
    async start(file: string) {
      const started = await client.start({ file, anyFile: true, input: {} });
      if (!started.ok) throw new Error(started.error.message);
      return started.value.id;
    },
    ask: async (place: string) =>
      (await fetch(`${url}${place}`, { headers: { authorization: `Bearer ${token}` } })).text(),
  };
}

/** A server on a disk of its own, with a run that filled it. */
async function filled(name: string) {
  const cwd = path.join(folder, name);
  const disk = path.join(cwd, 'disk');
  mkdirSync(disk, { recursive: true });
  writeFileSync(path.join(cwd, 'plan.tsx'), PLAN);
  const server = await serving(cwd, smallDisk(disk, '6m', serveIn(disk)));
  const { child, client, complained } = server;
  const run = await server.start(path.join(cwd, 'plan.tsx'));
  const heard: News[] = [];
  const watching = client.watch(run, news => heard.push(news));
  onTestFinished(() => watching.close());
  await until(() => complained().includes('is full'));
  /** A command beside the server, where its disk is. */
  const command = async (...given: readonly string[]) => {
    const inside = [
      '-t',
      String(child.pid),
      ...(process.getuid?.() === 0 ? ['-m'] : ['-U', '-m', '--preserve-credentials']),
    ];
    const all = [process.execPath, entry, ...given, '--data-dir', path.join(disk, 'data')];
    // Not in one go: connections that nobody looks after meanwhile are closed.
    return (await execute('nsenter', [...inside, ...all], { cwd, env: ownEnvironment(cwd) })).stdout;
  };
  return { ...server, cwd, run, heard, command };
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setTimeout(resolve, 20));
}

const value = async <T>(
  answer: Promise<{ readonly ok: true; readonly value: T } | { readonly ok: false }>,
): Promise<T> => {
  const given = await answer;
  if (!given.ok) throw new Error(JSON.stringify(given));
  return given.value;
};
const why = expect.stringMatching(/^The disk of the data directory .* is full\. Free some space\.$/);

/** Runs a plan with large results, fills the disk, looks, and collects: what each command printed, with its exit code. */
const COLLECT = `
call() { "$0" "$@" --data-dir disk/data 2>&1; echo "= $?"; }
call run large.tsx
printf '{"retention":{"collapseAfterDays":0,"removeAfterDays":0}}' > disk/data/config.json
chmod 600 disk/data/config.json
# Blobs of the last hour stay.
find disk/data/blobs -type f -exec touch -d '2 hours ago' {} +
head -c 10000000 /dev/zero > disk/filler 2>/dev/null
call run small.tsx
call ls
call gc --dry-run
call gc
call ls
call run small.tsx
ls disk/data/reserve
`;

describe.skipIf(!hasSmallDisks)('a command on a full disk', () => {
  it('[A776] [A777] lists runs, and makes room with gc, so that the next run works', async () => {
    const cwd = path.join(folder, 'collects');
    const disk = path.join(cwd, 'disk');
    mkdirSync(disk, { recursive: true });
    for (const [name, length] of Object.entries({ large: 1_500_000, small: 1 })) {
      const task = `<Task id="task" run={() => 'x'.repeat(${length})} />`;
      const plan = `export default definePlan({ name: '${name}', render: () => ${task} });`;
      writeFileSync(path.join(cwd, `${name}.tsx`), `import { definePlan, Task } from 'signalbox';\n${plan}\n`);
    }
    const program = path.join(cwd, 'program');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`, { mode: 0o755 });
    const [file = '', ...args] = smallDisk(disk, '9m', ['sh', '-c', COLLECT, program]);
    const { stdout } = await execute(file, args, { cwd, env: ownEnvironment(cwd) });
    const [first, full, listed, dry, collected, emptied, last] = stdout.split(/^= /m);
    expect(first).toContain('completed');
    expect(full).toContain('is full');
    expect(listed).toMatch(/^1\n.*large/);
    expect(dry).toMatch(/^0\n.*would go/);
    expect(collected).toMatch(/^0\n.*went/);
    expect(emptied).not.toContain('large');
    expect(last).toContain('completed');
    expect(stdout).toMatch(/= 0\ndisk\/data\/reserve\n$/);
  });
});

describe.skipIf(!hasSmallDisks)('a server whose disk is full', () => {
  it('[A194] [V166] says so everywhere, refuses what it cannot keep, and goes on by itself when there is room', async () => {
    const { cwd, client, run, heard, ask, command, complained, child, ended } = await filled('room');
    expect((await value(client.health())).storage).toMatchObject({
      status: 'full',
      message: why,
      runs: [run],
      waiting: 1,
    });
    expect(await value(client.run(run))).toMatchObject({
      status: 'paused',
      record: { status: 'paused', stopReason: why },
    });
    await until(() => heard.some(news => JSON.stringify(news).includes('is full')));
    const metrics = await ask('/metrics');
    expect(metrics).toContain('signalbox_storage_held{reason="full"} 1');
    expect(metrics).toContain('signalbox_storage_held_runs 1');
    expect(await client.stop(run, 'enough')).toMatchObject({ ok: false, error: { code: 'store/held' } });
    expect(complained()).toContain(`Paused: ${run}`);
    expect(await command('ls')).toMatch(/paused .*is full/);
    expect(await command('show', run)).toMatch(/paused .*is full/);
    expect(await command('why', run)).toContain('The run resumes automatically');

    writeFileSync(path.join(cwd, 'go'), '');
    await until(async () => (await value(client.run(run))).status === 'completed');
    expect((await value(client.health())).storage).toEqual({ status: 'ok' });
    expect(await ask('/metrics')).toContain('signalbox_storage_holds_total 1');
    expect(complained()).toContain('accepts writes again');
    expect(await ask(`/api/runs/${run}/events?view=stored`)).toContain('run.held');
    child.kill('SIGTERM');
    expect(await ended).toBe(143);
  });

  it('[A195] ends when it is told to, and what was acknowledged is kept', async () => {
    const { child, ended, client, run } = await filled('told');
    const before = await value(client.run(run));
    expect(before.status).toBe('paused');
    child.kill('SIGTERM');
    expect(await ended).toBe(143);
  });
});

/** The answer of each command on a full disk, and the result once there is room again. */
const ON_FULL_DISK = `
say() { echo "== $*"; "$NODE" "$ENTRY" "$@" --data-dir disk/data 2>&1; }
say run plan.tsx > /dev/null
say users add ada > /dev/null
dd if=/dev/zero of=disk/filler bs=4k 2> /dev/null
say users add bob
say users rotate ada
say repair
say repair --from-journals
rm disk/filler
echo "== left"; (cd disk/data && ls -A . users | grep -E 'aside|^\\.[0-9a-f]+$')
say ls
say users ls
say repair
`;

describe.skipIf(!hasSmallDisks)('commands on a full disk', () => {
  it('[A762] [A763] name the disk, and leave database, users and tokens as they were', async () => {
    const cwd = path.join(folder, 'commands');
    mkdirSync(path.join(cwd, 'disk'), { recursive: true });
    writeFileSync(
      path.join(cwd, 'plan.tsx'),
      `import { definePlan, Task } from 'signalbox';
       export default definePlan({ name: 'small', render: () => <Task id="only" run={() => 'done'} /> });`,
    );
    const [program = '', ...args] = smallDisk(path.join(cwd, 'disk'), '6m', ['sh', '-c', ON_FULL_DISK]);
    const env = { ...ownEnvironment(cwd), NODE: process.execPath, ENTRY: entry };
    const { stdout } = await execute(program, args, { cwd, env });
    const full = [
      `error: The disk of the data directory ${path.join(cwd, 'disk/data')} is full.`,
      'Free some space, then try again.',
    ];
    const answers = stdout.split('== ').slice(1);
    expect(answers.slice(0, 4).map(answer => answer.trim().split('\n'))).toEqual([
      ['users add bob', ...full],
      ['users rotate ada', ...full],
      ['repair', ...full],
      ['repair --from-journals', ...full],
    ]);
    expect(answers[4]).toBe('left\n');
    expect(answers[5]).toMatch(/^ls\n\S+ +completed +small .*\n$/);
    expect(answers[6]).toMatch(/^users ls\nada +viewer .*\n$/);
    expect(answers[7]).toMatch(/^repair\n✓ /);
  });
});

/** Its first task goes on until it is told to end. */
const WAITING = `
import { existsSync } from 'node:fs';
import { definePlan, Phase, Step, Task } from 'signalbox';
const wait = async () => {
  while (!existsSync('go')) await new Promise(resolve => setTimeout(resolve, 20));
  return 'told';
};
export default definePlan({
  name: 'waiting',
  render: () => (
    <Phase name="all">
      <Step><Task id="before" run={() => 'done'} /></Step>
      <Step><Task id="wait" run={wait} /></Step>
      <Step><Task id="then" run={() => 'done'} /></Step>
    </Phase>
  ),
});
`;

describe.skipIf(!hasFailingDisks)('a server whose disk turns read-only', () => {
  it('[A323] while it runs says so, ends when it is told to, and the next one goes on with all that was acknowledged', async () => {
    const cwd = path.join(folder, 'read-only');
    const disk = path.join(cwd, 'disk');
    const image = path.join(cwd, 'image');
    mkdirSync(disk, { recursive: true });
    writeFileSync(path.join(cwd, 'plan.tsx'), WAITING);
    makeFailingDisk(image);
    const first = await serving(cwd, failingDisk(image, disk, serveIn(disk)));
    const run = await first.start(path.join(cwd, 'plan.tsx'));
    await until(async () => (await first.ask(EVENTS(run))).includes('"node":"wait"'));
    failDisk(first.child.pid as number, disk);
    writeFileSync(path.join(cwd, 'go'), '');
    await until(() => /is read-only|refuses writes/.test(first.complained()));
    const { status } = (await value(first.client.health())).storage;
    expect(['read-only', 'failing']).toContain(status);
    expect(await value(first.client.run(run))).toMatchObject({ status: 'paused' });
    expect(await first.client.stop(run, 'enough')).toMatchObject({ ok: false, error: { code: 'store/held' } });
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(143);

    mendFailingDisk(image);
    const second = await serving(cwd, failingDisk(image, disk, serveIn(disk)), first.token);
    await until(async () => (await value(second.client.run(run))).status === 'completed');
    const events = await second.ask(EVENTS(run));
    expect(events.match(/"task\.ended"/g)).toHaveLength(3);
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(143);
  });
});

describe.skipIf(!hasSmallDisks)('a command on a disk', () => {
  it.each([
    [
      'full',
      [],
      'dd if=/dev/zero of="$DISK/filler" bs=4k 2>/dev/null',
      /^error: The disk of the data directory .* is full\.\nFree some space/,
    ],
    [
      'read-only',
      ['gc'],
      'mount -o remount,ro "$DISK"',
      /^error: The data directory .* is read-only\.\nMake it writable again/,
    ],
  ])(
    '[A198] [D61] that is %s says so in one sentence, with the remedy, and so does the doctor',
    (name, more, spoil, words) => {
      const cwd = path.join(folder, `command-${name}`);
      const disk = path.join(cwd, 'disk');
      mkdirSync(disk, { recursive: true });
      writeFileSync(path.join(cwd, 'plan.tsx'), HELLO);
      const given = [...more, 'run plan.tsx', 'serve --port 0', 'mcp --operator', 'mcp'];
      const script = [
        '"$NODE" "$ENTRY" run plan.tsx > /dev/null || exit 9',
        spoil,
        ...given.map(command => `"$NODE" "$ENTRY" ${command} 2>&1 < /dev/null; echo "=$?"; echo "~"`),
        '"$NODE" "$ENTRY" doctor --json',
        'exit 0',
      ].join('\n');
      const [program = '', ...args] = smallDisk(disk, '6m', ['sh', '-c', script]);
      const env = {
        ...ownEnvironment(cwd),
        DISK: disk,
        NODE: process.execPath,
        ENTRY: entry,
        SIGNALBOX_DATA_DIR: `${disk}/data`,
      };
      const { status, stdout } = spawnSync(program, args, { cwd, env, encoding: 'utf8' });
      const answers = stdout.split('~\n');
      expect(status).toBe(0);
      for (const [index, command] of given.entries()) {
        expect([command, answers[index]]).toEqual([command, expect.stringMatching(words)]);
        expect(answers[index]).toMatch(/=1\n$/);
      }
      const { ok, checks } = JSON.parse(answers[given.length] ?? '');
      expect(ok).toBe(false);
      expect(checks).toContainEqual(
        expect.objectContaining({ name: 'disk', status: 'fail', found: expect.stringContaining(name) }),
      );
    },
  );
});

const HELLO = `
import { definePlan, Task } from 'signalbox';
export default definePlan({ name: 'hello', render: () => <Task id="one" run={() => 1} /> });
`;
