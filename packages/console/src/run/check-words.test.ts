import type { ReplayReport, RunCheck } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { replayWords, verifyWords } from './check-words.ts';

const head = 'sha256:00';
const check = (fields: object) =>
  ({ ok: true, run: 'r', records: 7, events: 20, head, ...fields }) as unknown as RunCheck;
const journal = { ok: true, health: 'healthy', events: 7, segments: 1, head, notes: [] };
const replayed = (fields: object = {}) => ({
  run: 'r',
  name: 'release',
  frames: 5,
  verified: 5,
  unverified: { count: 0, first: [] },
  ...fields,
});
const report = (ok: boolean, ...runs: object[]) => ({ ok, run: 'r', runs }) as unknown as ReplayReport;

describe('a report in words', () => {
  it('[K43] says that a record is valid, and whether its journal agrees', () => {
    expect(verifyWords(check({ journal }))).toEqual({
      isSound: true,
      verdict: 'All 7 records are valid: each is chained to the one before it, and everything shown follows from them.',
      details: ['The head after the last valid record is sha256:00.', 'Its journal agrees, in 1 segment.'],
    });
  });

  it('[K43] says how far a record is valid, and the first defect', () => {
    const cut = [{ where: 'log', record: 7, what: 'its hash does not hold' }];
    expect(verifyWords(check({ ok: false, defects: cut }))).toEqual({
      isSound: false,
      verdict: 'Only the first 7 records can be relied on.',
      details: ['In log, record 7: its hash does not hold', 'The head after the last valid record is sha256:00.'],
    });
    const changed = [
      { where: 'table', table: 'tasks', key: '3', what: 'status is "done"; the log says "error"' },
      { where: 'blob', key: 'sha256:01', what: 'a blob is gone' },
    ];
    expect(verifyWords(check({ ok: false, defects: changed }))).toMatchObject({
      verdict: 'The log is valid, but 2 things shown do not follow from it.',
      details: [
        'In table tasks, row 3: status is "done"; the log says "error"',
        'In blob: a blob is gone',
        'The head after the last valid record is sha256:00.',
      ],
    });
    const broken = {
      ...journal,
      ok: false,
      health: 'corrupt_tail',
      defect: { reason: 'a line is cut off', meaning: 'It was never acknowledged.' },
      notes: ['one more thing'],
    };
    expect(verifyWords(check({ ok: false, journal: broken })).details.slice(1)).toEqual([
      'Its journal is corrupt_tail: a line is cut off. It was never acknowledged.',
      'one more thing',
    ]);
  });

  it('[K44] says that every frame was reproduced, with those of sub-plans', () => {
    expect(replayWords(report(true, replayed(), replayed({ frames: 2, verified: 2 })))).toEqual({
      isSound: true,
      verdict: 'All 7 frames replayed as recorded. No model was called and no tool was run.',
      details: ['1 sub-plan is included.'],
    });
  });

  it('[K44] says which frame differs, and how many could not be verified', () => {
    const difference = { frame: 3, kind: 'frame', what: 'the state is another', recorded: head, rows: [] };
    expect(replayWords(report(false, replayed({ verified: 3, difference })))).toMatchObject({
      isSound: false,
      verdict: 'Frame 3 differs: the state is another',
    });
    expect(replayWords(report(false, replayed({ verified: 4, unverified: { count: 1, first: [2] } })))).toEqual({
      isSound: false,
      verdict: '4 of 5 frames replayed as recorded.',
      details: ['1 frame read something that was not recorded, and cannot be verified.'],
    });
  });
});
