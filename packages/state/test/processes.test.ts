import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { childScript } from '../../../test/child-script.ts';
import { defineTool, fail, nodeHostFiles } from '../src/index.ts';
import { createTestRunner, createTestState, must, openTestFilesystem, temporaryDirectory, treeOf } from './builders.ts';
import { createSqliteLocks } from './sqlite-locks.ts';

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
  fs.mkdirSync(`${directory.path}/root/inner`, { recursive: true });
});
afterEach(() => directory.remove());

describe('several processes', () => {
  it('[S32] [S46] calls of several processes on one directory never undo each other', async () => {
    const root = `${directory.path}/root`;
    fs.writeFileSync(`${root}/counter`, '0');
    const script = childScript(import.meta.dirname, 'lock-child.ts');
    const children = [1, 2, 3].map(() =>
      spawn('node', [script, root, `${directory.path}/locks`, '12'], { stdio: 'inherit' }),
    );
    const codes = await Promise.all(children.map(async child => (await once(child, 'exit'))[0]));
    expect(codes).toEqual([0, 0, 0]);
    expect(fs.readFileSync(`${root}/counter`, 'utf8')).toBe(String(3 * 8));
  });

  it('[S32] a lock of a process that was killed is free, and a nested root waits for the one around it', async () => {
    const locks = `${directory.path}/locks`;
    const holder = spawn('node', ['--input-type=module', '-e', holding(locks, `${directory.path}/root`)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    let got = false;
    const waiting = createSqliteLocks(locks)
      .acquire(`${directory.path}/root/inner`, 'exclusive')
      .then(release => {
        got = true;
        return release;
      });
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(got).toBe(false);
    holder.kill('SIGKILL');
    must(await waiting)();
    expect(got).toBe(true);
  });

  it('[S24] a child that its call left behind and that writes during the restore is not overwritten: what it wrote stays and is named', async () => {
    const root = `${directory.path}/root`;
    const [go, done] = [`${directory.path}/go`, `${directory.path}/done`];
    fs.writeFileSync(`${root}/a`, 'before');
    // The child writes once the restore has looked at everything and stages the first file.
    const create: typeof nodeHostFiles.create = (file, mode) => {
      if (!file.endsWith('-new/1')) return nodeHostFiles.create(file, mode);
      fs.writeFileSync(go, '');
      while (!fs.existsSync(done));
      return nodeHostFiles.create(file, mode);
    };
    const files = openTestFilesystem(root, { files: { ...nodeHostFiles, create } });
    const leaving = defineTool({
      name: 'leaving',
      description: 'leaves a child behind',
      input: z.null(),
      output: z.null(),
      risk: 'low',
      effects: { kind: 'files' },
      handler() {
        const script = `while [ ! -e ${go} ]; do :; done; echo child > a; echo > ${done}`;
        spawn('sh', ['-c', script], { cwd: root, detached: true, stdio: 'ignore' }).unref();
        fs.writeFileSync(`${root}/a`, 'by the call');
        fs.writeFileSync(`${root}/b`, 'by the call');
        return fail('as told');
      },
    });
    const runner = createTestRunner(createTestState({ files }).state, { tools: [leaving] });
    expect(must(await runner.execute({ id: '1', name: 'leaving', input: null }))).toMatchObject({
      status: 'failed',
      rollback: { kind: 'restored', left: ['a'], kept: { paths: ['b'] } },
    });
    expect(treeOf(root)).toEqual({
      './a': 'file 644 child\n',
      './inner': 'directory 755',
    });
  });
});

function holding(locks: string, root: string): string {
  const module = path.join(import.meta.dirname, 'sqlite-locks.ts');
  return `import { createSqliteLocks } from ${JSON.stringify(module)};
    await createSqliteLocks(${JSON.stringify(locks)}).acquire(${JSON.stringify(root)}, 'exclusive');
    process.stdout.write('held');
    setInterval(() => {}, 1000);`;
}
