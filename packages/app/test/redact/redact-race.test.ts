import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { sized } from '../../../../test/sized.ts';
import { at, newRun, signal, startRun } from '../../../runs/test/builders.ts';
import { SECRET } from '../../../store/test/support/secret-runs.ts';
import { createRunLogWriter } from '../../src/logs/run-log-writer.ts';
import { createJournalThread, type DerivedThread } from '../../src/run-journal/journal-thread.ts';
import { verifyRun } from '../../src/run-journal/verify-run.ts';
import { seqsOf } from '../logs/log-lines.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { deskOf, filesWithSecret, owned } from './support.ts';

const asked = { value: SECRET, name: 'DOOR' };
const NOISE = 'n'.repeat(900);

function threadOf(data: string, { secrets }: ReturnType<typeof owned>): DerivedThread {
  return createJournalThread({ dataDirectory: data, secrets: secrets.shared });
}

describe('a redaction of a run whose log is being written', () => {
  it('[A540] loses no line and leaves no byte of the value, however the two meet', async () => {
    for (let round = 0; round < sized(1, 2, 2); round++) {
      const data = temporaryFolder();
      const home = owned(data);
      const thread = threadOf(data, home);
      const { run, write } = await startRun(home.store, newRun());
      const lines = (count: number, said: string) =>
        write({ at: at(), events: Array.from({ length: count }, (_, n) => signal(`${n}`, `${said} ${NOISE}`)) });
      // Some compressed files, and one that is nearly full.
      await lines(400 + round * 60, SECRET);
      await thread.writeLogs([run]);
      let writing: Promise<unknown> = Promise.resolve();
      const desk = deskOf(data, home, {
        derived: thread,
        async rewriteJournal(of) {
          const done = await thread.rewrite(of);
          // From here on the thread has lines to write for a while.
          for (let n = 0; n < 15; n++) await lines(100, 'said');
          writing = thread.writeLogs([run]);
          return done;
        },
      });
      const done = await desk.redact(run, asked, 'anna');
      await writing;
      expect(await thread.writeLogs([run])).toEqual({ left: [] });
      expect(await thread.write([run])).toEqual([]);
      const events = (await home.store.events(run, 0, 1e6)).length;
      expect(done).toMatchObject({ ok: true, value: { left: [] } });
      expect(seqsOf(data, run)).toEqual(Array.from({ length: events }, (_, seq) => seq));
      await thread.close();
      home.close();
      expect(filesWithSecret(data)).toEqual([]);
      expect(await verifyRun(data, run)).toMatchObject({ value: { ok: true, taken: [{ kind: 'redaction' }] } });
    }
  });

  it('[A540] is known to the thread from then on', async () => {
    const data = temporaryFolder();
    const home = owned(data);
    const thread = threadOf(data, home);
    const [one, other] = [await startRun(home.store, newRun()), await startRun(home.store, newRun())];
    await thread.writeLogs([one.run]);
    await other.write({ at: at(), events: [signal('s', SECRET)] });
    const desk = deskOf(data, home, { derived: thread, rewriteJournal: thread.rewrite });
    expect(await desk.redact(one.run, asked, 'anna')).toMatchObject({
      value: { left: [{ where: `run ${other.run}` }] },
    });
    await thread.writeLogs([other.run]);
    await thread.close();
    home.close();
    expect(filesWithSecret(path.join(data, 'runs', other.run, 'logs'))).toEqual([]);
  });

  it('[A541] ends, and names what it cannot read: a file that is no archive, and one that is closed', async () => {
    const data = temporaryFolder();
    const home = owned(data);
    const { run, write } = await startRun(home.store, newRun());
    await write({ at: at(), events: [signal('s', SECRET)] });
    await createRunLogWriter({ reader: home.store, dataDirectory: data, clean: value => value }).writeLogs([run]);
    const place = path.join(data, 'workspaces', 'w');
    mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, 'backup.zst'), 'no archive');
    writeFileSync(path.join(place, 'closed'), 'closed');
    chmodSync(path.join(place, 'closed'), 0o000);
    const done = await deskOf(data, home).redact(run, asked, 'anna');
    home.close();
    const named = [
      { where: path.join('workspaces', 'w', 'backup.zst'), why: expect.stringContaining('cannot be read') },
      // Nothing is closed to root.
      ...(process.getuid?.() === 0
        ? []
        : [{ where: path.join('workspaces', 'w', 'closed'), why: expect.stringContaining('EACCES') }]),
    ];
    expect(done).toMatchObject({ value: { left: named } });
    chmodSync(path.join(place, 'closed'), 0o600);
    expect(existsSync(path.join(data, 'taking-away.json'))).toBe(false);
  });
});
