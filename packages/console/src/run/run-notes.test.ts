import type { RunSummary } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { isCollected, runNotes } from './run-notes.ts';

const run = (record: object, driven = true) => ({ record, driven }) as unknown as RunSummary;
const words = (given: RunSummary) => runNotes(given).map(note => note.words);

describe('the notes on a run', () => {
  it('[K41] are empty for an ordinary run', () => {
    for (const status of ['completed', 'failed', 'paused', 'waiting'])
      expect(runNotes(run({ status }, false))).toEqual([]);
    expect(runNotes(run({ status: 'running' }))).toEqual([]);
  });

  it('[K41] say that it was imported, that frames are gone, that nothing drives it', () => {
    expect(words(run({ status: 'completed', origin: { kind: 'import', run: 'x' } }))).toEqual([
      expect.stringMatching(/imported from a bundle/),
    ]);
    expect(words(run({ status: 'completed', collected: [{ from: 3, to: 3 }] }))).toEqual([
      expect.stringMatching(/^1 frame \(3\) was collected/),
    ]);
    const collected = [
      { from: 1, to: 4 },
      { from: 8, to: 8 },
    ];
    expect(words(run({ status: 'completed', collected }))).toEqual([
      expect.stringMatching(/^5 frames \(1 to 4, 8\) were/),
    ]);
    const left = { status: 'paused', stopReason: 'Its process ended.', interrupted: true };
    expect(words(run(left, false))).toEqual([expect.stringMatching(/^This run was interrupted: .* Resume it/)]);
  });

  it('[K87] say that it waits for space on the disk', () => {
    const held = { status: 'paused', stopReason: 'The disk is full. Free some space.' };
    expect(words(run(held))).toEqual([
      'The disk is full. Free some space. The run resumes on its own when there is space; nothing is lost.',
    ]);
    expect(words(run(held, false))).toEqual([]);
  });

  it('[K41] say which frames are gone', () => {
    const { record } = run({ collected: [{ from: 1, to: 4 }] });
    expect([0, 1, 4, 5, undefined].map(frame => isCollected(record, frame))).toEqual([false, true, true, false, false]);
    expect(isCollected(run({}).record, 1)).toBe(false);
  });
});
