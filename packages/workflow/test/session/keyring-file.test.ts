import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { memoryLocks, startChild } from '@signalbox/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { childScript } from '../../../../test/child-script.ts';
import { openKeyringFile } from '../../src/session/files/keyring-file.ts';
import { nodeMac } from '../../src/session/files/node-mac.ts';
import { newKeyring } from '../../src/session/keyring.ts';
import { mintToken, readToken } from '../../src/session/tokens.ts';
import { attempt, errorOf, SESSION, value } from './guided-session.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'keyring-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const file = () => path.join(home, 'keys/keyring.json');
const open = () => openKeyringFile({ home, locks: memoryLocks() });
const ack = {
  tokenKind: 'ack',
  sessionId: SESSION,
  runId: SESSION as never,
  nodeId: SESSION as never,
  attemptId: attempt(1),
} as const;

describe('the keyring file', () => {
  it('[W70] is made once, for its user alone, and found again', () => {
    const first = value(open().load());
    expect(first.previous).toBeUndefined();
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file())).mode & 0o777).toBe(0o700);
    expect(value(open().load())).toEqual(first);
    expect(readdirSync(path.dirname(file()))).toEqual(['keyring.json']);
  });

  it('[W70] what others could read is closed to them', () => {
    value(open().load());
    chmodSync(file(), 0o644);
    value(open().load());
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it('[W68, W70] a rotation is seen by who had it open, and tokens of before go on', async () => {
    const [here, there] = [open(), open()];
    const before = value(here.load());
    const token = mintToken(nodeMac, before, ack);
    const after = value(await there.rotate());
    expect(after.previous).toEqual(before.current);
    expect(value(here.load())).toEqual(after);
    expect(value(readToken(nodeMac, value(here.load()), token, 'ack')).attemptId).toBe(attempt(1));
    await there.rotate();
    expect(errorOf(readToken(nodeMac, value(here.load()), token, 'ack')).code).toBe('TOKEN_BAD_SIGNATURE');
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it.each<[string, () => void]>([
    ['not JSON', () => writeFileSync(file(), '{')],
    ['empty', () => writeFileSync(file(), '')],
    [
      'too large',
      () =>
        writeFileSync(
          file(),
          JSON.stringify({ ...newKeyring({ bytes: n => new Uint8Array(n) }), pad: 'x'.repeat(9999) }),
        ),
    ],
    ['of another version', () => writeFileSync(file(), '{"v":2}')],
    ['with a short key', () => writeFileSync(file(), '{"v":1,"current":{"alg":"hmac_sha256","key":"c2hvcnQ"}}')],
    ['a directory', () => mkdirSync(file())],
  ])('[W70] one that is %s is refused, and not replaced', (_name, damage) => {
    mkdirSync(path.dirname(file()));
    damage();
    const error = errorOf(open().load());
    expect(error.code).toBe('STORE_KEYRING_INVALID');
    expect(JSON.stringify(error)).not.toContain('c2hvcnQ');
  });

  it('[W70] a link in its place is not followed', () => {
    mkdirSync(path.dirname(file()));
    const elsewhere = path.join(home, 'elsewhere.json');
    writeFileSync(elsewhere, JSON.stringify(newKeyring({ bytes: n => new Uint8Array(n) })));
    symlinkSync(elsewhere, file());
    expect(errorOf(open().load()).code).toBe('STORE_IO_FAILED');
  });

  it('[W66, W70] processes that start together use the same keys, and read the tokens of each other', async () => {
    const script = childScript(import.meta.dirname, 'keyring-child.ts');
    const said = async (...args: readonly string[]) => (await startChild(script, home, ...args).ended).stdout.trim();
    const keys = await Promise.all([said(), said()]);
    expect(keys).toEqual(Array(2).fill(JSON.parse(readFileSync(file(), 'utf8')).current.key));
    expect(await said(mintToken(nodeMac, value(open().load()), ack))).toBe(ack.nodeId);
  });

  it('[W70] one rotation at a time', async () => {
    const locks = memoryLocks();
    const ring = openKeyringFile({ home, locks });
    const before = value(ring.load());
    const held = value((await locks.acquire(`${home}/keys/.lock`)) as never) as { release(): void };
    expect(errorOf(await ring.rotate())).toMatchObject({
      code: 'SESSION_LOCKED',
      retry: { kind: 'retryable_after_ms' },
    });
    expect(value(ring.load())).toEqual(before);
    held.release();
    expect(value(await ring.rotate()).previous).toEqual(before.current);
  });
});
