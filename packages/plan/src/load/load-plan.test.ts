import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadPlan } from './load-plan.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'load-'));
afterAll(() => rmSync(folder, { recursive: true }));

const pipe = path.join(folder, 'pipe.tsx');
execFileSync('mkfifo', [pipe]);
const large = path.join(folder, 'large.tsx');
writeFileSync(large, '');
truncateSync(large, 17 * 1024 * 1024);

describe('a plan', () => {
  it('[P164] whose import does not end is given up when its time is over', async () => {
    const file = path.join(folder, 'waits.mjs');
    writeFileSync(file, 'globalThis.waits(); await new Promise(() => {});');
    let over = () => {};
    Object.assign(globalThis, { waits: () => over() });
    const timers = {
      after(_ms: number, run: () => void) {
        over = run;
        return () => {};
      },
    };
    expect(await loadPlan(file, undefined, { timers, ms: 60_000 })).toMatchObject({
      ok: false,
      error: { code: 'plan/load-failed', message: expect.stringContaining('not ended after 60 s') },
    });
  });

  it.each([
    ['a folder', folder, 'is not a file'],
    ['a pipe', pipe, 'is not a file'],
    ['a device', '/dev/zero', 'is not a file'],
    ['a file that is far too large', large, 'is too large for a plan: 17825792 bytes'],
    ['no name of a file', 'a\0b', 'cannot be read (ERR_INVALID_ARG_VALUE)'],
    ['nothing', path.join(folder, 'none.tsx'), 'there is no file'],
  ])('[P163] that is %s is not read', async (_what, file, why) => {
    expect(await loadPlan(file)).toMatchObject({
      ok: false,
      error: { code: 'plan/load-failed', message: expect.stringContaining(why) },
    });
  });

  const secret = ['hunter2', 'AbC-dEf_0123456789'].join('');
  it.each([
    ['token', secret],
    ['.env', `KEY=${secret}`],
    ['config.json', `{"key": "${secret}" x}`],
    ['notes.md', secret],
  ])('[P235] that is called %s is not read', async (name, text) => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    const loaded = await loadPlan(file);
    expect(loaded).toMatchObject({ ok: false, error: { code: 'plan/not-a-plan' } });
    expect(JSON.stringify(loaded)).not.toContain('hunter2');
  });

  it('[P235] that is a link to another kind of file is not read', async () => {
    const file = path.join(folder, 'linked.tsx');
    writeFileSync(path.join(folder, 'secret'), secret);
    symlinkSync(path.join(folder, 'secret'), file);
    expect(await loadPlan(file)).toMatchObject({ ok: false, error: { code: 'plan/not-a-plan' } });
  });
});
