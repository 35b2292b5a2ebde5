import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { hostDisk } from '@signalbox/journal';
import type { RunId } from '@signalbox/model';
import { openStore } from '@signalbox/store';
import { describe, expect, it } from 'vitest';
import { checkDeep } from '../../app/src/doctor/deep-checks.ts';
import { deriveJournal } from '../../app/src/run-journal/derive-journal.ts';
import { logOf, resealed, writeLog } from '../../store/test/support/forged-logs.ts';
import { variedRun } from '../../store/test/support/varied-runs.ts';
import { main } from '../src/main.ts';
import { memoryTerminal } from './memory-terminal.ts';
import { temporaryFolder } from './program.ts';

async function dataWithRun(): Promise<{ readonly data: string; readonly run: RunId }> {
  const data = path.join(temporaryFolder(), 'data');
  hostDisk.makeDirectory(data);
  const store = openStore({ path: path.join(data, 'db.sqlite') });
  if (!store.ok) throw new Error(store.error.message);
  const run = await variedRun(store.value, 2);
  for (const { id } of (await store.value.runs()).items) await deriveJournal(data, store.value, id);
  store.value.close();
  return { data, run };
}

async function signalbox(data: string, ...args: readonly string[]) {
  const terminal = memoryTerminal();
  const code = await main([...args, '--data-dir', data], terminal);
  return { code, out: terminal.printed.join('\n'), errors: terminal.complaints.join('\n') };
}

function changed(data: string, sql: string): void {
  const database = new DatabaseSync(path.join(data, 'db.sqlite'));
  database.exec(`pragma foreign_keys = off; ${sql}`);
  database.close();
}

describe('a data directory that is damaged', () => {
  it.each([
    ['a run', `update runs set status = 'dancing'`, ['ls', 'show']],
    ['a number', 'update runs set frames = 4611686018427387904', ['ls', 'show']],
    ['a record', `update records set body = '{}'`, ['events']],
    ['a frame', `update frames set frame = '{}'`, ['frames']],
    ['a value', 'update intervals set value = 1.5 where kind = 0', ['state']],
  ])('[A336] is reported as an error, without a stack: %s', async (_name, sql, commands) => {
    const { data, run } = await dataWithRun();
    changed(data, sql);
    for (const command of commands) {
      const { code, out, errors } = await signalbox(data, command, ...(command === 'ls' ? [] : [run]), '--json');
      expect({ command, code }).toEqual({ command, code: 1 });
      expect(JSON.parse(out)).toMatchObject({ code: 'store/damaged' });
      expect(out + errors).not.toMatch(/ {4}at |acknowledged/);
    }
  });

  it('[A337] [A1236] [X13] is found by doctor --deep, put right by repair, and told at start while its journals know more', async () => {
    const { data, run } = await dataWithRun();
    expect(deepOf(await checkDeep(data))).toEqual({
      database: 'ok',
      runs: 'ok',
      projects: 'ok',
      'run journals': 'ok',
      journals: 'ok',
      blobs: 'ok',
      sessions: 'ok',
    });

    changed(data, `update tasks set status = 'pending'`);
    expect(deepOf(await checkDeep(data))).toMatchObject({ runs: 'fail' });
    expect(await signalbox(data, 'repair', '--dry-run')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`rebuilt   ${run}`),
    });
    expect(await signalbox(data, 'repair')).toMatchObject({
      code: 0,
      out: expect.stringContaining('match their logs'),
    });
    expect(deepOf(await checkDeep(data))).toMatchObject({ runs: 'ok' });

    for (const suffix of ['', '-wal', '-shm']) rmSync(path.join(data, `db.sqlite${suffix}`), { force: true });
    expect((await signalbox(data, 'ls')).errors).toContain('signalbox repair');
    expect((await signalbox(data, 'ls')).out).not.toContain('No runs yet');
    for (const args of [['ls'], ['decisions'], ['find', 'anything']])
      expect(await signalbox(data, ...args)).toMatchObject({
        code: 0,
        errors: expect.stringMatching(/database is lost.*signalbox repair/),
      });
    for (const command of ['artifacts', 'show', 'verify', 'events', 'frames', 'state', 'why', 'export', 'replay']) {
      const { code, out, errors } = await signalbox(data, command, run);
      expect([command, code, out + errors]).toEqual([command, 1, expect.stringContaining('The database is lost')]);
      expect([command, out + errors]).toEqual([command, expect.stringContaining('signalbox repair')]);
    }
    const backup = path.join(temporaryFolder(), 'backup');
    expect(await signalbox(data, 'backup', backup)).toMatchObject({ errors: expect.stringContaining('is lost') });
    expect(existsSync(backup)).toBe(false);
    expect((await signalbox(data, 'gc')).errors).toContain('signalbox repair');
    expect((await signalbox(data, 'doctor', '--deep', '--json')).out).toContain('"name":"journals","status":"fail"');
    expect(await signalbox(data, 'repair')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`restored  ${run}`),
    });
    expect((await signalbox(data, 'gc')).errors).toBe('');
    expect((await signalbox(data, 'events', run)).code).toBe(0);
  });

  it('[A1239] is searched with a file in the place of its cache, which repair names', async () => {
    const { data, run } = await dataWithRun();
    rmSync(path.join(data, 'cache'), { recursive: true, force: true });
    writeFileSync(path.join(data, 'cache'), '');
    expect(await signalbox(data, 'find', run)).toMatchObject({ code: 0, errors: '' });
    expect(await signalbox(data, 'repair')).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/"cache" in the data directory[\s\S]*Delete or move it/),
    });
  });

  it('[X212] is not rebuilt by the command line from no journals: it says what would be lost, and a dry run which command does it', async () => {
    const { data, run } = await dataWithRun();
    expect((await signalbox(data, 'repair', '--from-journals', '--dry-run')).out).toContain(
      'Run "signalbox repair --from-journals" to do this',
    );
    rmSync(path.join(data, 'runs'), { recursive: true });
    const refused = await signalbox(data, 'repair', '--from-journals');
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining(run) });
    expect(await signalbox(data, 'show', run)).toMatchObject({ code: 0 });
    expect((await signalbox(data, 'repair', '--from-journals', '--yes')).out).toContain(`lost      ${run}`);
  });

  it('[A440] is found by doctor --deep: a journal that was changed, or that is not the log’s', async () => {
    const { data, run } = await dataWithRun();
    const events = path.join(data, 'runs', run, 'events');
    const [segment = ''] = readdirSync(events);
    const file = path.join(events, segment);
    const honest = readFileSync(file);
    writeFileSync(file, honest.toString().replace('salt', 'sald'));
    expect(deepOf(await checkDeep(data))).toMatchObject({ runs: 'ok', 'run journals': 'fail' });
    writeFileSync(file, honest);
    expect(deepOf(await checkDeep(data))).toMatchObject({ runs: 'ok', 'run journals': 'ok' });
    const database = new DatabaseSync(path.join(data, 'db.sqlite'));
    writeLog(
      database,
      1,
      resealed(logOf(database, 1).map(one => ({ ...one, body: one.body.replace('"salt":"', '"salt":"x') }))),
    );
    database.close();
    expect((await signalbox(data, 'doctor', '--deep', '--json')).out).toContain(
      '"name":"run journals","status":"fail"',
    );
  });

  it('[A441] is found by verify of any run: rows that belong to none', async () => {
    const { data, run } = await dataWithRun();
    expect(await signalbox(data, 'verify', run)).toMatchObject({ code: 0 });
    changed(data, "insert into run_tags values (900, 'planted')");
    expect(await signalbox(data, 'verify', run)).toMatchObject({
      code: 1,
      out: expect.stringContaining('table run_tags, rows of run number 900: no log has these rows'),
    });
    expect(await signalbox(data, 'repair')).toMatchObject({ code: 0 });
    expect(await signalbox(data, 'verify', run)).toMatchObject({ code: 0 });
  });
});

function deepOf(checks: Awaited<ReturnType<typeof checkDeep>>): Record<string, string> {
  return Object.fromEntries(checks.map(({ name, status }) => [name, status]));
}
