import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createTestRunner,
  createTestState,
  must,
  openTestFilesystem,
  temporaryDirectory,
  treeOf,
} from '../../../test/builders.ts';
import { detectSandbox } from '../../sandbox/detect-sandbox.ts';
import type { ToolOutcome } from '../tool-outcome.ts';
import { editFile, readFile, writeFile } from './file-tools.ts';
import { createRunCommand } from './run-command.ts';
import { globFiles, grepFiles, listFiles } from './search-tools.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let root: string;
beforeEach(() => {
  directory = temporaryDirectory();
  root = `${directory.path}/root`;
  fs.mkdirSync(`${root}/data`, { recursive: true });
  fs.writeFileSync(`${root}/data/token`, 'secret');
  fs.writeFileSync(`${directory.path}/outside`, 'secret');
  fs.symlinkSync('../outside', `${root}/link`);
});
afterEach(() => directory.remove());

let calls = 0;
async function run(name: string, input: unknown, signal?: AbortSignal): Promise<ToolOutcome> {
  const files = openTestFilesystem(root, { dataDirectory: `${root}/data` });
  const tools = [
    readFile,
    writeFile,
    editFile,
    listFiles,
    globFiles,
    grepFiles,
    createRunCommand({ unconfined: true }),
  ];
  const runner = createTestRunner(createTestState({ files }).state, { tools });
  return must(await runner.execute({ id: `${++calls}`, name, input }, signal === undefined ? {} : { signal }));
}
const answerOf = (outcome: ToolOutcome) => {
  if (outcome.status !== 'succeeded') throw new Error(outcome.error.message);
  return outcome.value;
};

describe('file tools', () => {
  it('[S56] read answers lines, from where it is told, and says when there are more', async () => {
    fs.writeFileSync(`${root}/a`, 'one\ntwo\nthree');
    expect(answerOf(await run('read_file', { path: 'a' }))).toEqual({
      text: 'one\ntwo\nthree',
      lines: 3,
      truncated: false,
    });
    expect(answerOf(await run('read_file', { path: 'a', offset: 1, limit: 1 }))).toEqual({
      text: 'two',
      lines: 3,
      truncated: true,
    });
    fs.writeFileSync(`${root}/long`, 'x'.repeat(5000));
    expect(answerOf(await run('read_file', { path: 'long' }))).toEqual({
      text: `${'x'.repeat(2000)}…`,
      lines: 1,
      truncated: true,
    });
    fs.truncateSync(`${root}/long`, 33 << 20);
    expect(await run('read_file', { path: 'long' })).toMatchObject({
      error: { message: expect.stringContaining('34603008 bytes') },
    });
    fs.writeFileSync(`${root}/binary`, Buffer.from([0xff, 0]));
    expect(await run('read_file', { path: 'binary' })).toMatchObject({
      error: { message: expect.stringContaining('not UTF-8') },
    });
  });

  it('[S56] write makes and replaces files and leaves others alone', async () => {
    expect(answerOf(await run('write_file', { path: 'new/a', content: 'é' }))).toEqual({ bytes: 2 });
    expect(fs.readFileSync(`${root}/new/a`, 'utf8')).toBe('é');
  });

  it.each([
    ['read_file', {}],
    ['write_file', { content: 'x' }],
    ['edit_file', { find: 'secret', replaceWith: 'x' }],
  ])('[S56] %s refuses what is outside and the data directory', async (name, input) => {
    const before = treeOf(directory.path);
    for (const path of ['../outside', 'link', 'data/token', `${directory.path}/outside`]) {
      expect(await run(name, { path, ...input })).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining('refused') },
      });
    }
    expect(treeOf(directory.path)).toEqual(before);
  });

  it.each(['list_files', 'glob', 'grep'])('[S56] %s finds nothing outside nor in the data directory', async name => {
    const input = name === 'glob' ? { pattern: '**/*' } : name === 'grep' ? { text: 'secret' } : {};
    for (const path of ['..', 'data', 'link']) {
      const outcome = await run(name, { path, ...input });
      expect(JSON.stringify(outcome)).not.toMatch(/token|"outside"|"text":"secret"/);
    }
  });

  it('[S57] edit replaces a text that occurs exactly once', async () => {
    fs.writeFileSync(`${root}/a`, 'one\ntwo $& two\nthree', { mode: 0o755 });
    expect(answerOf(await run('edit_file', { path: 'a', find: 'three', replaceWith: "$& $1 $'" }))).toEqual({
      line: 3,
    });
    expect(fs.readFileSync(`${root}/a`, 'utf8')).toBe("one\ntwo $& two\n$& $1 $'");
    expect(fs.statSync(`${root}/a`).mode & 0o777).toBe(0o755);
  });

  it.each([
    ['two', 2],
    ['nothing', 0],
    ['aa', 2],
  ])('[S57] edit refuses %j and says that it occurs %i times', async (find, found) => {
    fs.writeFileSync(`${root}/a`, 'two two aaa');
    expect(await run('edit_file', { path: 'a', find, replaceWith: 'x' })).toMatchObject({
      status: 'failed',
      value: { found },
    });
    expect(fs.readFileSync(`${root}/a`, 'utf8')).toBe('two two aaa');
  });

  it('[S56] list, glob and grep find what is there, in order', async () => {
    fs.mkdirSync(`${root}/src/deep`, { recursive: true });
    fs.mkdirSync(`${root}/node_modules`);
    fs.writeFileSync(`${root}/node_modules/x.ts`, 'Needle');
    fs.writeFileSync(`${root}/src/a.ts`, 'hay\nNeedle');
    fs.writeFileSync(`${root}/src/deep/b.ts`, 'needle');
    fs.writeFileSync(`${root}/src/deep/b.md`, 'needle');
    expect(answerOf(await run('list_files', { path: 'src' }))).toEqual({
      entries: [
        { name: 'a.ts', kind: 'file', size: 10 },
        { name: 'deep', kind: 'directory', size: 0 },
      ],
      truncated: false,
    });
    expect(answerOf(await run('glob', { pattern: '**/*.ts' }))).toEqual({
      paths: ['src/a.ts', 'src/deep/b.ts'],
      truncated: false,
    });
    expect(answerOf(await run('glob', { path: 'src', pattern: './*.{ts,md}' }))).toEqual({
      paths: ['a.ts'],
      truncated: false,
    });
    expect(answerOf(await run('grep', { text: 'needle', ignoreCase: true, files: '**/*.ts' }))).toEqual({
      matches: [
        { path: 'src/a.ts', line: 2, text: 'Needle' },
        { path: 'src/deep/b.ts', line: 1, text: 'needle' },
      ],
      truncated: false,
    });
  });

  it('[S56] what they return is capped, and says so', async () => {
    fs.mkdirSync(`${root}/many`);
    for (let index = 0; index < 1001; index++) fs.writeFileSync(`${root}/many/${index}`, 'needle');
    const capped = async (name: string, input: object, field: string) => {
      const value = answerOf(await run(name, { path: 'many', ...input })) as Record<string, unknown[]> & {
        truncated: boolean;
      };
      return [value[field]?.length, value.truncated];
    };
    expect(await capped('list_files', {}, 'entries')).toEqual([1000, true]);
    expect(await capped('glob', { pattern: '*' }, 'paths')).toEqual([500, true]);
    expect(await capped('grep', { text: 'needle' }, 'matches')).toEqual([500, true]);
  });
});

describe('run command, unconfined', () => {
  it('[S58] runs in the root, keeps what it did if it exits with 0, and undoes it otherwise', async () => {
    expect(
      answerOf(await run('run_command', { command: ['sh', '-c', 'pwd; echo made > made; echo seen >&2'] })),
    ).toEqual({
      exitCode: 0,
      output: `${fs.realpathSync(root)}\nseen\n`,
      truncated: false,
    });
    const before = treeOf(root);
    const outcome = await run('run_command', { command: ['sh', '-c', 'rm made; mkdir -p x/y; echo no; exit 3'] });
    expect(outcome).toMatchObject({
      status: 'failed',
      value: { exitCode: 3, output: 'no\n' },
      rollback: { kind: 'restored' },
    });
    expect(treeOf(root)).toEqual(before);
  });

  it('[S58] keeps only the first of a long output', async () => {
    const value = answerOf(
      await run('run_command', { command: ['sh', '-c', 'head -c 200000 /dev/zero | tr "\\0" x'] }),
    );
    expect(value).toEqual({ exitCode: 0, output: 'x'.repeat(65536), truncated: true });
  });

  it('[S58] is stopped by its timeout, with everything in its group, and undone', async () => {
    const before = treeOf(root);
    const outcome = await run('run_command', {
      command: ['sh', '-c', 'echo x > made; sleep 600 & sleep 600'],
      timeoutMs: 100,
    });
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('longer than 100 ms') },
    });
    expect(treeOf(root)).toEqual(before);
  });

  it('[S58] is stopped by cancellation', async () => {
    const aborter = new AbortController();
    fs.mkdirSync(`${root}/watched`);
    const watcher = fs.watch(`${root}/watched`, () => aborter.abort());
    const outcome = await run(
      'run_command',
      { command: ['sh', '-c', 'echo x > watched/made; sleep 600'] },
      aborter.signal,
    );
    watcher.close();
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'tool/canceled' },
      rollback: { kind: 'restored' },
    });
    expect(fs.readdirSync(`${root}/watched`)).toEqual([]);
  });

  it('[S58] a process that it leaves in the background does not outlive it', async () => {
    const script = 'while :; do echo x >> made; done & echo $!';
    const value = answerOf(await run('run_command', { command: ['sh', '-c', script] })) as { output: string };
    // A process that was killed but not reaped yet is a zombie.
    const stat = `/proc/${value.output.trim()}/stat`;
    expect(fs.existsSync(stat) ? fs.readFileSync(stat, 'utf8').split(') ')[1]?.[0] : 'Z').toBe('Z');
  });

  it('[S58] a program that is not there is a failure', async () => {
    expect(await run('run_command', { command: ['no-such-program'] })).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('ENOENT') },
    });
  });

  it.each([
    ['a null character in an argument', { command: ['echo', 'a\0b'] }],
    ['a null character in a variable', { command: ['echo'], env: { A: 'x\0--bind\0/\0/' } }],
    ['a variable whose name holds a value', { command: ['echo'], env: { 'A=B': 'x' } }],
    ['no program', { command: [] }],
  ])('[S37] refuses %s', async (_, input) => {
    expect(await run('run_command', input)).toMatchObject({ status: 'failed', error: { code: 'tool/invalid-input' } });
  });

  it('[S59] has to be asked for, has a high risk, and says that what it did elsewhere was not undone', async () => {
    const tool = createRunCommand({ unconfined: true });
    expect([tool.risk, tool.effects]).toEqual(['high', { kind: 'files', beyond: true }]);
    expect(await run('run_command', { command: ['false'] })).toMatchObject({
      error: { suggestion: expect.stringContaining('its effects elsewhere were not') },
    });
  });

  it('[S64] sees none of our variables but the harmless ones, and those that the call names', async () => {
    process.env.SIGNALBOX_TEST_KEY = 'secret';
    const value = answerOf(await run('run_command', { command: ['env'], env: { OWN: 'x' } })) as { output: string };
    delete process.env.SIGNALBOX_TEST_KEY;
    const names = value.output
      .trim()
      .split('\n')
      .map(line => line.split('=')[0]);
    expect(names.sort()).toEqual(['HOME', 'LANG', 'OWN', 'PATH', 'TERM', 'TMPDIR']);
  });
});

describe('run command without a sandbox', () => {
  it('[S59] is refused with what to install, before anything is captured or run', async () => {
    const nowhere = await detectSandbox([`${directory.path}/no-programs`]);
    const tool = createRunCommand({ sandbox: async () => nowhere });
    expect([tool.risk, tool.effects]).toEqual(['medium', { kind: 'files', onLayer: true }]);
    const files = openTestFilesystem(root, { dataDirectory: `${root}/data` });
    const runner = createTestRunner(createTestState({ files }).state, { tools: [tool] });
    const outcome = must(
      await runner.execute({ id: '1', name: 'run_command', input: { command: ['sh', '-c', 'echo x > made'] } }),
    );
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'tool/sandbox-missing', suggestion: expect.stringMatching(/Nothing was run\. \S+/) },
      rollback: { kind: 'nothing-to-undo' },
    });
    expect(fs.existsSync(`${root}/made`)).toBe(false);
  });

  it('[S59] is looked for once, when the first call comes', async () => {
    let asked = 0;
    const tool = createRunCommand({
      sandbox: () => {
        asked++;
        return detectSandbox([]);
      },
    });
    expect(asked).toBe(0);
    const files = openTestFilesystem(root, { dataDirectory: `${root}/data` });
    const runner = createTestRunner(createTestState({ files }).state, { tools: [tool] });
    for (const id of ['1', '2']) await runner.execute({ id, name: 'run_command', input: { command: ['true'] } });
    expect(asked).toBe(1);
  });
});
