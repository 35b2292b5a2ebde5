import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { playDemo, verifyDirectory } from '@signalbox/app';
import { DiskError, hostDisk, sqliteLocks } from '@signalbox/journal';
import { factDraft, openFacts, TEST_SESSION } from '@signalbox/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { childProgram, temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
let copies = 0;
let journalPath = '';
let head = '';

beforeAll(async () => {
  const played = await playDemo({ directory: path.join(folder, 'original'), program: childProgram, onStep() {} });
  if (!played.ok) throw new Error(played.error.message);
  ({ journalPath, head } = played.value);
});

/** A data directory with one healthy journal, for one test. */
function dataDirectory(): { readonly home: string; readonly journal: string } {
  const home = path.join(folder, `copy-${copies++}`);
  cpSync(path.join(folder, 'original'), home, { recursive: true });
  return { home, journal: path.join(home, journalPath) };
}

const healthy = () => ({
  ok: true,
  health: 'healthy',
  sessionId: path.basename(journalPath),
  events: 14,
  head,
  segments: 4,
  pins: 2,
  notes: [],
});

describe('a journal', () => {
  it('[A1] is verified by any path that leads to it', () => {
    const { home, journal } = dataDirectory();
    symlinkSync(journal, path.join(home, 'link'));
    const paths = [journal, `${journal}/`, path.relative(process.cwd(), journal), path.join(home, 'link')];
    expect(paths.map(given => verifyDirectory(given))).toEqual(paths.map(() => ({ ok: true, value: healthy() })));
  });

  it('[A1] is not touched', () => {
    const { home, journal } = dataDirectory();
    const listing = () =>
      readdirSync(home, { recursive: true, encoding: 'utf8' }).map(name => [
        name,
        statSync(path.join(home, name)).mtimeMs,
        statSync(path.join(home, name)).ctimeMs,
      ]);
    const before = listing();
    verifyDirectory(journal, { expectHead: head });
    expect(listing()).toEqual(before);
  });

  it('[A1] can be verified while it is being written', async () => {
    const { journal } = dataDirectory();
    const lock = await sqliteLocks.acquire(path.join(journal, '.lock'));
    if (!lock.ok) throw new Error(lock.error.code);
    expect(verifyDirectory(journal)).toEqual({ ok: true, value: healthy() });
    lock.value.release();
  });

  it('that is empty is healthy', () => {
    const journal = path.join(folder, 'empty');
    mkdirSync(journal);
    writeFileSync(path.join(journal, 'manifest.jsonl'), '');
    expect(verifyDirectory(journal)).toMatchObject({ ok: true, value: { ok: true, events: 0, segments: 0 } });
  });

  it.each([
    ['garbage', 'what is this\n', 'record_not_json'],
    ['binary', Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x80]), 'record_not_json'],
    ['some other JSON lines', '{"a":1}\n', 'record_invalid'],
    ['a newer version', '{"v":2}\n', 'record_version_unknown'],
  ])('whose manifest is %s has that defect', (_name, manifest, code) => {
    const { journal } = dataDirectory();
    writeFileSync(path.join(journal, 'manifest.jsonl'), manifest);
    const verified = verifyDirectory(journal);
    expect(verified).toMatchObject({ ok: true, value: { ok: false, events: 0, defect: { code } } });
  });
});

describe('what is not a journal', () => {
  const refusal = (directory: string) => {
    const verified = verifyDirectory(directory);
    return verified.ok ? verified.value : [verified.error.code, verified.error.message];
  };

  it('[A2] is said to be none, and why', () => {
    const { home, journal } = dataDirectory();
    const file = path.join(journal, 'manifest.jsonl');
    expect([refusal(path.join(home, 'nowhere')), refusal(file), refusal(home), refusal(`${file}/below`)]).toEqual([
      ['command/not-a-journal', `${home}/nowhere is not a journal: there is no such directory.`],
      ['command/not-a-journal', `${file} is not a journal: it is not a directory.`],
      ['command/not-a-journal', `${home} is not a journal: it has no manifest.jsonl.`],
      ['command/not-a-journal', `${file}/below is not a journal: it cannot be opened (ENOTDIR).`],
    ]);
    rmSync(file);
    expect(refusal(journal)).toEqual([
      'command/not-a-journal',
      `${journal} is not a journal: it has events/ but no manifest.jsonl.`,
    ]);
  });

  it('[A2] may be one that cannot be read', () => {
    const { journal } = dataDirectory();
    const refuse = (code: string) => ({
      ...hostDisk,
      read(): never {
        throw new DiskError('open', code);
      },
    });
    expect(verifyDirectory(journal, {}, refuse('EACCES'))).toMatchObject({
      error: { code: 'command/not-a-journal', message: `${journal} is not a journal: it cannot be read (EACCES).` },
    });
    expect(verifyDirectory(journal, {}, refuse('EIO'))).toMatchObject({
      error: { code: 'STORE_IO_FAILED', retry: { kind: 'retryable_immediate' } },
    });
  });
});

describe('the family', () => {
  it('[A3] of a journal that starts with an unknown kind is unknown, and its event invalid', async () => {
    const home = path.join(folder, 'facts');
    mkdirSync(home);
    const { journal } = openFacts({ disk: hostDisk, locks: sqliteLocks, home });
    const appended = await journal.withLock(witness => journal.append(witness, { events: [factDraft(0)] }));
    expect(appended).toMatchObject({ ok: true });
    expect(verifyDirectory(path.join(home, 'sessions', TEST_SESSION))).toMatchObject({
      ok: true,
      value: {
        ok: false,
        health: 'corrupt_head',
        defect: {
          code: 'event_invalid',
          file: 'events/00000000-00000000.jsonl',
          line: 1,
          reason: 'kind: "fact_recorded" starts no journal that is known here (known: log, project, run, session)',
        },
      },
    });
  });

  it('[A3] is not looked for behind a link', () => {
    const { home, journal } = dataDirectory();
    const elsewhere = path.join(home, 'elsewhere');
    cpSync(path.join(journal, 'events'), elsewhere, { recursive: true });
    rmSync(path.join(journal, 'events'), { recursive: true });
    symlinkSync(elsewhere, path.join(journal, 'events'));
    const opened: string[] = [];
    const disk = {
      ...hostDisk,
      read(file: string) {
        opened.push(path.relative(journal, file));
        return hostDisk.read(file);
      },
    };
    expect(verifyDirectory(journal, {}, disk)).toMatchObject({ value: { defect: { code: 'segment_not_a_file' } } });
    expect(new Set(opened)).toEqual(new Set(['manifest.jsonl']));
  });
});

describe('the snapshots', () => {
  it('[A4] are found beside the collection, and checked', () => {
    const { home, journal } = dataDirectory();
    const [name = ''] = readdirSync(path.join(home, 'snapshots'));
    const snapshot = path.join(home, 'snapshots', name);
    writeFileSync(snapshot, `${readFileSync(snapshot, 'utf8')} `);
    expect(verifyDirectory(journal)).toMatchObject({
      value: { ok: false, defect: { code: 'snapshot_digest_mismatch', file: `snapshots/${name}` } },
    });
    rmSync(snapshot);
    expect(verifyDirectory(journal)).toMatchObject({
      value: { ok: false, defect: { code: 'snapshot_missing', file: `snapshots/${name}` } },
    });
  });

  it('[A4] can be elsewhere; if they are nowhere, a note says that they were not checked', () => {
    const { home, journal } = dataDirectory();
    const alone = path.join(home, 'alone');
    cpSync(journal, alone, { recursive: true });
    rmSync(path.join(alone, '.lock'), { force: true });
    const notes = ['No snapshot store was found: the 2 pinned snapshots were not checked.'];
    expect(verifyDirectory(alone)).toEqual({ ok: true, value: { ...healthy(), notes } });
    const snapshots = path.join(home, 'snapshots');
    expect(verifyDirectory(alone, { snapshots })).toEqual({ ok: true, value: healthy() });
    expect(verifyDirectory(alone, { snapshots: path.join(home, 'nowhere') })).toMatchObject({
      ok: false,
      error: { code: 'command/usage', message: `${home}/nowhere is not a snapshot store: there is no such directory.` },
    });
  });
});

describe('the expected head', () => {
  it('[A5] must be one', () => {
    const { journal } = dataDirectory();
    expect(verifyDirectory(journal, { expectHead: head })).toEqual({ ok: true, value: healthy() });
    for (const expectHead of ['', 'latest', head.slice(0, -1), head.toUpperCase(), `${head}\n`]) {
      expect(verifyDirectory(journal, { expectHead })).toMatchObject({
        ok: false,
        error: {
          code: 'command/usage',
          suggestion: 'A head is "sha256:" and 64 lower-case hex digits, as "signalbox verify" prints it.',
        },
      });
    }
  });

  it('[A1] of another history is a defect', () => {
    const { journal } = dataDirectory();
    const other = `sha256:${'0'.repeat(63)}1`;
    expect(verifyDirectory(journal, { expectHead: other })).toMatchObject({
      value: { ok: false, health: 'healthy', defect: { code: 'head_mismatch' } },
    });
  });
});
