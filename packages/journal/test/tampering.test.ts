import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type DefectCode, hostDisk, nodeHasher, sqliteLocks, verifyJournal } from '@signalbox/journal';
import { canonicalJson } from '@signalbox/model';
import { factDraft, factSchema, type LossyDisk, memoryLocks, openFacts } from '@signalbox/testkit';
import { describe, expect, it } from 'vitest';
import { verify } from './support/plan.ts';
import {
  bytesOf,
  DIRECTORY,
  HOME,
  linesOf,
  MANIFEST,
  replaceFile,
  smallJournal,
  withLines,
} from './support/small-journal.ts';
import { temporaryHome } from './support/temporary-home.ts';

const isSoak = process.env.SIGNALBOX_SOAK === '1';
const FIRST_SEGMENT = `${DIRECTORY}/events/00000000-00000001.jsonl`;
const LAST_SEGMENT = `${DIRECTORY}/events/00000002-00000004.jsonl`;

describe('a single byte that was flipped', () => {
  const flips = isSoak ? Array.from({ length: 255 }, (_, index) => index + 1) : [0x01, 0x08, 0x20, 0x7f, 0x80];

  it.each([true, false])('[J19, J23] is found wherever it is (last append with pins: %s)', async withPins => {
    const disk = await smallJournal(withPins);
    const files = [MANIFEST, FIRST_SEGMENT, LAST_SEGMENT];
    for (const name of disk.list(`${HOME}/snapshots`)) files.push(`${HOME}/snapshots/${name}`);
    // A snapshot that nothing refers to belongs to no journal.
    if (!withPins)
      files.splice(
        files.findIndex(file => isUnpinned(disk, file)),
        1,
      );
    const whole = events(disk);
    const missed: string[] = [];
    let count = 0;
    for (const file of files) {
      const bytes = bytesOf(disk, file);
      for (const offset of bytes.keys()) {
        for (const flip of flips) {
          count += 1;
          const changed = Uint8Array.from(bytes);
          changed[offset] = (bytes[offset] ?? 0) ^ flip;
          const damaged = replaceFile(disk, file, changed);
          const report = verify(damaged, HOME);
          const salvaged = openFacts({ disk: damaged, locks: memoryLocks(), home: HOME }).journal.salvage();
          const prefix = salvaged.ok ? salvaged.value.view.events() : [];
          const isFound = report?.ok === false && report.health !== 'healthy' && report.defect !== undefined;
          const isPrefix = canonicalJson(prefix) === canonicalJson(whole.slice(0, prefix.length));
          if (!isFound || !isPrefix) missed.push(`${file} ${offset} ^ ${flip}: ${report?.defect?.code}`);
        }
      }
    }
    expect(missed).toEqual([]);
    expect(count).toBeGreaterThan(10_000);
  });
});

interface Tampering {
  readonly change: (disk: LossyDisk) => LossyDisk;
  readonly code: DefectCode;
  readonly health: 'corrupt_tail' | 'corrupt_head' | 'unknown_version';
}

const editRecord = (disk: LossyDisk, line: number, edit: Record<string, unknown>): LossyDisk => {
  const lines = linesOf(disk, MANIFEST).map((text, index) =>
    index === line ? canonicalJson({ ...JSON.parse(text), ...edit }) : text,
  );
  return withLines(disk, MANIFEST, lines);
};

/** Changes a segment and makes its record attest the change: a forger who knows the format. */
const forgeSegment = (disk: LossyDisk, edit: (lines: readonly string[]) => readonly string[]): LossyDisk => {
  const forged = withLines(disk, LAST_SEGMENT, edit(linesOf(disk, LAST_SEGMENT)));
  const bytes = bytesOf(forged, LAST_SEGMENT);
  return editRecord(forged, 3, { bytes: bytes.length, sha256: nodeHasher(bytes) });
};

const editEvent = (line: number, edit: Record<string, unknown>) => (lines: readonly string[]) =>
  lines.map((text, index) => (index === line ? canonicalJson({ ...JSON.parse(text), ...edit }) : text));

const swap = (lines: readonly string[], a: number, b: number): readonly string[] =>
  lines.with(a, lines[b] ?? '').with(b, lines[a] ?? '');

/** The small journal's manifest: 0 segment, 1 and 2 its pins, 3 segment, 4 its pin. */
const tamperings: Record<string, Tampering> = {
  'a truncated segment': {
    change: disk => replaceFile(disk, LAST_SEGMENT, bytesOf(disk, LAST_SEGMENT).slice(0, -20)),
    code: 'segment_size_mismatch',
    health: 'corrupt_tail',
  },
  'a first segment that was truncated': {
    change: disk => replaceFile(disk, FIRST_SEGMENT, new Uint8Array(0)),
    code: 'segment_size_mismatch',
    health: 'corrupt_head',
  },
  'a record moved before another': {
    change: disk => withLines(disk, MANIFEST, swap(linesOf(disk, MANIFEST), 1, 2)),
    code: 'record_out_of_order',
    health: 'corrupt_head',
  },
  'a segment record moved before another': {
    change: disk => withLines(disk, MANIFEST, swap(linesOf(disk, MANIFEST), 0, 3)),
    code: 'record_out_of_order',
    health: 'corrupt_head',
  },
  'a record taken out and the rest renumbered': {
    change: disk => {
      const lines = linesOf(disk, MANIFEST).toSpliced(1, 1);
      const renumbered = lines.map((text, index) => canonicalJson({ ...JSON.parse(text), manifestIndex: index }));
      return withLines(disk, MANIFEST, renumbered);
    },
    code: 'pin_missing',
    health: 'corrupt_head',
  },
  'a forged digest': {
    change: disk => editRecord(disk, 3, { sha256: nodeHasher('something else') }),
    code: 'segment_digest_mismatch',
    health: 'corrupt_tail',
  },
  'a forged length': {
    change: disk => editRecord(disk, 3, { bytes: 1 }),
    code: 'segment_size_mismatch',
    health: 'corrupt_tail',
  },
  'bounds that leave a gap': {
    change: disk => editRecord(disk, 3, { firstEventIndex: 3 }),
    code: 'segment_out_of_order',
    health: 'corrupt_tail',
  },
  'bounds that run backwards': {
    change: disk => editRecord(disk, 3, { lastEventIndex: 1 }),
    code: 'segment_out_of_order',
    health: 'corrupt_tail',
  },
  'a pin of a snapshot that its event does not refer to': {
    change: disk => editRecord(disk, 4, { snapshotRef: nodeHasher('something else') }),
    code: 'pin_unfounded',
    health: 'corrupt_tail',
  },
  'a pin by an event that does not exist': {
    change: disk => editRecord(disk, 4, { eventIndex: 9 }),
    code: 'pin_unfounded',
    health: 'corrupt_tail',
  },
  'a pin by another event': {
    change: disk => editRecord(disk, 4, { createdByEventId: factDraft(77).eventId }),
    code: 'pin_unfounded',
    health: 'corrupt_tail',
  },
  'a record of another session': {
    change: disk => editRecord(disk, 3, { sessionId: '01900000-0000-7000-8000-00000000000f' }),
    code: 'session_mismatch',
    health: 'corrupt_tail',
  },
  'a record of a newer version': {
    change: disk => editRecord(disk, 3, { v: 2 }),
    code: 'record_version_unknown',
    health: 'unknown_version',
  },
  'an unknown field on a known version': {
    change: disk => editRecord(disk, 3, { compression: 'none' }),
    code: 'record_invalid',
    health: 'corrupt_tail',
  },
  'an unknown kind of record': {
    change: disk => editRecord(disk, 3, { kind: 'segment_removed' }),
    code: 'record_invalid',
    health: 'corrupt_tail',
  },
  'a record that says the same in other bytes': {
    change: disk =>
      withLines(disk, MANIFEST, linesOf(disk, MANIFEST).with(3, linesOf(disk, MANIFEST)[3]?.replace(':', ': ') ?? '')),
    code: 'record_not_canonical',
    health: 'corrupt_tail',
  },
  'a line of garbage': {
    change: disk => withLines(disk, MANIFEST, linesOf(disk, MANIFEST).with(4, 'garbage')),
    code: 'record_not_json',
    health: 'corrupt_tail',
  },
  'a path that leaves the directory': {
    change: disk => editRecord(disk, 3, { segmentRelPath: '../../../etc/passwd' }),
    code: 'segment_path_refused',
    health: 'corrupt_tail',
  },
  'a path that leaves the directory by a detour': {
    change: disk => editRecord(disk, 3, { segmentRelPath: 'events/../events/00000002-00000004.jsonl' }),
    code: 'segment_path_refused',
    health: 'corrupt_tail',
  },
  'an absolute path': {
    change: disk => editRecord(disk, 3, { segmentRelPath: '/etc/passwd' }),
    code: 'segment_path_refused',
    health: 'corrupt_tail',
  },
  'an event of a newer version, attested': {
    change: disk => forgeSegment(disk, editEvent(0, { v: 2 })),
    code: 'event_version_unknown',
    health: 'unknown_version',
  },
  'an event with an unknown field, attested': {
    change: disk => forgeSegment(disk, editEvent(0, { approvedBy: 'nobody' })),
    code: 'event_invalid',
    health: 'corrupt_tail',
  },
  'an event of another session, attested': {
    change: disk => forgeSegment(disk, editEvent(0, { sessionId: '01900000-0000-7000-8000-00000000000f' })),
    code: 'event_session_mismatch',
    health: 'corrupt_tail',
  },
  'events in another order, attested': {
    change: disk => forgeSegment(disk, lines => swap(lines, 0, 1)),
    code: 'event_out_of_order',
    health: 'corrupt_tail',
  },
  'an event too few, attested': {
    change: disk => forgeSegment(disk, lines => lines.slice(0, -1)),
    code: 'event_count_mismatch',
    health: 'corrupt_tail',
  },
  'a dedupe key used again, attested': {
    change: disk => forgeSegment(disk, editEvent(0, { dedupeKey: 'fact_recorded:1' })),
    code: 'dedupe_key_repeated',
    health: 'corrupt_tail',
  },
  'a dedupe key used twice in one segment, attested': {
    change: disk => forgeSegment(disk, editEvent(0, { dedupeKey: 'fact_recorded:5' })),
    code: 'dedupe_key_repeated',
    health: 'corrupt_tail',
  },
  'a dedupe key that is none, attested': {
    change: disk => forgeSegment(disk, editEvent(0, { dedupeKey: 'Fact 3' })),
    code: 'event_invalid',
    health: 'corrupt_tail',
  },
  'an event that is not JSON, attested': {
    change: disk => forgeSegment(disk, lines => lines.with(0, '{')),
    code: 'event_not_json',
    health: 'corrupt_tail',
  },
  'an event with half a character, attested': {
    change: disk => forgeSegment(disk, lines => lines.with(0, lines[0]?.replace('fact 3', '\\ud83d') ?? '')),
    code: 'event_not_canonical',
    health: 'corrupt_tail',
  },
  'an event in other than canonical form, attested': {
    change: disk => forgeSegment(disk, lines => lines.with(0, lines[0]?.replace(':', ': ') ?? '')),
    code: 'event_not_canonical',
    health: 'corrupt_tail',
  },
};

describe.each(Object.entries(tamperings))('%s', (_name, { change, code, health }) => {
  it('[J1, J2, J3, J4, J6, J19, J20] is found, named and mapped to its health', async () => {
    const disk = change(await smallJournal());
    expect(verify(disk, HOME)).toMatchObject({ ok: false, health, defect: { code, meaning: expect.any(String) } });
  });
});

/** Only the verifier asks for canonical form: to a reader the bytes are as they were attested. */
const foundByReaders = Object.entries(tamperings).filter(([, { code }]) => code !== 'event_not_canonical');

describe.each(foundByReaders)('%s', (_name, { change, code, health }) => {
  it('[J21] lets nothing be appended, and its valid prefix be read as salvaged', async () => {
    const whole = await smallJournal();
    const { journal } = openFacts({ disk: change(whole), locks: memoryLocks(), home: HOME });
    const salvaged = journal.salvage();
    expect(salvaged).toMatchObject({ ok: true, value: { health, defect: { code } } });
    const prefix = salvaged.ok ? salvaged.value.view.events() : [];
    expect(prefix).toEqual(events(whole).slice(0, prefix.length));
    const appended = await journal.withLock(witness => journal.append(witness, { events: [factDraft(9)] }));
    const expected = health === 'unknown_version' ? 'SESSION_UNKNOWN_VERSION' : 'SESSION_CORRUPT';
    expect(appended).toMatchObject({ ok: false, error: { code: expected } });
  });
});

describe('a pinned snapshot', () => {
  it('[J24] that is gone is named', async () => {
    const disk = await smallJournal();
    const [name = ''] = disk.list(`${HOME}/snapshots`);
    const changed = disk.copy();
    changed.rename(`${HOME}/snapshots/${name}`, `${HOME}/snapshots/elsewhere`);
    expect(verify(changed, HOME)).toMatchObject({
      ok: false,
      defect: { code: 'snapshot_missing', file: `snapshots/${name}` },
    });
  });
});

describe('on a real disk', () => {
  const made = async (): Promise<{ home: string; directory: string }> => {
    const home = temporaryHome();
    const { journal } = openFacts({ disk: hostDisk, locks: sqliteLocks, home });
    await journal.withLock(witness => journal.append(witness, { events: [factDraft(1)] }));
    return { home, directory: `${home}/sessions/${journal.sessionId}` };
  };
  const check = (directory: string) =>
    verifyJournal({ disk: hostDisk, hasher: nodeHasher, schema: factSchema, directory });

  it('[J6] a link in the place of a segment is not followed', async () => {
    const { directory } = await made();
    const segment = `${directory}/events/00000000-00000000.jsonl`;
    renameSync(segment, `${directory}/moved.jsonl`);
    symlinkSync(`${directory}/moved.jsonl`, segment);
    expect(check(directory)).toMatchObject({
      ok: false,
      health: 'corrupt_head',
      defect: { code: 'segment_not_a_file' },
    });
  });

  it('[J6] a link in the place of the events directory is not followed', async () => {
    const { directory } = await made();
    renameSync(`${directory}/events`, `${directory}/moved`);
    symlinkSync(`${directory}/moved`, `${directory}/events`);
    expect(check(directory)).toMatchObject({ ok: false, defect: { code: 'segment_not_a_file', file: 'events' } });
  });

  it('[J6] a link in the place of the manifest is not followed', async () => {
    const { directory } = await made();
    renameSync(`${directory}/manifest.jsonl`, `${directory}/moved.jsonl`);
    symlinkSync(`${directory}/moved.jsonl`, `${directory}/manifest.jsonl`);
    expect(check(directory)).toMatchObject({ ok: false, defect: { code: 'manifest_not_a_file' } });
  });

  it('[J6] a directory in the place of a segment is named', async () => {
    const { directory } = await made();
    const segment = `${directory}/events/00000000-00000000.jsonl`;
    rmSync(segment);
    mkdirSync(segment);
    expect(check(directory)).toMatchObject({ ok: false, defect: { code: 'segment_not_a_file' } });
  });

  it('[J6] a pipe in the place of a segment or of the manifest is named, and not waited for', async () => {
    const { directory } = await made();
    const segment = `${directory}/events/00000000-00000000.jsonl`;
    rmSync(segment);
    execFileSync('mkfifo', [segment]);
    expect(check(directory)).toMatchObject({ ok: false, defect: { code: 'segment_not_a_file' } });
    rmSync(`${directory}/manifest.jsonl`);
    execFileSync('mkfifo', [`${directory}/manifest.jsonl`]);
    expect(check(directory)).toMatchObject({ ok: false, defect: { code: 'manifest_not_a_file' } });
  });

  it('[J19] a removed segment is named', async () => {
    const { directory } = await made();
    rmSync(`${directory}/events/00000000-00000000.jsonl`);
    expect(check(directory)).toMatchObject({ ok: false, health: 'corrupt_head', defect: { code: 'segment_missing' } });
  });

  it('[J5] garbage in the directory is ignored, and segments that no record names are counted', async () => {
    const { directory } = await made();
    writeFileSync(`${directory}/notes.txt`, 'garbage');
    writeFileSync(`${directory}/events/00000001-00000009.jsonl`, 'garbage');
    writeFileSync(`${directory}/events/.segment.tmp`, 'garbage');
    mkdirSync(`${directory}/cache`);
    expect(check(directory)).toMatchObject({
      ok: true,
      health: 'healthy',
      events: 1,
      notes: ['2 file(s) in events/ are named by no record and were ignored.'],
    });
  });
});

function events(disk: LossyDisk) {
  const read = openFacts({ disk, locks: memoryLocks(), home: HOME }).journal.read();
  return read.ok ? read.value.events() : [];
}

function isUnpinned(disk: LossyDisk, file: string): boolean {
  const hex = /([0-9a-f]{64})\.json$/.exec(file)?.[1];
  return hex !== undefined && !linesOf(disk, MANIFEST).some(line => line.includes(hex));
}
