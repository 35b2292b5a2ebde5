import { hostDisk, sqliteLocks } from '@signalbox/journal';
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
