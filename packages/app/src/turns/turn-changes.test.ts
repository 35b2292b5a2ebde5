import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Digest } from '@signalbox/model';
import { err, failure } from '@signalbox/model';
import type { TaskId } from '@signalbox/runs';
import { filesystem } from '@signalbox/state';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stretchesOf, turnChanges } from './turn-changes.ts';

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(letter => `sha256:${letter.repeat(64)}` as Digest) as [
  Digest,
  Digest,
  Digest,
  Digest,
];
const task = '00000000-0000-5000-8000-000000000001' as TaskId;
const nothing = {
  get: async () => err(failure('store/blob-missing', { message: 'It was collected.', suggestion: 'None.' })),
};

describe('what a turn changed', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'turn-changes-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('[A144] is what its calls changed, and not what others did in between', () => {
    const calls = [
      { before: a, after: b },
      { before: b, after: b },
      { before: b, after: c },
      { before: d, after: a },
      { before: a, after: undefined },
    ];
    expect(stretchesOf(calls)).toEqual([
      { from: a, to: c },
      { from: d, to: a },
    ]);
    expect(stretchesOf([{ before: a, after: a }])).toEqual([]);
  });

  it('[A144] is nothing where no call changed a file', async () => {
    writeFileSync(path.join(folder, `${task}.place.json`), '{"root":"/","beyond":[]}');
    expect(await turnChanges(nothing, folder, task)).toEqual({
      diff: { filesChanged: [], summary: 'no changes' },
      patch: '',
    });
  });

  it('[A145] is said not to be known where its checkpoints are gone', async () => {
    const { diff, patch } = await turnChanges(nothing, path.join(folder, 'gone'), task);
    expect([diff.filesChanged, diff.summary]).toEqual([[], expect.stringMatching(/^not known: .*collected/)]);
    expect(patch).toMatch(/^# The snapshots of its tool calls are missing/);
  });

  it('[A145] is said not to be known where its snapshots were collected', async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, `${task}.place.json`), '{"root":"/","beyond":[]}');
    const snapshot = (root: Digest) => ({ resources: { [filesystem.name]: { root } } });
    const line = {
      ...{ toolCallId: '1', toolName: 'write_file', outcome: 'succeeded', resultSummary: null, elapsedMs: 1 },
      recordedAt: '2026-01-01T00:00:00.000Z',
      ...{ pre: snapshot(a), post: snapshot(b) },
    };
    writeFileSync(path.join(folder, `${task}.jsonl`), `${JSON.stringify(line)}\n`);
    const { diff, patch } = await turnChanges(nothing, folder, task);
    expect(diff.summary).toMatch(/^not known: .*It was collected\./);
    expect(patch).toMatch(/^# .*It was collected\.\n$/);
  });
});
