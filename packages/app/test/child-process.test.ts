import { describe, expect, it } from 'vitest';
import { startChild } from '../src/child/child-process.ts';
import { childProgram, temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();

describe('[A11] a child process', () => {
  it('is gone when it has been killed', async () => {
    const child = startChild(childProgram, 'hold-lock', `${folder}/killed`);
    expect(await child.firstLine).toBe('held');
    expect(await child.kill()).toEqual({ kind: 'killed', signal: 'SIGKILL' });
  });

  it('is killed with its own children', async () => {
    const script = `
      require('node:child_process').spawn(process.execPath, ['--eval', 'setInterval(() => {}, 60000)'], { stdio: 'inherit' });
      console.log('both');
      setInterval(() => {}, 60000);`;
    const child = startChild([process.execPath, '--eval', script, '--'], 'role');
    expect(await child.firstLine).toBe('both');
    // Its output closes when the last process that has it is gone, and only then has it ended.
    expect(await child.kill()).toEqual({ kind: 'killed', signal: 'SIGKILL' });
  });

  it('that ends without a word says how', async () => {
    const child = startChild(childProgram, 'no-such-role');
    expect(await Promise.all([child.firstLine, child.ended])).toEqual([undefined, { kind: 'exited', code: 2 }]);
    expect(await child.kill()).toEqual({ kind: 'exited', code: 2 });
  });

  it('that cannot be started says so', async () => {
    const child = startChild([`${folder}/no-such-program`], 'hold-lock');
    expect(await child.firstLine).toBeUndefined();
    expect(await child.ended).toMatchObject({ kind: 'not_started' });
    expect(await child.kill()).toMatchObject({ kind: 'not_started' });
  });
});
