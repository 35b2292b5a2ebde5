import { err, ok } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { restoreFailed, type StateError } from './snapshot-error.ts';
import type { StagedRestore } from './snapshotable.ts';
import { restoreAll } from './two-phase-restore.ts';

const broken: StateError = restoreFailed('as told', { state: 'unchanged' });

/** A part that writes down what is asked of it and fails where it is told to. */
function part(log: string[], name: string, failAt: 'stage' | 'apply' | 'undo' | 'never' = 'never') {
  const say = (what: string) => void log.push(`${name} ${what}`);
  const staged: StagedRestore = {
    lost: [`${name}'s loss`],
    async apply() {
      say('apply');
      return failAt === 'apply' ? err(broken) : ok(undefined);
    },
    async undo() {
      say('undo');
      return failAt === 'undo' ? err(restoreFailed(`${name} is stuck`, { state: 'unchanged' })) : ok(undefined);
    },
    finish: async () => say('finish'),
    discard: async () => say('discard'),
  };
  return async () => {
    say('stage');
    return failAt === 'stage' ? err(broken) : ok(staged);
  };
}

describe('two-phase restore', () => {
  it('[S14] everything is staged before anything is applied, and finished only then', async () => {
    const log: string[] = [];
    const restored = await restoreAll([part(log, 'a'), part(log, 'b')]);
    expect(restored).toEqual(ok({ lost: ["a's loss", "b's loss"], kept: null, left: [] }));
    expect(log).toEqual(['a stage', 'b stage', 'a apply', 'b apply', 'a finish', 'b finish']);
  });

  it('[S14] if one part cannot be staged, no part changes', async () => {
    const log: string[] = [];
    expect(await restoreAll([part(log, 'a'), part(log, 'b', 'stage'), part(log, 'c')])).toEqual(err(broken));
    expect(log).toEqual(['a stage', 'b stage', 'a discard']);
  });

  it('[S15] if one part cannot be applied, those that were are undone, the last one first', async () => {
    const log: string[] = [];
    const parts = [part(log, 'a'), part(log, 'b'), part(log, 'c', 'apply'), part(log, 'd')];
    expect(await restoreAll(parts)).toEqual(err(broken));
    expect(log.slice(4)).toEqual(['a apply', 'b apply', 'c apply', 'd discard', 'b undo', 'a undo']);
  });

  it('[S15] if undoing fails too, that is what is told', async () => {
    const log: string[] = [];
    const restored = await restoreAll([part(log, 'a', 'undo'), part(log, 'b', 'apply')]);
    expect(restored).toMatchObject({ ok: false, error: { message: expect.stringContaining('a is stuck') } });
  });
});
