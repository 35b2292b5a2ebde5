import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { timestamp, userRole } from '@signalbox/model';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { thisMachine } from '../machine.ts';
import { DEFAULT_USER, openUsers, type UserTerms } from './users.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'users-'));
  now = Date.parse('2026-11-02T10:00:00.000Z');
});
afterEach(() => rmSync(folder, { recursive: true }));

let now: number;
const open = () => openUsers(path.join(folder, 'data'), { ...thisMachine(), clock: { now: () => now } });
const whose = (token: string) => open().whoIs(token)?.name;
const after = (days: number) => timestamp.parse(new Date(now + days * DAY_MS).toISOString());
function added(name: string, terms?: UserTerms): string {
  const outcome = open().add(name, terms);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value.token;
}
const DAY_MS = 86_400_000;

describe('users', () => {
  it('[A110] are known by tokens of their own, in every process, until they are removed', () => {
    const users = open();
    expect(users.list()).toEqual({ ok: true, value: [] });
    const [ada, grace] = [added('ada'), added('grace')];
    expect([ada, grace, 'x'].map(whose)).toEqual(['ada', 'grace', undefined]);
    expect(users.list()).toMatchObject({ ok: true, value: [{ name: 'ada' }, { name: 'grace' }] });
    expect(open().remove('ada')).toMatchObject({ ok: true, value: { name: 'ada' } });
    expect([ada, grace].map(whose)).toEqual([undefined, 'grace']);
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
    for (const name of ['ada', DEFAULT_USER, 'owner', 'cli', 'signalbox', 'plan', 'agent', 'system']) {
      expect(open().add(name)).toMatchObject({ ok: false, error: { code: 'user/taken' } });
    }
    for (const name of ['', 'Ada', '../x', '.ada', 'a b', 'a'.repeat(65), '__proto__']) {
      expect(open().add(name)).toMatchObject({ ok: false, error: { code: 'user/invalid' } });
    }
    expect(open().remove('grace')).toMatchObject({ ok: false, error: { code: 'user/unknown' } });
    expect(whose(token)).toBe('ada');
    expect(open().list()).toMatchObject({ ok: true, value: [{ name: 'ada' }] });
  });

  it('[A111] are nobody while their file is damaged, which is named; others are known', () => {
    const [ada, grace] = [added('ada'), added('grace')];
    writeFileSync(path.join(folder, 'data', 'users', 'grace.json'), '{');
    expect([ada, grace].map(whose)).toEqual(['ada', undefined]);
    expect(open().list()).toMatchObject({
      error: { code: 'store/unusable', message: expect.stringContaining('grace') },
    });
    expect(open().remove('grace')).toMatchObject({ error: { code: 'store/unusable' } });
  });

  it('[A220] have one role, and are viewers if none is given', () => {
    const roles = userRole.options.map(role => open().whoIs(added(`a-${role}`, { role }))?.role);
    expect(roles).toEqual(['viewer', 'approver', 'operator', 'owner', 'agent']);
    expect(open().whoIs(added('ada'))).toMatchObject({ name: 'ada', role: 'viewer', isExpired: false });
  });

  it('[A220] of a file from before there were roles are operators', () => {
    const token = added('ada');
    const file = path.join(folder, 'data', 'users', 'ada.json');
    const { tokenDigest, addedAt } = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ v: 1, tokenDigest, addedAt }));
    expect(open().whoIs(token)).toMatchObject({ name: 'ada', role: 'operator' });
    expect(open().rotate('ada')).toMatchObject({ ok: true, value: { user: { role: 'operator', addedAt } } });
  });

  it('[A221] have tokens that expire when they were said to', () => {
    const users = open();
    const token = added('ada', { role: 'operator', expiresAt: after(30) });
    const holder = users.whoIs(token);
    if (holder === undefined) throw new Error('the token is not known');
    now += 30 * DAY_MS - 1;
    expect([users.whoIs(token)?.isExpired, users.counts(holder)]).toEqual([false, true]);
    now += 1;
    expect([users.whoIs(token)?.isExpired, users.counts(holder)]).toEqual([true, false]);
    expect(open().add('grace', { expiresAt: after(0) })).toMatchObject({ ok: false, error: { code: 'user/invalid' } });
    expect(open().rotate('ada', { expiresAt: after(-1) })).toMatchObject({
      ok: false,
      error: { code: 'user/invalid' },
    });
    expect(open().list()).toMatchObject({ ok: true, value: [{ name: 'ada' }] });
  });

  it('[A222] get a new token with the same role and lifetime, or another expiry; the old one counts no more', () => {
    const old = added('ada', { role: 'approver', expiresAt: after(30) });
    const holder = open().whoIs(old);
    if (holder === undefined) throw new Error('the token is not known');
    now += 40 * DAY_MS;
    const rotated = open().rotate('ada');
    if (!rotated.ok) throw new Error(rotated.error.message);
    expect(rotated.value.user).toMatchObject({ role: 'approver', rotatedAt: after(0), expiresAt: after(30) });
    expect([open().whoIs(old), open().counts(holder)]).toEqual([undefined, false]);
    expect(open().whoIs(rotated.value.token)).toMatchObject({ name: 'ada', role: 'approver', isExpired: false });
    expect(open().rotate('ada', { expiresAt: after(1) })).toMatchObject({ value: { user: { expiresAt: after(1) } } });
    expect(open().rotate('grace')).toMatchObject({ ok: false, error: { code: 'user/unknown' } });
    expect(open().rotate('../ada')).toMatchObject({ ok: false, error: { code: 'user/unknown' } });
    expect(readdirSync(path.join(folder, 'data', 'users')).sort()).toEqual(['ada.json', 'ada.used']);
  });

  it('[A223] are listed with role, expiry and last use, which is noted once a minute and where it can be', () => {
    const users = open();
    const token = added('ada', { role: 'agent', expiresAt: after(1) });
    const shown = { name: 'ada', role: 'agent', addedAt: after(0), expiresAt: after(1) };
    expect(users.list()).toEqual({ ok: true, value: [shown] });
    const first = after(0);
    users.whoIs(token);
    now += 59_000;
    users.whoIs(token);
    expect(open().list()).toEqual({ ok: true, value: [{ ...shown, lastUsedAt: first }] });
    now += 1_000;
    users.whoIs(token);
    expect(open().list()).toEqual({ ok: true, value: [{ ...shown, lastUsedAt: after(0) }] });
    const used = path.join(folder, 'data', 'users', 'ada.used');
    rmSync(used);
    mkdirSync(used);
    now += 60_000;
    expect(users.whoIs(token)?.name).toBe('ada');
    rmSync(used, { recursive: true });
    expect(users.remove('ada')).toMatchObject({ ok: true });
    expect(readdirSync(path.join(folder, 'data', 'users'))).toEqual([]);
  });
});
