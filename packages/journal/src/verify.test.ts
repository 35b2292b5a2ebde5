import { type Digest, EMPTY_HEAD } from '@signalbox/model';
import {
  factDraft,
  factSchema,
  type LossyDisk,
  lossyDisk,
  memoryLocks,
  openFacts,
  snapshotText,
} from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { nodeHasher } from './files/node-hasher.ts';
import { verifyJournal } from './verify.ts';

const HOME = 'home';

async function journalOf(...numbers: readonly number[]) {
  const disk = lossyDisk();
  disk.makeDirectory(HOME);
  const { journal, snapshots } = openFacts({ disk, locks: memoryLocks(), home: HOME });
  snapshots.putAll([snapshotText(1)]);
  const heads: Digest[] = [EMPTY_HEAD];
  for (const number of numbers) {
    const events = [factDraft(number, { withSnapshot: number === 1 })];
    const appended = await journal.withLock(witness => journal.append(witness, { events }));
    if (appended.ok) heads.push(appended.value.head);
  }
  return { disk, heads, sessionId: journal.sessionId, directory: `${HOME}/sessions/${journal.sessionId}` };
}

const verify = (disk: LossyDisk, directory: string, more: { snapshots?: string; expectHead?: Digest } = {}) =>
  verifyJournal({ disk, hasher: nodeHasher, schema: factSchema, directory, ...more });

describe('verifying', () => {
  it('[J23, J24] says what a good journal holds', async () => {
    const { disk, directory, heads, sessionId } = await journalOf(1, 2, 3);
    expect(verify(disk, directory, { snapshots: `${HOME}/snapshots` })).toEqual({
      ok: true,
      health: 'healthy',
      sessionId,
      events: 3,
      head: heads[3],
      segments: 3,
      pins: 1,
      notes: [],
    });
  });

  it('[J24] says that it could not check the snapshots', async () => {
    const { disk, directory } = await journalOf(1);
    expect(verify(disk, directory)).toMatchObject({
      ok: true,
      notes: ['No snapshot store was found: the 1 pinned snapshots were not checked.'],
    });
  });

  it('[J17, J23] says that an append was cut short', async () => {
    const { disk, directory } = await journalOf(1, 2);
    const manifest = `${directory}/manifest.jsonl`;
    disk.open(manifest, 'append').truncate((disk.size(manifest) ?? 0) - 1);
    const report = verify(disk, directory, { snapshots: `${HOME}/snapshots` });
    expect(report).toMatchObject({ ok: true, events: 1 });
    expect(report?.notes[0]).toMatch(/^The last \d+ bytes of manifest\.jsonl belong to an append that was cut short/);
  });

  it('[J23] is undefined where there is no manifest, and empty where there is an empty one', async () => {
    const { disk, directory } = await journalOf();
    expect(verify(disk, directory)).toBeUndefined();
    disk.makeDirectory(`${HOME}/sessions`);
    disk.makeDirectory(directory);
    disk.open(`${directory}/manifest.jsonl`, 'create');
    expect(verify(disk, directory)).toMatchObject({ ok: true, events: 0, head: EMPTY_HEAD });
  });

  it('[J24] accepts the head that was kept, and tells one that was passed from one that is not there', async () => {
    const { disk, directory, heads } = await journalOf(1, 2, 3);
    const check = (expectHead: Digest | undefined) => verify(disk, directory, { ...(expectHead && { expectHead }) });
    expect(check(heads[3])).toMatchObject({ ok: true });
    expect(check(heads[1])).toMatchObject({
      ok: false,
      health: 'healthy',
      defect: { code: 'head_passed', reason: `${heads[1]} was the head after 1 of the 3 events` },
    });
    expect(check(nodeHasher('another history'))).toMatchObject({
      ok: false,
      health: 'healthy',
      defect: { code: 'head_mismatch' },
    });
  });

  it('[J24] finds with the head what files alone cannot show: the last appends cut off', async () => {
    const { disk, directory, heads } = await journalOf(1, 2, 3);
    const manifest = disk.read(`${directory}/manifest.jsonl`) as Uint8Array;
    const lastLine = manifest.lastIndexOf(0x0a, manifest.length - 2) + 1;
    disk.open(`${directory}/manifest.jsonl`, 'append').truncate(lastLine);
    expect(verify(disk, directory)).toMatchObject({ ok: true, events: 2 });
    expect(verify(disk, directory, { ...(heads[3] && { expectHead: heads[3] }) })).toMatchObject({
      ok: false,
      defect: { code: 'head_mismatch' },
    });
  });
});
