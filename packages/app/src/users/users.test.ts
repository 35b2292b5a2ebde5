import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { thisMachine } from '../machine.ts';
import { DEFAULT_USER, openUsers } from './users.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'users-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = () => openUsers(path.join(folder, 'data'), thisMachine());
function added(name: string): string {
  const outcome = open().add(name);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value.token;
}

describe('users', () => {
  it('[A110] are known by tokens of their own, in every process, until they are removed', () => {
    const users = open();
    expect(users.list()).toEqual({ ok: true, value: [] });
    const [ada, grace] = [added('ada'), added('grace')];
    expect([users.whoIs(ada), users.whoIs(grace), users.whoIs('x')]).toEqual(['ada', 'grace', undefined]);
    expect(users.list()).toMatchObject({ ok: true, value: [{ name: 'ada' }, { name: 'grace' }] });
    expect(open().remove('ada')).toMatchObject({ ok: true, value: { name: 'ada' } });
    expect([users.whoIs(ada), users.whoIs(grace)]).toEqual([undefined, 'grace']);
  });

  it('[A110] leave no token on disk, and files that only their owner reads', () => {
    const token = added('ada');
    const place = path.join(folder, 'data', 'users');
    expect(readdirSync(place)).toEqual(['ada.json']);
    expect(readFileSync(path.join(place, 'ada.json'), 'utf8')).not.toContain(token);
    expect(statSync(path.join(place, 'ada.json')).mode & 0o777).toBe(0o600);
    expect(statSync(place).mode & 0o777).toBe(0o700);
  });

  it('[A111] are refused where the name is taken, reserved or not a name; nothing changes', () => {
    const token = added('ada');
    for (const name of ['ada', DEFAULT_USER]) {
      expect(open().add(name)).toMatchObject({ ok: false, error: { code: 'user/taken' } });
    }
    for (const name of ['', 'Ada', '../x', '.ada', 'a b', 'a'.repeat(65), '__proto__']) {
      expect(open().add(name)).toMatchObject({ ok: false, error: { code: 'user/invalid' } });
    }
    expect(open().remove('grace')).toMatchObject({ ok: false, error: { code: 'user/unknown' } });
    expect(open().whoIs(token)).toBe('ada');
    expect(open().list()).toMatchObject({ ok: true, value: [{ name: 'ada' }] });
  });

  it('[A111] are nobody while their file is damaged, which is named; others are known', () => {
    const [ada, grace] = [added('ada'), added('grace')];
    writeFileSync(path.join(folder, 'data', 'users', 'grace.json'), '{');
    expect([open().whoIs(ada), open().whoIs(grace)]).toEqual(['ada', undefined]);
    expect(open().list()).toMatchObject({
      error: { code: 'store/unusable', message: expect.stringContaining('grace') },
    });
    expect(open().remove('grace')).toMatchObject({ error: { code: 'store/unusable' } });
  });
});
