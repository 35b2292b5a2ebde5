import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { guidedSchemas } from '@signalbox/app/guided';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { called, dataCommands } from './data-commands.ts';
import { entry, ownEnvironment, PATIENCE_MS, signalbox, temporaryFolder } from './program.ts';

const examples = fileURLToPath(new URL('../../../examples/', import.meta.url));

/** Runs a command with no umask: whatever is made is open to all, unless it was asked not to be. */
const OPEN = ['-c', 'umask 000; exec "$@"', 'sh', process.execPath, entry] as const;

const WORKSPACE = `
import { definePlan, Task } from 'signalbox';
export default definePlan({
  name: 'in-a-workspace',
  workspace: true,
  render: () => <Task id="write" run={({ fs }) => fs.write('made.txt', 'made')} />,
});
`;

const FLOW = {
  id: 'project.note',
  name: 'Note it',
  description: 'Takes a note.',
  version: '1.0.0',
  steps: [
    { id: 'look', title: 'Look', prompt: 'Look.' },
    { id: 'note', title: 'Note', prompt: 'Note it.' },
  ],
};

interface Open {
  readonly path: string;
  readonly mode: string;
}

/** Every file that is not 0600, and every directory that is not 0700. */
function openBelow(directory: string): { readonly open: readonly Open[]; readonly seen: readonly string[] } {
  const open: Open[] = [];
  const seen: string[] = [];
  const look = (at: string) => {
    const entry = lstatSync(at);
    seen.push(path.relative(directory, at));
    const mode = entry.mode & 0o777;
    if (mode !== (entry.isDirectory() ? 0o700 : 0o600)) open.push({ path: at, mode: mode.toString(8) });
    // A layer may be ready for the next command. It is closed itself, and what is in it is as the project and the kernel have it.
    const isLayer = path.basename(path.dirname(at)) === 'layers';
    if (entry.isDirectory() && !isLayer) for (const name of readdirSync(at)) look(path.join(at, name));
  };
  look(directory);
  return { open, seen };
}

describe('a data directory without a umask', () => {
  it('[A296] is its owner’s alone, to the last file, while it is used and after', async () => {
    const cwd = temporaryFolder();
    const data = path.join(cwd, 'data');
    const env = { ...ownEnvironment(cwd), SIGNALBOX_DATA_DIR: data, SIGNALBOX_BROWSER: '/bin/true' };
    const call = (...args: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync('sh', [...OPEN, ...args], {
        cwd,
        env,
        encoding: 'utf8',
        timeout: PATIENCE_MS,
        killSignal: 'SIGKILL',
      });
      return { status, stdout, stderr };
    };
    const first = (text: string) => JSON.parse(text.split('\n')[0] ?? '');
    for (const name of ['05-fix-tests', '08-undo-an-edit']) {
      cpSync(path.join(examples, name), path.join(cwd, name), { recursive: true });
    }
    writeFileSync(path.join(cwd, 'workspace.tsx'), WORKSPACE);
    mkdirSync(path.join(cwd, '.signalbox/workflows'), { recursive: true });
    writeFileSync(path.join(cwd, '.signalbox/workflows/note.json'), JSON.stringify(FLOW));

    // There before, and open below: as a copy leaves it.
    for (const name of ['', 'blobs', 'runs', 'logs']) mkdirSync(path.join(data, name));
    writeFileSync(path.join(data, 'db.sqlite'), '');
    chmodSync(data, 0o700);
    for (const name of ['blobs', 'runs', 'logs', 'db.sqlite']) chmodSync(path.join(data, name), 0o777);

    // Plans and agents, with a decision; a workspace; what can be undone.
    expect(call('run', '05-fix-tests/plan.tsx')).toMatchObject({ status: 3, stderr: '' });
    const { run, decision } = first(call('decisions', '--json').stdout);
    expect(call('approve', decision.id).status).toBe(0);
    expect(call('resume', run).status).toBe(0);
    expect(call('run', '08-undo-an-edit/plan.tsx')).toMatchObject({ status: 0, stderr: '' });
    expect(call('run', 'workspace.tsx')).toMatchObject({ status: 0, stderr: '' });

    // A guided session.
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StdioClientTransport({ command: 'sh', args: [...OPEN, 'mcp'], cwd, env }), {
      timeout: PATIENCE_MS,
    });
    const step = async (name: string, args: Record<string, unknown>) => {
      const answer = await client.callTool({ name, arguments: args });
      return guidedSchemas.continue.answer.parse(answer.structuredContent);
    };
    const tools = (await client.listTools()).tools.map(({ name }) => name);
    const named = (part: string) => tools.find(name => name.includes(part)) ?? '';
    let at = await step(named('start'), { workflowId: FLOW.id });
    while (!at.isComplete) {
      const next = at.nextCall?.arguments as { readonly ackToken?: string };
      const output = next.ackToken === undefined ? {} : { output: { notesMarkdown: 'Done.' } };
      at = await step(named('continue'), { ...next, ...output });
    }
    await client.close();

    // Exports, imports and users.
    for (const [id, file] of [
      [run, 'run.bundle'],
      [at.sessionId, 'session.json'],
    ]) {
      expect(call('export', id, '-o', path.join(data, file)).status).toBe(0);
      expect(call('import', path.join(data, file)).status).toBe(0);
    }
    expect(call('users', 'add', 'ada').status).toBe(0);

    const server = spawn('sh', [...OPEN, 'serve', '--port', '0', '--json'], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    const closed = new Promise(resolve => server.once('close', resolve));
    onTestFinished(async () => {
      if (server.pid !== undefined && server.exitCode === null) process.kill(-server.pid, 'SIGKILL');
      await closed;
    });
    await new Promise(resolve => server.stdout.once('data', resolve));
    expect(call('run', '08-undo-an-edit/plan.tsx')).toMatchObject({ status: 0, stderr: '' });
    expect(call('desktop').status).toBe(0);
    const { open, seen } = openBelow(data);
    expect(open).toEqual([]);
    // The walk has met every kind of file that there is.
    const kinds = [
      'db.sqlite',
      'db.sqlite-wal',
      'db.sqlite-shm',
      'owner.lock',
      'owner.json',
      'token',
      'desktop',
      'run.bundle',
    ];
    expect(seen).toEqual(expect.arrayContaining([...kinds, 'session.json', `runs/${run}/manifest.jsonl`]));
    for (const folder of [
      'blobs',
      'checkpoints',
      'keys',
      'locks',
      `runs/${run}/logs`,
      'sessions',
      'snapshots',
      'undo',
      'users',
    ]) {
      expect(seen.filter(name => name.startsWith(folder)).length, folder).toBeGreaterThan(folder === 'undo' ? 0 : 1);
    }
    expect(lstatSync(`${data}-workspaces`).mode & 0o777).toBe(0o700);
  });

  it('[A775] is usable whatever the umask takes from its owner', () => {
    const cwd = temporaryFolder();
    const data = path.join(cwd, 'data');
    const env = { ...ownEnvironment(cwd), SIGNALBOX_DATA_DIR: data, XDG_CACHE_HOME: path.join(cwd, 'cache') };
    const bin = fileURLToPath(new URL('../bin/signalbox.js', import.meta.url));
    for (const [umask, start] of [
      ['777', entry],
      ['377', bin],
    ] as const) {
      const args = ['-c', `umask ${umask}; exec "$@"`, 'sh', process.execPath, start];
      const call = spawnSync('sh', [...args, 'run', path.join(examples, '02-hello/plan.tsx')], { cwd, env });
      expect({ umask, status: call.status, stderr: String(call.stderr) }).toEqual({ umask, status: 0, stderr: '' });
      expect(openBelow(data).open).toEqual([]);
    }
    for (const folder of ['cache', 'cache/signalbox', 'cache/signalbox/code'])
      expect([folder, lstatSync(path.join(cwd, folder)).mode & 0o777]).toEqual([folder, 0o700]);
  });

  it('[A295] that is open to others is refused by every command, with the one that closes it', async () => {
    const cwd = temporaryFolder();
    const data = path.join(cwd, "da'ta");
    mkdirSync(data);
    writeFileSync(path.join(data, 'token'), '');
    chmodSync(data, 0o755);
    for (const { args } of await dataCommands(samplesIn(cwd))) {
      const { code, said } = await called([...args, '--data-dir', data]);
      expect({ args, code }).toEqual({ args, code: 4 });
      expect(said, args.join(' ')).toContain(
        args.includes('--json') ? '"code":"store/not-private"' : 'is open to other',
      );
    }
    expect(readdirSync(data)).toEqual(['token']);
    const { stderr } = signalbox(['ls', '--data-dir', data], { cwd });
    const [, command = ''] = /Close it: (.*)/.exec(stderr) ?? [];
    expect(spawnSync('sh', ['-c', command], { cwd }).status).toBe(0);
    expect(signalbox(['ls', '--data-dir', data], { cwd })).toMatchObject({ status: 0, stderr: '' });
  });

  it('[A297] that is a file, or lies below one, is refused by every command with that cause', async () => {
    const cwd = temporaryFolder();
    const file = path.join(cwd, 'file');
    writeFileSync(file, 'mine', { mode: 0o600 });
    for (const { args } of await dataCommands(samplesIn(cwd))) {
      for (const data of [file, path.join(file, 'data')]) {
        const { code, said } = await called([...args, '--data-dir', data]);
        expect({ args, code }).toEqual({ args, code: 1 });
        expect(said, args.join(' ')).toContain(`${file} is a file, not a directory.`);
      }
    }
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });
});

/** Files that commands take as arguments. */
function samplesIn(folder: string): Readonly<Record<string, string>> {
  vi.stubEnv('SIGNALBOX_BROWSER', '/bin/true');
  onTestFinished(() => void vi.unstubAllEnvs());
  writeFileSync(path.join(folder, 'some.bundle'), 'no bundle');
  return { plan: path.join(examples, '02-hello/plan.tsx'), file: path.join(folder, 'some.bundle') };
}
