import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
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
  it('[P164] whose import does not end is given up once it has waited long enough, whatever the clock says', async () => {
    const file = path.join(folder, 'waits.mjs');
    writeFileSync(file, 'globalThis.waits(); await new Promise(() => {});');
    let waitedMs = 5000;
    const set: number[] = [];
    let over = () => {};
    Object.assign(globalThis, {
      waits() {
        waitedMs += 20_000;
        over();
        waitedMs += 40_000;
        over();
      },
    });
    const timers = {
      after(ms: number, run: () => void) {
        set.push(ms);
        over = run;
        return () => {};
      },
    };
    expect(await loadPlan(file, { limit: { timers, ms: 60_000, waitedMs: () => waitedMs } })).toMatchObject({
      ok: false,
      error: { code: 'plan/load-failed', message: expect.stringContaining('not ended after waiting for 60 s') },
    });
    expect(set).toEqual([60_000, 40_000]);
  });

  it('[P270] that was checked is not read through a link that came later', async () => {
    const [real, other] = [path.join(folder, 'real'), path.join(folder, 'other')];
    for (const at of [real, other]) mkdirSync(at);
    const file = path.join(real, 'plan.mjs');
    writeFileSync(path.join(other, 'plan.mjs'), 'globalThis.ranOther = true; export default 1;');
    writeFileSync(file, 'export default 1;');
    expect(await loadPlan(file, { isPlace: true })).toMatchObject({ error: { code: 'plan/not-a-plan' } });
    const refused = { ok: false, error: { code: 'plan/load-failed', message: expect.stringContaining('replaced') } };
    rmSync(file);
    symlinkSync(path.join(other, 'plan.mjs'), file);
    expect(await loadPlan(file, { isPlace: true })).toMatchObject(refused);
    rmSync(real, { recursive: true });
    symlinkSync(other, real);
    expect(await loadPlan(file, { isPlace: true })).toMatchObject(refused);
    expect(globalThis).not.toHaveProperty('ranOther');
    expect(await loadPlan(file)).toMatchObject({ error: { code: 'plan/not-a-plan' } });
    expect(globalThis).toHaveProperty('ranOther', true);
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
