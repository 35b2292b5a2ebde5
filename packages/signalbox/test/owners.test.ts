import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openReader, type Reader, readOwner } from '@signalbox/app/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { entry, ownEnvironment, signalbox, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
const example = (name: string) => fileURLToPath(new URL(`../../../examples/${name}/plan.tsx`, import.meta.url));
let count = 0;

function newPlace(): string {
  const place = path.join(folder, `place-${count++}`);
  mkdirSync(place);
  return place;
}

/** Starts the program and leaves it running. */
function start(cwd: string, ...args: readonly string[]): ChildProcess & { readonly told: () => string } {
  const child = spawn(process.execPath, [entry, ...args], {
    cwd,
    env: ownEnvironment(cwd),
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let told = '';
  child.stdout.setEncoding('utf8').on('data', chunk => {
    told += chunk;
  });
  onTestFinished(() => kill(child));
  return Object.assign(child, { told: () => told });
}

function kill(child: ChildProcess): void {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
    process.kill(-child.pid, 'SIGKILL');
}

async function until<T>(ask: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}

const ended = (child: ChildProcess) => new Promise<number | null>(resolve => child.once('close', resolve));
/** The lines that a command lists, as JSON. */
function listed(cwd: string, command = 'ls') {
  const { stdout } = signalbox([command, '--json'], { cwd });
  const lines = stdout.split('\n').filter(line => line !== '');
  return lines.map(line => JSON.parse(line));
}
const dataOf = (cwd: string) => path.join(cwd, '.local/share/signalbox');
/** Something of the database, read beside its owner; undefined while there is no database. */
async function read<T>(cwd: string, ask: (reader: Reader) => Promise<T>): Promise<T | undefined> {
  const reader = openReader({ path: path.join(dataOf(cwd), 'db.sqlite') });
  if (!reader.ok) return undefined;
  try {
    return await ask(reader.value);
  } finally {
    reader.value.close();
  }
}
const runsOf = async (cwd: string) => (await read(cwd, async reader => (await reader.runs()).items)) ?? [];
const decisionsOf = async (cwd: string) => (await read(cwd, reader => reader.decisions({ status: ['open'] }))) ?? [];
/** The run that a process began, once that process listens to others. */
async function begun(cwd: string) {
  await until(() => readOwner(dataOf(cwd))?.url);
  return until(async () => (await runsOf(cwd)).find(run => run.status === 'running'));
}

/** A task that goes on until a file is there. */
const WAITING = `
import { existsSync } from 'node:fs';
import { definePlan, Task } from 'signalbox';
export default definePlan({
  name: 'waiting',
  render: () => (
    <Task id="wait" run={async ({ signal }) => {
      while (!existsSync('go') && !signal.aborted) await new Promise(resolve => setTimeout(resolve, 10));
    }} />
  ),
});
`;

describe('a run whose process was killed', () => {
  it('[X70] is reported as interrupted until it is resumed, and while it has an owner as running', async () => {
    const cwd = newPlace();
    writeFileSync(path.join(cwd, 'waiting.tsx'), WAITING);
    const owner = start(cwd, 'run', 'waiting.tsx');
    const { id } = await begun(cwd);
    const [shown] = listed(cwd);
    expect([shown.id, shown.status, shown.interrupted]).toEqual([id, 'running', undefined]);
    expect(signalbox(['ls'], { cwd }).stdout).toContain('running');
    const over = ended(owner);
    kill(owner);
    await over;
    const words = `its process ended; "signalbox resume ${id}" continues it`;
    for (const args of [['ls'], ['show', id]]) {
      const [line] = signalbox(args, { cwd }).stdout.split('\n');
      expect(line).toMatch(new RegExp(`^${id}  interrupted  waiting  .*  ${words}$`));
    }
    const left = { id, status: 'paused', interrupted: true };
    expect(listed(cwd)).toMatchObject([left]);
    expect(JSON.parse(signalbox(['ls', '--status', 'paused', '--json'], { cwd }).stdout)).toMatchObject(left);
    expect(signalbox(['ls', '--status', 'running', '--json'], { cwd }).stdout).toBe('');
    const found = JSON.parse(signalbox(['show', id, '--json'], { cwd }).stdout);
    expect(found).toMatchObject({ run: left, interrupted: true });
    const tree = signalbox(['show', id], { cwd }).stdout;
    expect([tree.includes('task wait interrupted'), /running/.test(tree)]).toEqual([true, false]);
    expect(signalbox(['why', id], { cwd }).stdout).toContain('The run is interrupted.');
    const why = signalbox(['why', id, 'wait'], { cwd }).stdout;
    expect([why.includes('It was working when the process of its run ended.'), /running/.test(why)]).toEqual([
      true,
      false,
    ]);
    writeFileSync(path.join(cwd, 'go'), '');
    expect(signalbox(['resume', id], { cwd })).toMatchObject({ status: 0 });
    expect(listed(cwd)[0]).not.toHaveProperty('interrupted');
  });
});

describe('a second process', () => {
  it('[V146] [X6] looks at runs, starts them and acts on them through the one that owns the data directory, which answers as a server does', async () => {
    const cwd = newPlace();
    writeFileSync(path.join(cwd, 'waiting.tsx'), WAITING);
    const owner = start(cwd, 'run', 'waiting.tsx');
    const first = await begun(cwd);
    expect(first).toMatchObject({ name: 'waiting', status: 'running' });

    const hello = signalbox(['run', example('02-hello')], { cwd });
    expect(hello).toMatchObject({ status: 0, stdout: expect.stringContaining('✓ task celebrate') });
    expect(listed(cwd).map(run => [run.name, run.status])).toEqual([
      ['hello', 'completed'],
      ['waiting', 'running'],
    ]);
    const data = path.join(cwd, '.local/share/signalbox');
    const { url } = JSON.parse(readFileSync(path.join(data, 'owner.json'), 'utf8'));
    const authorization = `Bearer ${readFileSync(path.join(data, 'token'), 'utf8')}`;
    for (const place of ['users', 'settings', 'sessions', 'workflows', 'providers']) {
      expect([place, (await fetch(`${url}/api/${place}`, { headers: { authorization } })).status]).toEqual([
        place,
        200,
      ]);
    }
    expect(signalbox(['pause', first.id], { cwd })).toMatchObject({ status: 0, stderr: '' });
    writeFileSync(path.join(cwd, 'go'), '');
    expect(await ended(owner)).toBe(0);
    expect(owner.told()).toMatch(/paused|completed/);
  });

  it('has its run finished by the first one, which stays until then', async () => {
    const cwd = newPlace();
    writeFileSync(path.join(cwd, 'waiting.tsx'), WAITING);
    const slow = WAITING.replace("existsSync('go')", "existsSync('later')").replace("'waiting'", "'slow'");
    writeFileSync(path.join(cwd, 'slow.tsx'), slow);
    const first = start(cwd, 'run', 'waiting.tsx');
    await begun(cwd);
    const second = start(cwd, 'run', 'slow.tsx');
    await until(async () => ((await runsOf(cwd)).length > 1 ? true : undefined));
    writeFileSync(path.join(cwd, 'go'), '');
    await until(() => (first.told().includes('completed') ? true : undefined));
    expect(first.exitCode).toBe(null);
    writeFileSync(path.join(cwd, 'later'), '');
    expect(await Promise.all([first, second].map(ended))).toEqual([0, 0]);
    expect((await runsOf(cwd)).map(run => run.status)).toEqual(['completed', 'completed']);
  });

  it('[A918] goes on with its run itself if the first one is killed', async () => {
    const cwd = newPlace();
    writeFileSync(path.join(cwd, 'waiting.tsx'), WAITING);
    writeFileSync(path.join(cwd, 'slow.tsx'), WAITING.replace("existsSync('go')", "existsSync('later')"));
    const first = start(cwd, 'run', 'waiting.tsx');
    const { id } = await begun(cwd);
    const second = start(cwd, 'run', 'slow.tsx');
    const own = await until(async () => (await runsOf(cwd)).find(run => run.id !== id && run.status === 'running'));
    kill(first);
    writeFileSync(path.join(cwd, 'later'), '');
    expect(await ended(second)).toBe(0);
    expect(second.told()).toContain(`✓ completed ${own.id}`);
    expect(listed(cwd).map(run => [run.id, run.status])).toEqual([
      [own.id, 'completed'],
      [id, 'paused'],
    ]);
  });

  it('[X6] is refused what it asks for wrongly, as if it owned the directory itself', async () => {
    const cwd = newPlace();
    const owner = start(cwd, 'serve', '--port', '0', '--json');
    await until(() => (owner.told().includes('\n') ? true : undefined));
    expect(signalbox(['run', 'missing.tsx'], { cwd })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('there is no file'),
    });
    expect(signalbox(['retry', 'ffff', 'node'], { cwd })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('There is no run'),
    });
    expect(signalbox(['approve', 'ffff'], { cwd })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('There is no decision'),
    });
  });
});

describe('signalbox serve', () => {
  it('drives what it is given, waits for a person and goes on when it is answered', async () => {
    const cwd = newPlace();
    const owner = start(cwd, 'serve', '--port', '0', '--json');
    await until(() => (owner.told().includes('\n') ? true : undefined));
    expect(signalbox(['run', example('03-review'), '--detach'], { cwd })).toMatchObject({ status: 0 });
    const asked = await until(async () => (await decisionsOf(cwd))[0]);
    expect(signalbox(['approve', asked.decision.id, '--option', 'nothing'], { cwd })).toMatchObject({ status: 2 });
    expect(signalbox(['approve', asked.decision.id, '--option', 'publish'], { cwd })).toMatchObject({ status: 0 });
    await until(async () => ((await runsOf(cwd))[0]?.status === 'completed' ? true : undefined));
    owner.kill('SIGINT');
    expect(await ended(owner)).toBe(130);
  });

  it('[X5] takes up the runs of one that was killed, at once', async () => {
    const cwd = newPlace();
    writeFileSync(path.join(cwd, 'waiting.tsx'), WAITING);
    const first = start(cwd, 'serve', '--port', '0', '--json');
    await until(() => (first.told().includes('\n') ? true : undefined));
    expect(signalbox(['run', 'waiting.tsx', '--detach'], { cwd })).toMatchObject({ status: 0 });
    await until(async () => ((await runsOf(cwd))[0]?.status === 'running' ? true : undefined));
    kill(first);
    await ended(first);
    writeFileSync(path.join(cwd, 'go'), '');
    const second = start(cwd, 'serve', '--port', '0', '--json');
    await until(() => (second.told().includes('\n') ? true : undefined));
    expect(JSON.parse(second.told())).toMatchObject({ takenUp: [(await runsOf(cwd))[0]?.id] });
    await until(async () => ((await runsOf(cwd))[0]?.status === 'completed' ? true : undefined));
  });

  it('[V138] keeps its token to itself, and says it once', async () => {
    const cwd = newPlace();
    const owner = start(cwd, 'serve', '--port', '0', '--json');
    const { page, url } = await until(() => (owner.told().includes('\n') ? JSON.parse(owner.told()) : undefined));
    const token = new URL(page).hash.slice('#token='.length);
    const data = dataOf(cwd);
    expect(existsSync(data) && readFileSync(path.join(data, 'token'), 'utf8')).toBe(token);
    const answers = await Promise.all(
      [{}, { authorization: 'Bearer wrong' }, { authorization: `Bearer ${token}` }].map(async headers => {
        const { status } = await fetch(`${url}/api/runs`, { headers });
        return status;
      }),
    );
    expect(answers).toEqual([401, 401, 200]);
    expect((await fetch(`${url}/api/runs?token=${token}`)).status).toBe(401);
    expect(
      (await fetch(`${url}/api/no-such-route?token=${token}`, { headers: { authorization: `Bearer ${token}` } }))
        .status,
    ).toBe(404);
    expect(signalbox(['run', example('02-hello')], { cwd }).status).toBe(0);
    owner.kill('SIGINT');
    expect(await ended(owner)).toBe(130);
    expect(owner.told().split(token).length).toBe(2);
    const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter(file => file.isFile());
    expect(files.length).toBeGreaterThan(3);
    const holding = files.filter(file => readFileSync(path.join(file.parentPath, file.name)).includes(token));
    expect(holding.map(({ name }) => name)).toEqual(['token']);
  });
});

describe('a run that waits for a person', () => {
  it('needs no process, and goes on with the answer', () => {
    const cwd = newPlace();
    const waiting = signalbox(['run', example('03-review')], { cwd });
    expect(waiting).toMatchObject({ status: 3, stdout: expect.stringContaining('signalbox decisions --run') });
    const [asked] = listed(cwd, 'decisions');
    expect(signalbox(['decisions'], { cwd }).stdout).toContain('Publish this? Signalbox is here. (version 1)');
    expect(signalbox(['approve', asked.decision.id.slice(0, 8), '--option', 'revise'], { cwd })).toMatchObject({
      status: 0,
    });
    expect(signalbox(['resume', asked.run], { cwd }).status).toBe(3);
    const [again] = listed(cwd, 'decisions');
    signalbox(['approve', again.decision.id, '--option', 'drop', '--reason', 'old news'], { cwd });
    expect(signalbox(['resume', asked.run], { cwd }).status).toBe(0);
    expect(listed(cwd, 'decisions')).toEqual([]);
    expect(JSON.parse(signalbox(['state', asked.run, '--json'], { cwd }).stdout)).toMatchObject({ verdict: 'drop' });
    expect(signalbox(['approve', again.decision.id, '--option', 'drop'], { cwd })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('was answered before by cli'),
    });
  });
});
