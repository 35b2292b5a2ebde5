import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { OwnerId } from '@signalbox/runs';
import { acquireOwner, readOwner } from '@signalbox/store';
import { fakeClock, startChild } from '@signalbox/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { childScript } from '../../../test/child-script.ts';
import { temporaryHome } from './support/stores.ts';

const CHILD = childScript(import.meta.dirname, 'support/child.ts');

const options = { id: 'me' as OwnerId, clock: fakeClock() };

describe('the owner of a data directory', () => {
  it('[D12] is one process; another is told who it is and where it listens', async () => {
    const home = temporaryHome();
    const child = startChild(CHILD, 'owning', home);
    onTestFinished(child.kill);
    expect(await child.firstLine).toBe('owned');
    const refused = acquireOwner(home, options);
    expect(refused).toMatchObject({
      ok: false,
      error: {
        code: 'store/owned',
        message: `The data directory is owned by process ${child.process.pid}, which listens at http://127.0.0.1:4280.`,
        details: { pid: child.process.pid, url: 'http://127.0.0.1:4280', owner: `child-${child.process.pid}` },
      },
    });
  });

  it('[D12] can be followed at once after it was killed, and what it left behind means nothing', async () => {
    const home = temporaryHome();
    const child = startChild(CHILD, 'owning', home);
    await child.firstLine;
    child.kill();
    await child.ended;
    expect(readOwner(home)).toMatchObject({ pid: child.process.pid });
    const owner = acquireOwner(home, options);
    expect(owner.ok).toBe(true);
    expect(readOwner(home)).toEqual({ v: 1, owner: 'me', pid: process.pid, since: '2026-01-01T00:00:00.000Z' });
    if (owner.ok) owner.value.release();
  });

  it('[D55] is known to the next one if it died, with its last sign of life', async () => {
    const home = temporaryHome();
    const child = startChild(CHILD, 'owning', home);
    await child.firstLine;
    child.kill();
    await child.ended;
    const clock = fakeClock();
    const second = acquireOwner(home, { id: 'second' as OwnerId, clock });
    if (!second.ok) throw new Error(second.error.message);
    expect(second.value.former?.id).toBe(`child-${child.process.pid}`);
    clock.advance(90_000);
    second.value.beat();
    // Its lock is given back and its record stays: as if it had died.
    const record = readFileSync(path.join(home, 'owner.json'));
    const seen = statSync(path.join(home, 'owner.json')).mtime;
    second.value.release();
    writeFileSync(path.join(home, 'owner.json'), record);
    utimesSync(path.join(home, 'owner.json'), seen, seen);
    const third = acquireOwner(home, options);
    if (!third.ok) throw new Error(third.error.message);
    expect(third.value.former).toEqual({ id: 'second', seenAt: '2026-01-01T00:01:30.000Z' });
    third.value.release();
    const fourth = acquireOwner(home, options);
    expect(fourth.ok && fourth.value.former).toBe(undefined);
    if (fourth.ok) fourth.value.release();
  });

  it('[D12] is one also within a process, until it lets go', () => {
    const home = temporaryHome();
    const first = acquireOwner(home, options);
    if (!first.ok) throw new Error(first.error.message);
    expect(acquireOwner(home, options)).toMatchObject({ error: { code: 'store/owned', details: { owner: 'me' } } });
    expect(statSync(path.join(home, 'owner.json')).mode & 0o777).toBe(0o600);
    first.value.release();
    expect(readOwner(home)).toBe(undefined);
    const second = acquireOwner(home, options);
    expect(second.ok).toBe(true);
    if (second.ok) second.value.release();
  });

  it('[D12] cannot be had where there is no directory', () => {
    expect(acquireOwner(path.join(temporaryHome(), 'missing'), options)).toMatchObject({
      error: { code: 'STORE_LOCK_UNUSABLE' },
    });
  });
});
