import {
  factDraft,
  factSchema,
  lossyDisk,
  memoryLocks,
  openFacts,
  snapshotText,
  TEST_SESSION,
} from '@signalbox/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeHasher } from './files/node-hasher.ts';
import { verifyJournal } from './verify.ts';

const HOME = 'home';
const DIRECTORY = `${HOME}/sessions/${TEST_SESSION}`;

/** A journal made of plans; each fact has its text and may bring a snapshot. */
async function journalOf(plans: readonly (readonly { readonly text: string; readonly withSnapshot: boolean }[])[]) {
  const disk = lossyDisk();
  disk.makeDirectory(HOME);
  const { journal, snapshots } = openFacts({ disk, locks: memoryLocks(), home: HOME });
  let number = 0;
  for (const plan of plans) {
    const events = plan.map(fact => factDraft(number++, fact));
    snapshots.putAll(events.map((_, index) => snapshotText(number - events.length + index)));
    const appended = await journal.withLock(witness => journal.append(witness, { events }));
    if (!appended.ok) throw new Error(appended.error.message);
  }
  return disk;
}

const verify = (disk: Awaited<ReturnType<typeof journalOf>>) =>
  verifyJournal({
    disk,
    hasher: nodeHasher,
    schema: factSchema,
    directory: DIRECTORY,
    snapshots: `${HOME}/snapshots`,
  });

const plans = fc.array(
  fc.array(fc.record({ text: fc.string({ unit: 'binary' }), withSnapshot: fc.boolean() }), {
    minLength: 1,
    maxLength: 4,
  }),
  { minLength: 1, maxLength: 5 },
);

describe('any journal', () => {
  it('[J1, J3, J23] gives back what was appended, however it was split, and verifies', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async made => {
        const disk = await journalOf(made);
        const read = openFacts({ disk, locks: memoryLocks(), home: HOME }).journal.read();
        const texts = read.ok ? read.value.events().map(event => event.data.text) : [];
        expect(texts).toEqual(made.flat().map(fact => fact.text));
        const report = verify(disk);
        expect(report).toMatchObject({ ok: true, segments: made.length, events: texts.length });
        const together = await journalOf([made.flat()]);
        expect(verify(together)?.head).toBe(report?.head);
      }),
      { numRuns: 60 },
    );
  });

  it('[J2, J4] is told from one whose manifest lines were dropped, doubled or moved', async () => {
    const edit = fc.oneof(
      fc.record({ kind: fc.constant('drop'), at: fc.nat() }),
      fc.record({ kind: fc.constant('double'), at: fc.nat() }),
      fc.record({ kind: fc.constant('move'), at: fc.nat(), to: fc.nat() }),
    );
    await fc.assert(
      fc.asyncProperty(plans, fc.array(edit, { minLength: 1, maxLength: 3 }), async (made, edits) => {
        const disk = await journalOf(made);
        const manifest = `${DIRECTORY}/manifest.jsonl`;
        const before = new TextDecoder().decode(disk.read(manifest) as Uint8Array);
        const lines = before.split(/(?<=\n)/);
        for (const change of edits) {
          const at = change.at % Math.max(lines.length, 1);
          const taken = lines.splice(at, change.kind === 'double' ? 0 : 1);
          if (change.kind === 'double') lines.splice(at, 0, lines[at] ?? '');
          if ('to' in change) lines.splice(change.to % (lines.length + 1), 0, ...taken);
        }
        const after = lines.join('');
        const file = disk.open(manifest, 'create');
        file.write(new TextEncoder().encode(after));
        // What was cut off at the end cannot be told from what was never appended; everything else can.
        expect(verify(disk)?.ok).toBe(before.startsWith(after));
      }),
      { numRuns: 300 },
    );
  });
});
