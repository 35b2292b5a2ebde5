import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { guidedSchemas } from '@signalbox/app/guided';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { hasReadOnlyDisks, readOnlyDisk } from '../../app/test/support/small-disk.ts';
import { entry, ownEnvironment, PATIENCE_MS, signalbox, temporaryFolder } from './program.ts';

const examples = fileURLToPath(new URL('../../../examples/', import.meta.url));
const CHILD = childScript(import.meta.dirname, 'data-commands-child.ts');
const NOBODY = 65534;

/** Commits a run, then kills the process that owns the directory. */
const KILLING = `
import { execFileSync } from 'node:child_process';
import { definePlan, Phase, Step, Task } from 'signalbox';
export default definePlan({
  name: 'killing',
  render: () => (
    <Phase name="all">
      <Step><Task id="first" run={() => 'done'} /></Step>
      <Step><Task id="kill" run={() => execFileSync('kill', ['-9', String(process.pid)])} /></Step>
    </Phase>
  ),
});
`;

/** Commands that do what they are for without writing to the data directory. `link` and `answer` find nothing to do here. */
const READERS: ReadonlySet<string> = new Set([
  ...[
    'ls',
    'show',
    'why',
    'state',
    'frames',
    'transitions',
    'events',
    'usage',
    'logs',
    'artifacts',
    'artifact',
    'limits ls',
    'diff',
  ],
  ...['decisions', 'checkpoints', 'export', 'replay', 'verify', 'backup', 'recoveries', 'users ls', 'sandbox'],
  ...['sessions', 'keys ls', 'workflow config', 'link', 'answer', 'agents'],
  ...['fleet', 'brake', 'mode', 'trust'],
  ...['find', 'compare', 'notify'],
]);

/** Those whose answers depend on when, where or by whom they are called: that they succeed is all that stays the same. */
const VARYING: ReadonlySet<string> = new Set(['export', 'backup', 'sandbox', 'workflow config']);

interface Answer {
  readonly code: number;
  readonly said: string;
}

/** A data directory, and arguments for commands on it. */
interface Used {
  readonly cwd: string;
  readonly data: string;
  readonly samples: Readonly<Record<string, string>>;
  /** More command lines that only look. */
  readonly more: readonly (readonly string[])[];
}

/** A data directory with runs, a decision that waits, checkpoints, a user and a guided session. */
async function usedDirectory(): Promise<Used> {
  const cwd = temporaryFolder();
  const data = path.join(cwd, 'data');
  const call = (...args: readonly string[]) => signalbox([...args, '--data-dir', data], { cwd });
  const first = (...args: readonly string[]) => JSON.parse(call(...args, '--json').stdout.split('\n')[0] ?? '');
  for (const name of ['05-fix-tests', '08-undo-an-edit']) {
    cpSync(path.join(examples, name), path.join(cwd, name), { recursive: true });
  }
  expect(call('run', '05-fix-tests/plan.tsx')).toMatchObject({ status: 3, stderr: '' });
  expect(call('run', '08-undo-an-edit/plan.tsx')).toMatchObject({ status: 0, stderr: '' });
  expect(call('users', 'add', 'ada').status).toBe(0);
  const client = new Client({ name: 'test', version: '1' });
  const env = ownEnvironment(cwd);
  const args = [entry, 'mcp', '--data-dir', data];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env }), {
    timeout: PATIENCE_MS,
  });
  const begun = await client.callTool({ name: 'start_workflow', arguments: { workflowId: 'wr.bug-investigation' } });
  const { sessionId } = guidedSchemas.start.answer.parse(begun.structuredContent);
  await client.close();
  const run = first('ls', '--status', 'waiting').id;
  const { id: decision } = first('decisions').decision;
  const { id: artifact } = first('artifacts', run, '--turns');
  writeFileSync(path.join(cwd, 'some.bundle'), 'no bundle');
  const plan = path.join(examples, '02-hello/plan.tsx');
  const file = path.join(cwd, 'some.bundle');
  const more = [
    ...[
      ['decisions', decision],
      ['artifacts', run, '--turns'],
      ['artifact', artifact],
    ],
    ...[
      ['show', sessionId],
      ['export', sessionId],
      ['replay', run, '--verify'],
      ['verify', sessionId],
    ],
  ];
  return { cwd, data, samples: { plan, file, run, id: run, dir: run, decision, session: sessionId }, more };
}

/** Calls every command on some directories, in one process that `start` may put somewhere. */
function answers(
  { cwd, samples, more }: Used,
  directories: readonly string[],
  { target, only, start = program => program, ...who }: Calling,
): ReadonlyMap<string, readonly Answer[]> {
  const given = JSON.stringify({ samples: { ...samples, target: path.join(target, 'copy') }, more, only });
  mkdirSync(target);
  chmodSync(target, 0o777);
  const [program = '', ...args] = start([process.execPath, CHILD, given, ...directories]);
  const { stdout, stderr } = spawnSync(program, args, {
    cwd: target,
    // Only root may read code that root compiled.
    env: { ...ownEnvironment(cwd), TMPDIR: target, NODE_COMPILE_CACHE: '', HOME: cwd, SIGNALBOX_BROWSER: '/bin/true' },
    encoding: 'utf8',
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 100_000_000,
    ...who,
  });
  expect(stderr).toBe('');
  const lines = stdout.trimEnd().split('\n');
  return new Map(lines.map(line => JSON.parse(line)).map(({ name, answers: all }) => [name, all]));
}

/** The part of an answer that is the same for every call; the keys of JSON lines are sorted. */
function lasting(name: string, answer: Answer | undefined): unknown {
  if (answer === undefined || VARYING.has(name)) return answer?.code;
  const said = answer.said.replaceAll(/\(\d+ \w+ ago\)|(?<="exportedAt":")[^"]*/g, '');
  const lines = said.split('\n').map(line => {
    try {
      return JSON.parse(line);
    } catch {
      return line;
    }
  });
  return { code: answer.code, lines };
}

interface Calling {
  /** Where commands may write. */
  readonly target: string;
  readonly only?: readonly string[];
  readonly start?: (program: readonly string[]) => readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

const closed: string[] = [];

afterAll(() => {
  for (const directory of closed) spawnSync('chmod', ['-R', 'u+w', directory]);
});

/** As an ordinary user, who has no right to write. */
const ORDINARY = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

function closeToWriters(directory: string): void {
  closed.push(directory);
  const owner = ORDINARY.uid === undefined ? [] : [['chown', '-R', `${NOBODY}:${NOBODY}`, directory]];
  for (const [program = '', ...args] of [...owner, ['chmod', '-R', 'a-w', directory]]) {
    expect(spawnSync(program, args).status).toBe(0);
  }
}

describe('a data directory that may not be written', () => {
  let used: Used;
  let before: ReadonlyMap<string, readonly Answer[]>;

  beforeAll(async () => {
    used = await usedDirectory();
    chmodSync(used.cwd, 0o755);
    before = answers(used, [used.data], { target: path.join(used.cwd, 'before'), only: [...READERS] });
    // As the last owner leaves it. Readers leave an empty log and its shared memory, which a later one could use.
    expect(statSync(`${used.data}/db.sqlite-wal`).size).toBe(0);
    for (const name of ['wal', 'shm']) rmSync(`${used.data}/db.sqlite-${name}`);
    closeToWriters(used.data);
  }, PATIENCE_MS);

  const expectOnlyReading = (after: ReadonlyMap<string, readonly Answer[]>) => {
    const { data } = used;
    expect(after.size).toBeGreaterThan(50);
    const writers = [...after].filter(([name]) => !before.has(name));
    expect(writers).toEqual(
      writers.map(([name]) => [
        name,
        [
          { code: 1, said: expect.stringContaining(`The data directory ${data} is read-only.`) },
          {
            code: 1,
            said: expect.stringContaining(`The data directory ${data}/new cannot be created: ${data} is read-only.`),
          },
        ],
      ]),
    );
    const readers = [...after].filter(([name]) => before.has(name));
    expect(readers.map(([name, all]) => [name, lasting(name, all[0])])).toEqual(
      [...before].map(([name, all]) => [name, lasting(name, all[0])]),
    );
    expect(readers.filter(([, [, below]]) => /EACCES|EROFS/.test(below?.said ?? ''))).toEqual([]);
    // Nothing that a later look could use was left there.
    expect(readdirSync(data).filter(name => /-wal|-shm|journal/.test(name))).toEqual([]);
  };

  it('[A298] by its mode is read by every command that only looks, and refused in one sentence by the others', () => {
    const target = path.join(used.cwd, 'by-mode');
    expectOnlyReading(answers(used, [used.data, `${used.data}/new`], { target, ...ORDINARY }));
  });

  it.skipIf(!hasReadOnlyDisks)('[A298] by its disk is read and refused by the same commands', () => {
    const target = path.join(used.cwd, 'by-disk');
    const start = (program: readonly string[]) => readOnlyDisk(used.data, program);
    expectOnlyReading(answers(used, [used.data, `${used.data}/new`], { target, start }));
  });
});

describe('a data directory that may not be written, of a process that was killed', () => {
  it('[A298] [D350] is read with all that was committed, unless the shared memory of its log is missing', () => {
    const cwd = temporaryFolder();
    const data = path.join(cwd, 'data');
    chmodSync(cwd, 0o755);
    writeFileSync(path.join(cwd, 'plan.tsx'), KILLING);
    expect(signalbox(['run', 'plan.tsx', '--data-dir', data], { cwd }).status).toBe(null);
    expect(statSync(`${data}/db.sqlite-wal`).size).toBeGreaterThan(0);
    closeToWriters(data);
    const list = [process.execPath, entry, 'ls', '--json', '--data-dir', data];
    const by = (place: readonly string[], who = {}) => {
      const [program = '', ...args] = place;
      const env = { ...ownEnvironment(cwd), NODE_COMPILE_CACHE: '' };
      const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: 'utf8', ...who });
      return { status, stdout, stderr };
    };
    const read = { status: 0, stdout: expect.stringMatching(/^\{.*"name":"killing".*\}\n$/), stderr: '' };
    expect(by(list, ORDINARY)).toEqual(read);
    if (hasReadOnlyDisks) expect(by(readOnlyDisk(data, list))).toEqual(read);

    chmodSync(data, 0o700);
    rmSync(`${data}/db.sqlite-shm`);
    chmodSync(data, 0o500);
    const refused = {
      status: 1,
      stdout: expect.stringMatching(/"message":"The data directory .* is read-only, and its last process was killed: /),
      stderr: '',
    };
    expect(by(list, ORDINARY)).toEqual(refused);
    if (hasReadOnlyDisks) expect(by(readOnlyDisk(data, list))).toEqual(refused);
    expect(existsSync(`${data}/db.sqlite-shm`)).toBe(false);
  });
});
