import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { openArchive } from '@signalbox/store';
import { startChild } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { childScript } from '../../../../test/child-script.ts';
import { sized } from '../../../../test/sized.ts';
import { collapse, SECRET } from '../../../store/test/support/secret-runs.ts';
import { everyAnswer } from '../../../store/test/support/varied-runs.ts';
import { exportRun } from '../../src/bundles/export-run.ts';
import { importRun } from '../../src/bundles/import-run.ts';
import { verifyBundle } from '../../src/bundles/verify-bundle.ts';
import { checkDeep } from '../../src/doctor/deep-checks.ts';
import { openHome } from '../../src/host/open-home.ts';
import { thisMachine } from '../../src/machine.ts';
import { readNote, writeNote } from '../../src/redact/taking-note.ts';
import { repairHome } from '../../src/repair/repair-home.ts';
import { journalLength } from '../../src/repair/run-journals.ts';
import { rewriteJournal } from '../../src/run-journal/rewrite-journal.ts';
import { verifyRun } from '../../src/run-journal/verify-run.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { deskOf, filesWithSecret, owned, secretHome, takenUp } from './support.ts';

const CHILD = childScript(import.meta.dirname, 'redact-child.ts');
const SOAK = process.env.SIGNALBOX_SOAK === '1';
const machine = thisMachine();
const asked = { value: SECRET, name: 'DOOR', why: `found ${SECRET} in a log` };

async function redacted(data: string, run: RunId) {
  const home = owned(data);
  const done = await deskOf(data, home).redact(run, asked, 'anna');
  home.close();
  if (!done.ok) throw new Error(done.error.message);
  return done.value;
}

async function answersOf(data: string): Promise<unknown> {
  const home = owned(data);
  const answers = await everyAnswer(home.store);
  home.close();
  return answers;
}

describe('a redaction', () => {
  it('[A380] leaves no byte of the value in the data directory, and says what it changed', async () => {
    const data = temporaryFolder();
    const { run, fork } = await secretHome(data);
    expect(filesWithSecret(data).length).toBeGreaterThan(8);
    const heads = new Map<RunId, string>();
    for (const id of [run, fork]) {
      const report = await verifyRun(data, id);
      if (report.ok) heads.set(id, report.value.head);
    }
    const before = await answersOf(data);
    const home = owned(data);
    const would = await deskOf(data, home).redact(run, { ...asked, dryRun: true }, 'anna');
    home.close();
    expect(await answersOf(data)).toEqual(before);

    const report = await redacted(data, run);
    expect(filesWithSecret(data)).toEqual([]);
    expect(report).toMatchObject({
      dryRun: false,
      name: 'DOOR',
      runs: [
        { run, tokens: true },
        { run: fork, tokens: false },
      ],
      logs: 2,
      left: [],
    });
    if (would.ok) expect(would.value).toMatchObject({ dryRun: true, runs: report.runs, logs: 2, left: [] });
    expect(readNote(data)).toBeUndefined();
    for (const [id, head] of heads) {
      const verified = await verifyRun(data, id, head);
      expect(verified).toMatchObject({
        ok: true,
        value: {
          ok: true,
          taken: [{ kind: 'redaction', by: 'anna', why: 'found [redacted: DOOR] in a log', isLater: true }],
        },
      });
    }
    // The same again finds nothing.
    expect(await redacted(data, run)).toMatchObject({ runs: [{ records: [] }, { records: [] }], blobs: 0, logs: 0 });
  });

  it('[A381] makes the value a secret that no run writes any more, here and in the next process', async () => {
    const data = temporaryFolder();
    const { run } = await secretHome(data);
    const home = owned(data);
    await deskOf(data, home).redact(run, asked, 'anna');
    expect(home.secrets.filter.text(`it is ${SECRET}`)).toBe('it is [redacted: DOOR]');
    home.close();
    const next = owned(data);
    expect(next.secrets.filter.text(`it is ${SECRET}`)).toBe('it is [redacted: DOOR]');
    next.close();
  });

  it('[A382] refuses a run that is under way, a value that cannot be taken out, and a journal that disagrees', async () => {
    const data = temporaryFolder();
    const { run, fork } = await secretHome(data);
    const home = owned(data);
    const driven = deskOf(data, home, { driven: () => [fork] });
    expect(await driven.redact(run, asked, 'anna')).toMatchObject({ error: { code: 'run/driven' } });
    const desk = deskOf(data, home);
    for (const value of ['short', 'decisions', '[redacted: ']) {
      expect(await desk.redact(run, { value }, 'anna')).toMatchObject({ error: { code: 'command/usage' } });
    }
    expect(await desk.redact(run, { value: SECRET, name: SECRET }, 'anna')).toMatchObject({
      error: { code: 'command/usage' },
    });
    expect(await desk.redact('0189ffff-0000-7000-8000-000000000000' as RunId, asked, 'anna')).toMatchObject({
      error: { code: 'run/unknown' },
    });
    // Somebody changed the log, and gave it a record of his own that says so.
    collapse(home.store, run);
    expect(await verifyRun(data, run)).toMatchObject({
      value: { ok: false, defects: [{ where: 'journal', what: expect.stringContaining('still has the body') }] },
    });
    expect(await desk.redact(run, asked, 'anna')).toMatchObject({ error: { code: 'store/damaged' } });
    expect(readNote(data)).toBeUndefined();
    home.close();
  });

  it('[A383] names what it does not reach: other runs, sessions, snapshots and checkpoints', async () => {
    const data = temporaryFolder();
    const { run } = await secretHome(data);
    const other = path.join(temporaryFolder(), 'other');
    const second = await secretHome(other);
    cpSync(path.join(other, 'runs', second.run), path.join(data, 'checkpoints', second.run), { recursive: true });
    for (const folder of ['sessions/one', 'snapshots', 'undo']) {
      mkdirSync(path.join(data, folder), { recursive: true });
      writeFileSync(path.join(data, folder, 'some.json'), JSON.stringify({ text: SECRET }));
    }
    const report = await redacted(data, run);
    const where = report.left.map(one => one.where);
    expect(where).toEqual(expect.arrayContaining(['sessions/one/some.json', 'snapshots/some.json', 'undo/some.json']));
    expect(where.some(one => one.startsWith('checkpoints/'))).toBe(true);
    expect([...where].sort()).toEqual(filesWithSecret(data));
    expect(report.outside.join()).toContain('bundles');
  });
});

describe('a run of which something was taken away', () => {
  it('[A384] is rebuilt from its journal and blobs, exported, verified and imported', async () => {
    const data = temporaryFolder();
    const { run, fork } = await secretHome(data);
    await redacted(data, run);
    const home = owned(data);
    collapse(home.store, run);
    expect(await rewriteJournal(data, home.store, run)).toMatchObject({ ok: true });
    home.close();
    const before = await answersOf(data);
    expect(await verifyRun(data, run)).toMatchObject({
      value: { ok: true, taken: [{ kind: 'redaction' }, { kind: 'collapse' }] },
    });

    const archive = openArchive({ path: path.join(data, 'db.sqlite') });
    if (!archive.ok) throw new Error(archive.error.message);
    const file = path.join(temporaryFolder(), 'run.bundle');
    const { clock } = machine;
    const secrets = { text: (text: string) => text, data: <T>(value: T) => value, has: () => false, settled: () => 0 };
    const exported = await exportRun({ archive: archive.value, clock, appVersion: '0', secrets }, run, file);
    archive.value.close();
    expect(exported).toMatchObject({ ok: true });
    expect(await verifyBundle(file)).toMatchObject({
      value: { ok: true, runs: [{ id: run, taken: [{ kind: 'redaction' }, { kind: 'collapse' }] }] },
    });
    const target = temporaryFolder();
    const there = owned(target);
    const imported = await importRun({ store: there.store, dataDirectory: target, machine, by: 'bert' }, file);
    if (!imported.ok) throw new Error(imported.error.message);
    const made = await there.store.run(imported.value.run);
    const was = (before as Record<string, { readonly run: object }>)[run]?.run;
    expect(made).toMatchObject({ frames: (was as { frames: number }).frames, output: { said: '[redacted: DOOR]' } });
    expect(made?.collected).toEqual((was as { collected?: object }).collected);
    there.close();
    expect(await verifyRun(target, imported.value.run)).toMatchObject({ value: { ok: true } });

    for (const suffix of ['', '-wal', '-shm']) rmSync(path.join(data, `db.sqlite${suffix}`), { force: true });
    expect(repairHome({ dataDirectory: data, machine })).toMatchObject({
      value: { ok: true, damaged: [], missing: [] },
    });
    expect(await answersOf(data)).toEqual(before);
    for (const id of [run, fork]) expect(await verifyRun(data, id)).toMatchObject({ value: { ok: true } });
    expect(filesWithSecret(data)).toEqual([]);
  });

  it('[A385] brings a database of before it up to its journal, which has what is left', async () => {
    const data = temporaryFolder();
    const { run } = await secretHome(data);
    const old = path.join(temporaryFolder(), 'db.sqlite');
    cpSync(path.join(data, 'db.sqlite'), old);
    await redacted(data, run);
    const before = await answersOf(data);
    for (const suffix of ['-wal', '-shm']) rmSync(path.join(data, `db.sqlite${suffix}`), { force: true });
    cpSync(old, path.join(data, 'db.sqlite'));
    const done = repairHome({ dataDirectory: data, machine });
    expect(done).toMatchObject({ value: { ok: true, damaged: [], missing: [] } });
    const after = (await answersOf(data)) as Record<string, unknown>;
    expect(withoutOrder(after)).toEqual(withoutOrder(before as Record<string, unknown>));
    expect(journalLength(data, run)).toBe((await recordsOf(data, run)).length);
  });
});

/** Runs are listed by their numbers; a log that was taken in again keeps its own. */
function withoutOrder({ runs, ...answers }: Record<string, unknown>): unknown {
  return answers;
}

async function recordsOf(data: string, run: RunId) {
  const home = owned(data);
  const records = await home.store.records(run, 0, 1000);
  home.close();
  return records;
}

describe('a redaction whose process is killed', () => {
  it('[A386] has not begun or is ended by the next owner, wherever that was', async () => {
    const root = temporaryFolder();
    const template = path.join(root, 'template');
    const { run, fork } = await secretHome(template);
    const before = await answersOf(template);
    let isOver = false;
    let tried = 0;
    for (let nth = 1; !isOver; nth += sized(7, 4, 1)) {
      for (const when of SOAK ? ['before', 'after'] : [nth % 2 === 0 ? 'before' : 'after']) {
        const data = path.join(root, `${when}-${nth}`);
        cpSync(template, data, { recursive: true });
        chmodSync(data, 0o700);
        const { signal, code } = await startChild(CHILD, data, run, when, String(nth)).ended;
        isOver = signal !== 'SIGKILL';
        expect(isOver ? code : 0).toBe(0);
        tried += 1;
        const hadBegun = existsSync(path.join(data, 'taking-away.json'));
        await takenUp(data);
        const place = `${when} ${nth}`;
        if (hadBegun || filesWithSecret(data).length === 0) {
          expect(filesWithSecret(data), place).toEqual([]);
        } else {
          expect(await answersOf(data), place).toEqual(before);
        }
        for (const id of [run, fork]) {
          const verified = await verifyRun(data, id);
          expect(verified, place).toMatchObject({ value: { ok: true } });
        }
        rmSync(data, { recursive: true, force: true });
      }
    }
    expect(tried).toBeGreaterThan(sized(2, 5, 5));
  });

  it('[A548] is told by doctor --deep where its note cannot be read, and ends no start', async () => {
    const data = temporaryFolder();
    await secretHome(data);
    for (const text of ['{', '{"v":1,"kind":"redaction"}', '[]']) {
      writeFileSync(path.join(data, 'taking-away.json'), text);
      await expect(takenUp(data)).rejects.toThrow('taking-away.json in the data directory cannot be read');
      expect(await checkDeep(data)).toContainEqual(expect.objectContaining({ name: 'taken away', status: 'fail' }));
      const home = await openHome({ dataDirectory: data, machine, env: {} });
      if (!home.ok) throw new Error(home.error.message);
      await home.value.close();
      expect(readFileSync(path.join(data, 'logs', 'host.ndjson'), 'utf8')).toContain('taking-away.json');
    }
  });

  it('[A387] of which only the note is left is ended, and so is a collapse', async () => {
    const data = temporaryFolder();
    const { run } = await secretHome(data);
    const home = owned(data);
    writeNote(data, { v: 1, kind: 'collapse', runs: [run] });
    collapse(home.store, run);
    home.close();
    expect(readFileSync(path.join(data, 'taking-away.json'), 'utf8')).not.toContain(SECRET.slice(0, 8));
    expect(await takenUp(data)).toBe(true);
    expect(await verifyRun(data, run)).toMatchObject({ value: { ok: true, taken: [{ kind: 'collapse' }] } });
    expect(await takenUp(data)).toBe(false);
  });
});
