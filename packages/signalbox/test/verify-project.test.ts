import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Bug, type ProjectId, type Timestamp } from '@signalbox/model';
import { openStore } from '@signalbox/store';
import { expect, it, onTestFinished } from 'vitest';
import { main } from '../src/main.ts';
import { memoryTerminal } from './memory-terminal.ts';

it('[C40] verifies a project by the beginning of its id, and finds a changed row', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'signalbox-verify-project-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const project = '0a1b2c3d-0000-7000-8000-000000000001' as ProjectId;
  const store = openStore({ path: path.join(home, 'db.sqlite') });
  if (!store.ok) throw new Bug(store.error.message);
  const at = '2026-11-18T12:00:00.000Z' as Timestamp;
  const things = [{ kind: 'audit' as const, id: 'a', value: 'said' }];
  await store.value.commitToProject({ at, who: 'person', fact: {}, things }, { project, records: 0 });
  store.value.close();

  const verify = async (...more: readonly string[]) => {
    const terminal = memoryTerminal();
    const code = await main(['verify', '0a1b2c3d', '--data-dir', home, ...more], terminal);
    return { code, printed: terminal.printed.join('\n') };
  };
  expect((await verify()).printed).toContain('✓ the project matches its commits');
  const { code, printed } = await verify('--json');
  expect([code, JSON.parse(printed)]).toMatchObject([0, { ok: true, project, records: 1 }]);
  const database = new DatabaseSync(path.join(home, 'db.sqlite'));
  database.exec("update things set id = 'b'");
  database.close();
  expect(await verify()).toMatchObject({
    code: 1,
    printed: expect.stringContaining('no record of the log wrote this row'),
  });
});
