import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type RecoveryNote, type RunId, timestampOf } from '@signalbox/model';
import type { NodeKey } from '@signalbox/runs';
import { fakeClock } from '@signalbox/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRecoveryBook } from './recovery-book.ts';
import { noteOf } from './recovery-note.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'recoveries-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const RUN = '019b8d62-0000-7000-8000-000000000001' as RunId;
const DAY_MS = 86_400_000;

describe('what recoveries did', () => {
  it('[A191] has the run, the call, the outcome and every list of paths, long ones cut', () => {
    const clock = fakeClock();
    const many = Array.from({ length: 130 }, (_, index) => `file-${index}`);
    const lost = { kind: 'rolled-back', kept: null, left: [], lost: many } as const;
    const place = { run: RUN, node: 'agent' as NodeKey };
    expect(noteOf({ id: 'call-1', tool: 'run_command', outcome: lost }, timestampOf(clock), place)).toEqual({
      id: 'call-1',
      tool: 'run_command',
      at: timestampOf(clock),
      run: RUN,
      node: 'agent',
      outcome: 'rolled-back',
      message: 'The call was cut off and rolled back: its directory is as it was before the call.',
      paths: [{ what: 'lost', paths: many.slice(0, 100), more: 30 }],
    });
  });

  it('[A192] is known to the next process until it is dismissed, or for 30 days', () => {
    const clock = fakeClock();
    const notes = ['a', 'b'].map(id => note(id, 'rolled-back', timestampOf(clock)));
    openRecoveryBook(folder, clock).add(notes);
    expect(statSync(path.join(folder, 'recoveries.json')).mode & 0o077).toBe(0);
    const later = openRecoveryBook(folder, clock);
    expect(later.list()).toEqual(notes);
    expect(later.dismiss('a')).toEqual({ ok: true, value: notes[0] });
    expect(later.dismiss('a')).toMatchObject({ ok: false, error: { code: 'recovery/unknown' } });
    expect(openRecoveryBook(folder, clock).list()).toEqual([notes[1]]);
    clock.advance(30 * DAY_MS);
    expect(openRecoveryBook(folder, clock).list()).toEqual([]);
  });

  it('[A192] stays while it has not succeeded, however old and whoever dismisses it', () => {
    const clock = fakeClock();
    const book = openRecoveryBook(folder, clock);
    const failed = [note('a', 'failed', timestampOf(clock)), note('b', 'failed', timestampOf(clock))];
    book.add(failed);
    clock.advance(100 * DAY_MS);
    expect(book.dismiss('a')).toMatchObject({ ok: false, error: { code: 'recovery/open' } });
    expect(book.list()).toEqual(failed);
    // The next start rolls one back; of the other nothing is pending any more.
    const now = timestampOf(clock);
    book.add([note('a', 'rolled-back', now)]);
    expect(book.list()).toEqual([note('a', 'rolled-back', now)]);
  });

  it('[A192] has every time that a call was cut off and kept files, until the call is dismissed', () => {
    const clock = fakeClock();
    const book = openRecoveryBook(folder, clock);
    const keeps = (file: string) => ({
      ...note('a', 'rolled-back', timestampOf(clock)),
      paths: [{ what: 'kept', paths: [file], more: 0 }],
    });
    const first = keeps('mine');
    book.add([first]);
    clock.advance(1000);
    const second = keeps('f');
    book.add([second]);
    clock.advance(1000);
    const third = note('a', 'rolled-back', timestampOf(clock));
    book.add([third]);
    expect(book.list()).toEqual([third, second, first]);
    expect(book.dismiss('a')).toEqual({ ok: true, value: third });
    expect(book.list()).toEqual([]);
  });

  it('[A192] is told in this process where the disk does not take it, and a damaged file is as none', () => {
    const clock = fakeClock();
    writeFileSync(path.join(folder, 'recoveries.json'), '{"recoveries": [');
    const book = openRecoveryBook(path.join(folder, 'nowhere'), clock);
    const one = note('a', 'rolled-back', timestampOf(clock));
    book.add([one]);
    expect(book.list()).toEqual([one]);
    expect(openRecoveryBook(folder, clock).list()).toEqual([]);
    expect(readFileSync(path.join(folder, 'recoveries.json'), 'utf8')).toBe('{"recoveries": [');
  });
});

function note(id: string, outcome: string, at: RecoveryNote['at']): RecoveryNote {
  return { id, tool: 'run_command', at, run: RUN, outcome, message: outcome, paths: [] };
}
