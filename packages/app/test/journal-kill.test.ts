import { cpSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { startChild } from '@signalbox/testkit';
import { expect, it } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { sized } from '../../../test/sized.ts';
import { at, newRun, signal, startRun } from '../../runs/test/builders.ts';
import { createRunLogWriter } from '../src/logs/run-log-writer.ts';
import { journalLength } from '../src/repair/run-journals.ts';
import { createJournalWriter } from '../src/run-journal/journal-writer.ts';
import { verifyRun } from '../src/run-journal/verify-run.ts';
import { openWrittenLengths } from '../src/run-journal/written-lengths.ts';
import { seqsOf } from './logs/log-lines.ts';
import { storeIn } from './retention/support.ts';
import { temporaryFolder } from './temporary-folder.ts';

const CHILD = childScript(import.meta.dirname, 'journal-kill-child.ts');
const SOAK = process.env.SIGNALBOX_SOAK === '1';
const HOURS = { timeout: 8 * 3_600_000 };

it(
  '[A545] a process that is killed while it writes journals and logs has written what it noted, and the next one writes the rest',
  HOURS,
  async () => {
    const root = temporaryFolder();
    const template = path.join(root, 'template');
    mkdirSync(template);
    const store = storeIn(template);
    const { run, write } = await startRun(store, newRun());
    for (let n = 1; n < 20; n++) {
      // Lines enough for a compressed file.
      await write({ at: at(), events: Array.from({ length: 30 }, (_, of) => signal(`${n} ${of}`, 'x'.repeat(900))) });
    }
    const events = (await store.events(run, 0, 10_000)).length;
    store.close();
    let isOver = false;
    let tried = 0;
    for (let nth = 1; !isOver; nth += sized(17, 9, 1)) {
      for (const when of SOAK ? ['before', 'after'] : [nth % 2 === 0 ? 'before' : 'after']) {
        const data = path.join(root, `${when}-${nth}`);
        cpSync(template, data, { recursive: true });
        const { signal: ended, code } = await startChild(CHILD, data, run, when, String(nth)).ended;
        isOver = ended !== 'SIGKILL';
        if (isOver) expect(code).toBe(0);
        tried += 1;
        const place = `${when} ${nth}`;
        expect(journalLength(data, run), place).toBeGreaterThanOrEqual(
          openWrittenLengths(data, 'journaled').of(run) ?? 0,
        );
        expect(await verifyRun(data, run), place).toMatchObject({ value: { ok: true } });
        const next = storeIn(data);
        const [journals, logs] = [
          createJournalWriter(data, next),
          createRunLogWriter({ reader: next, dataDirectory: data, clean: value => value }),
        ];
        expect(await journals.write(await journals.behind()), place).toEqual([]);
        expect(await logs.writeLogs(await logs.behindLogs()), place).toEqual({ left: [] });
        expect([await journals.behind(), await logs.behindLogs()], place).toEqual([[], []]);
        next.close();
        const report = await verifyRun(data, run);
        expect(report, place).toMatchObject({ value: { ok: true, records: 20, journal: { ok: true, events: 20 } } });
        expect(seqsOf(data, run), place).toEqual(Array.from({ length: events }, (_, seq) => seq));
      }
    }
    expect(tried).toBeGreaterThan(sized(2, 5, 5));
  },
);
