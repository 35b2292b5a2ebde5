import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accessToken, readToken } from './access-token.ts';
import { thisMachine } from './machine.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'token-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the token of a data directory', () => {
  it('[A31] is made once, at random, and is readable by its owner alone', () => {
    const machine = thisMachine();
    const made = accessToken(folder, machine);
    expect(made).toEqual({ ok: true, value: { token: expect.stringMatching(/^[\w-]{43}$/), isNew: true } });
    if (!made.ok) throw new Error(made.error.message);
    const { token } = made.value;
    expect(accessToken(folder, machine)).toEqual({ ok: true, value: { token, isNew: false } });
    expect(readToken(folder)).toEqual({ ok: true, value: token });
    expect(statSync(path.join(folder, 'token')).mode & 0o777).toBe(0o600);
  });

  it('[A31] is closed to others again if somebody opened it', () => {
    accessToken(folder, thisMachine());
    chmodSync(path.join(folder, 'token'), 0o644);
    accessToken(folder, thisMachine());
    expect(statSync(path.join(folder, 'token')).mode & 0o777).toBe(0o600);
  });

  it('[A31] is refused when it is none, and not replaced', () => {
    writeFileSync(path.join(folder, 'token'), 'short');
    expect(accessToken(folder, thisMachine())).toMatchObject({ ok: false, error: { code: 'store/unusable' } });
    expect(readFileSync(path.join(folder, 'token'), 'utf8')).toBe('short');
    expect(readToken(path.join(folder, 'nowhere'))).toMatchObject({ ok: false });
  });
});
