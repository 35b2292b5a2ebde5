import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Bug, type ProjectId, type Timestamp } from '@signalbox/model';
import { openStore } from '@signalbox/store';
import { describe, expect, it, onTestFinished } from 'vitest';
import { backupHome, restoreHome } from '../src/backup/backup-home.ts';
import { checkDeep } from '../src/doctor/deep-checks.ts';
import { openOwnedStore } from '../src/host/owned-store.ts';
import { thisMachine } from '../src/machine.ts';
import { verifyProject } from '../src/projects/verify-project.ts';
import { repairHome } from '../src/repair/repair-home.ts';
import { journalLength } from '../src/repair/run-journals.ts';
import { createJournalKeeper } from '../src/run-journal/journal-keeper.ts';
import { createJournalWriter } from '../src/run-journal/journal-writer.ts';
import { verifyDirectory } from '../src/verify-directory.ts';
import { manualMachine } from './support/run-builders.ts';
import { until } from './support/until.ts';

const project = '00000000-0000-7000-8000-000000000001' as ProjectId;
const machine = thisMachine();

function temporary(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'signalbox-projects-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A data directory with a project of three records. */
async function projectHome(): Promise<string> {
  const home = temporary();
  const store = openStore({ path: path.join(home, 'db.sqlite') });
  if (!store.ok) throw new Bug(store.error.message);
  for (const records of [0, 1, 2]) {
    const at = new Date(Date.UTC(2026, 10, 18, 12, 0, records)).toISOString() as Timestamp;
    const things = [{ kind: 'event' as const, id: `e${records}`, agent: 'a', status: 'status', value: { n: records } }];
    const done = await store.value.commitToProject(
      { at, who: 'agent', fact: { n: records }, things },
      { project, records },
    );
    if (!done.ok) throw new Bug(done.error.message);
  }
  store.value.close();
  return home;
}

function change(home: string, sql: string): void {
  const database = new DatabaseSync(path.join(home, 'db.sqlite'));
  database.exec(sql);
  database.close();
}

const projectsCheck = async (home: string) => (await checkDeep(home)).find(({ name }) => name === 'projects');

/** Brings the journal up to date, as the keeper does. */
async function journal(home: string): Promise<void> {
  const store = openStore({ path: path.join(home, 'db.sqlite') });
  if (!store.ok) throw new Bug(store.error.message);
  const writer = createJournalWriter(home, store.value);
  expect(await writer.behind()).toEqual([project]);
  expect(await writer.write([project])).toEqual([]);
  expect(await writer.behind()).toEqual([]);
  store.value.close();
}

describe('a project', () => {
  it('[A910] is verified: its log, its rows, and the head that was noted', async () => {
    const home = await projectHome();
    const verified = await verifyProject(home, project);
    if (!verified.ok) throw new Bug(verified.error.message);
    expect(verified.value).toEqual({ ok: true, project, records: 3, head: verified.value.head, behind: 3 });
    expect(await verifyProject(home, project, verified.value.head)).toMatchObject({ ok: true, value: { ok: true } });
    const other = `sha256:${'1'.repeat(64)}`;
    expect(await verifyProject(home, project, other)).toMatchObject({
      value: { ok: false, defects: [{ where: 'expected head', what: `${other} is no head of it` }] },
    });
    change(home, "update things set status = 'decision' where id = 'e1'");
    expect(await verifyProject(home, project)).toMatchObject({
      value: {
        ok: false,
        defects: [{ where: 'table', table: 'things', what: 'status is "decision"; the log says "status"' }],
      },
    });
    expect(await verifyProject(home, 'x' as ProjectId)).toMatchObject({
      ok: false,
      error: { code: 'project/refused' },
    });
  });

  it('[A911] is looked at by the doctor and mended by a repair, which leaves a changed log alone', async () => {
    const home = await projectHome();
    expect(await projectsCheck(home)).toMatchObject({ status: 'ok' });
    change(home, "delete from things where id = 'e2'");
    expect(await projectsCheck(home)).not.toMatchObject({ status: 'ok' });
    expect(repairHome({ dataDirectory: home, machine, dryRun: true })).toMatchObject({
      value: { projects: { projects: 1, rebuilt: [project], damaged: [] } },
    });
    expect(repairHome({ dataDirectory: home, machine })).toMatchObject({
      value: { ok: true, projects: { projects: 1, rebuilt: [project], damaged: [], missing: [] } },
    });
    expect(await projectsCheck(home)).toMatchObject({ status: 'ok' });
    change(home, "update project_records set body = '{}' where n = 1");
    expect(repairHome({ dataDirectory: home, machine })).toMatchObject({
      value: { ok: false, projects: { rebuilt: [], damaged: [{ project }] } },
    });
  });

  it('[A912] is in a backup, and its head is compared when that is restored', async () => {
    const home = await projectHome();
    const [backup, back, damaged] = [temporary(), temporary(), temporary()];
    expect(backupHome(home, backup, machine.clock)).toMatchObject({ ok: true, value: { ok: true } });
    expect(restoreHome(backup, back)).toMatchObject({ ok: true, value: { ok: true } });
    expect(await verifyProject(back, project)).toMatchObject({ value: { ok: true, records: 3 } });
    change(backup, 'delete from things; delete from project_records; delete from projects');
    expect(restoreHome(backup, damaged)).toMatchObject({ value: { defects: [`project ${project} is missing`] } });
  });

  it('[A913] has a journal with the records of its log, which is verified with it', async () => {
    const home = await projectHome();
    expect(await verifyProject(home, project)).toMatchObject({ value: { ok: true, behind: 3 } });
    await journal(home);
    const report = verifyDirectory(path.join(home, 'projects', project));
    expect(report).toMatchObject({ ok: true, value: { ok: true, health: 'healthy', events: 3 } });
    expect(await verifyProject(home, project)).toMatchObject({ value: { ok: true, journal: { events: 3 } } });
    expect(await projectsCheck(home)).toMatchObject({ status: 'ok' });
    change(home, 'delete from things; delete from project_records where n = 2');
    change(
      home,
      "update projects set records = 2, head = (select 'sha256:' || lower(hex(hash)) from project_records where n = 1)",
    );
    expect(await verifyProject(home, project)).toMatchObject({ value: { ok: false } });
    expect(await projectsCheck(home)).toMatchObject({ status: 'fail' });
  });

  it('[A914] is restored from its journal, from where its log ends or whole', async () => {
    const home = await projectHome();
    await journal(home);
    const before = await verifyProject(home, project);
    change(home, 'delete from things; delete from project_records where n > 0; update projects set records = 1');
    expect(repairHome({ dataDirectory: home, machine })).toMatchObject({
      value: { ok: true, projects: { projects: 1, restored: [{ project, records: 2 }], damaged: [] } },
    });
    expect(await verifyProject(home, project)).toEqual(before);
    expect(repairHome({ dataDirectory: home, machine, fromJournals: true })).toMatchObject({
      value: { ok: true, projects: { projects: 1, restored: [{ project, records: 3 }] } },
    });
    expect(await verifyProject(home, project)).toEqual(before);
  });

  it('[A913] has its journal written by the keeper, soon after a commit', async () => {
    const home = await projectHome();
    const store = openStore({ path: path.join(home, 'db.sqlite') });
    if (!store.ok) throw new Bug(store.error.message);
    const { timers, pass } = manualMachine();
    const writer = createJournalWriter(home, store.value);
    const keeper = createJournalKeeper({
      feed: store.value,
      projects: store.value,
      timers,
      writer: { ...writer, isStarted: () => true, end: () => {}, close: async () => {} },
      last: writer,
    });
    pass(500);
    await until(() => journalLength(home, project, 'project') === 3 || undefined);
    const at = '2026-11-18T12:01:00.000Z' as Timestamp;
    await store.value.commitToProject({ at, who: 'system', fact: {}, things: [] }, { project, records: 3 });
    pass(500);
    await until(() => journalLength(home, project, 'project') === 4 || undefined);
    await keeper.close();
    store.value.close();
  });

  it('[A915] never holds a known secret', async () => {
    const home = temporary();
    const secret = 'hunter2-very-secret-value-0123456789';
    const owned = openOwnedStore(home, machine, { DEPLOY_TOKEN: secret });
    if (!owned.ok) throw new Bug(owned.error.message);
    const { store } = owned.value;
    const draft = {
      at: '2026-11-18T12:00:00.000Z' as Timestamp,
      who: 'agent' as const,
      fact: { kind: 'event_received', payload: { message: `It is ${secret}.` } },
      things: [{ kind: 'event' as const, id: 'e', value: { message: `It is ${secret}.` } }],
    };
    expect(await store.commitToProject(draft, { project, records: 0 })).toMatchObject({ ok: true });
    const [record] = store.projectRecords(project, 0, 1);
    expect(record?.body).toContain('It is ');
    expect(record?.body).not.toContain('hunter2');
    owned.value.close();
  });
});
