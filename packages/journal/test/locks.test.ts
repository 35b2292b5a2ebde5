import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostDisk, sqliteLocks, tryFileLock } from '@signalbox/journal';
import { ok } from '@signalbox/model';
import { factDraft, openFacts, startChild } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verify } from './support/plan.ts';
import { CHILD, temporaryHome } from './support/temporary-home.ts';

const open = (home: string) => openFacts({ disk: hostDisk, locks: sqliteLocks, home }).journal;

describe('writers in several processes', () => {
  it('[J13, J14] each wait or are told to try again, and nothing is lost', async () => {
    const home = temporaryHome();
    const share = 60;
    const children = [0, 1, 2].map(index => startChild(CHILD, 'sharing', home, index * share, share));
    const ended = await Promise.all(children.map(child => child.ended));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    const read = open(home).read();
    const texts = read.ok ? read.value.events().map(event => event.data.text) : [];
    expect(texts.toSorted()).toEqual(Array.from({ length: 3 * share }, (_, number) => `fact ${number}`).toSorted());
    expect(verify(hostDisk, home)?.ok).toBe(true);
  });

  it('[J14] one that holds the lock for long makes the other retry', async () => {
    const home = temporaryHome();
    const holder = startChild(CHILD, 'holding', home);
    onTestFinished(() => holder.kill());
    await holder.firstLine;
    const refused = await open(home).withLock(() => ok(undefined));
    expect(refused).toMatchObject({
      ok: false,
      error: { code: 'SESSION_LOCKED', retry: { kind: 'retryable_after_ms', afterMs: 500 } },
    });
  });

  it('[J13] one that is killed while it holds the lock blocks nobody', async () => {
    const home = temporaryHome();
    const holder = startChild(CHILD, 'holding', home);
    await holder.firstLine;
    holder.kill();
    await holder.ended;
    const journal = open(home);
    const appended = await journal.withLock(witness => journal.append(witness, { events: [factDraft(1)] }));
    expect(appended).toMatchObject({ ok: true, value: { isNew: true } });
  });
});

describe('writers in one process', () => {
  it('[J14] wait for each other, in the order they came, however long it takes', async () => {
    const home = temporaryHome();
    const order: number[] = [];
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, number) => {
        const journal = open(home);
        return journal.withLock(async witness => {
          order.push(number);
          await new Promise(setImmediate);
          return journal.append(witness, { events: [factDraft(number)] });
        });
      }),
    );
    expect(results.every(result => result.ok)).toBe(true);
    expect(order).toEqual(Array.from({ length: 40 }, (_, number) => number));
    const read = open(home).read();
    expect(read.ok && read.value.events().map(event => event.data.text)).toEqual(order.map(number => `fact ${number}`));
  });

  it('[J13] a lock file that is none is named, with what to do', async () => {
    const home = temporaryHome();
    const journal = open(home);
    await journal.withLock(() => ok(undefined));
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${home}/sessions/${journal.sessionId}/.lock`, 'not a database, and long enough to be told from one');
    const refused = await journal.withLock(() => ok(undefined));
    expect(refused).toMatchObject({ ok: false, error: { code: 'STORE_LOCK_UNUSABLE' } });
  });
});

describe('a lock file that was used before', () => {
  it('[J26] counts no longer once its path names another', async () => {
    const home = temporaryHome();
    for (let time = 0; time < 3; time++) expect((await open(home).withLock(() => ok(undefined))).ok).toBe(true);
    rmSync(`${home}/sessions`, { recursive: true });
    const holder = startChild(CHILD, 'holding', home);
    onTestFinished(() => holder.kill());
    await holder.firstLine;
    expect(await open(home).withLock(() => ok(undefined))).toMatchObject({ error: { code: 'SESSION_LOCKED' } });
  });

  it('[J26] is locked again by whoever comes, here or in another process', async () => {
    const home = temporaryHome();
    for (let time = 0; time < 3; time++) expect((await open(home).withLock(() => ok(undefined))).ok).toBe(true);
    const holder = startChild(CHILD, 'holding', home);
    onTestFinished(() => holder.kill());
    expect(await holder.firstLine).toBe('held');
    expect(await open(home).withLock(() => ok(undefined))).toMatchObject({ error: { code: 'SESSION_LOCKED' } });
    holder.kill();
    await holder.ended;
    expect((await open(home).withLock(() => ok(undefined))).ok).toBe(true);
  });

  it('[J26] is shared by many or held by one', () => {
    const file = `${temporaryHome()}/lock`;
    const held = (mode: 'exclusive' | 'shared') => {
      const lock = tryFileLock(file, mode);
      if (!lock.ok) throw new Error(lock.error.code);
      return lock.value;
    };
    for (let time = 0; time < 3; time++) {
      const both = [held('shared'), held('shared')];
      expect(tryFileLock(file, 'exclusive')).toEqual({ ok: false, error: { code: 'busy' } });
      for (const lock of both) lock.release();
      const alone = held('exclusive');
      expect(tryFileLock(file, 'shared')).toEqual({ ok: false, error: { code: 'busy' } });
      alone.release();
      const next = held('exclusive');
      expect(() => alone.release()).toThrow('released twice');
      expect(tryFileLock(file, 'shared')).toEqual({ ok: false, error: { code: 'busy' } });
      next.release();
    }
  });

  it('[J34] is its owner’s alone, whatever the umask, and so is the journal', async () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const home = temporaryHome();
    const journal = open(home);
    await journal.withLock(() => ok(undefined));
    const lock = `${home}/sessions/${journal.sessionId}/.lock`;
    const modeOf = (path: string) => statSync(path).mode & 0o777;
    expect([modeOf(lock), modeOf(`${home}/sessions`), modeOf(`${home}/sessions/${journal.sessionId}`)]).toEqual([
      0o600, 0o700, 0o700,
    ]);
    hostDisk.open(`${home}/file`, 'create').close();
    expect(modeOf(`${home}/file`)).toBe(0o600);
    const before = `${home}/before.lock`;
    writeFileSync(before, '', { mode: 0o644 });
    const held = tryFileLock(before, 'exclusive');
    expect([held.ok, modeOf(before)]).toEqual([true, 0o600]);
  });

  it('[J27] is one of few that stay open, and has no other file beside it', () => {
    const home = temporaryHome();
    const openFiles = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
    const before = openFiles();
    for (let time = 0; time < 3; time++) {
      for (let number = 0; number < 100; number++) {
        const lock = tryFileLock(`${home}/${number}`, 'exclusive');
        expect(readdirSync(home).filter(name => name.includes('-'))).toEqual([]);
        if (lock.ok) lock.value.release();
      }
    }
    expect(openFiles() - before).toBeLessThanOrEqual(16);
  });
});
