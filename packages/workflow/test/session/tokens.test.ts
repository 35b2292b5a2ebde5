import { readFileSync } from 'node:fs';
import { type ErrorEnvelope, failure, type NodeId, type RunId } from '@signalbox/model';
import { seededRng } from '@signalbox/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeMac } from '../../src/session/files/node-mac.ts';
import { guidedId } from '../../src/session/ids.ts';
import { type Keyring, keyring, newKeyring, rotateKeyring } from '../../src/session/keyring.ts';
import { nodeOfToken, samePlace, tokenSessionLocked } from '../../src/session/token-place.ts';
import { mintToken, readToken, type TokenKind, type TokenPayload, tokenPayload } from '../../src/session/tokens.ts';
import { attempt, errorOf, guidedSession, OTHER_SESSION, SESSION, value, workflowHash } from './guided-session.ts';

const vectors = JSON.parse(
  readFileSync(new URL('../../../../spec/vectors/workflow-tokens.json', import.meta.url), 'utf8'),
);
const ring: Keyring = keyring.parse(vectors.keyring);

const place = { sessionId: SESSION, runId: guidedId<RunId>('t', 'run'), nodeId: guidedId<NodeId>('t', 'node') };
const named = {
  state: { tokenKind: 'state', ...place, workflowHash },
  ack: { tokenKind: 'ack', ...place, attemptId: attempt(1) },
  checkpoint: { tokenKind: 'checkpoint', ...place, attemptId: attempt(1) },
} as const;
const kinds = Object.keys(named) as TokenKind[];

const code = (token: string, kind: TokenKind = 'state', keys: Keyring = ring) =>
  errorOf(readToken(nodeMac, keys, token, kind)).code;

/** A token with any payload, signed with our key. */
function forged(payload: unknown, prefix = 'st', version = 'v1'): string {
  const bytes = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
  const signature = Buffer.from(nodeMac.sign(Buffer.from(ring.current.key, 'base64url'), bytes));
  return `${prefix}.${version}.${bytes.toString('base64url')}.${signature.toString('base64url')}`;
}

describe('tokens', () => {
  it.each(vectors.tokens as { payload: unknown; token: string; tokenOfPrevious: string }[])(
    '[W66] come out as the frozen vectors, and go in from both keys: $payload.tokenKind',
    vector => {
      const payload = tokenPayload.parse(vector.payload);
      expect(mintToken(nodeMac, ring, payload)).toBe(vector.token);
      expect(readToken(nodeMac, ring, vector.token, payload.tokenKind)).toEqual({ ok: true, value: payload });
      expect(readToken(nodeMac, ring, vector.tokenOfPrevious, payload.tokenKind)).toEqual({ ok: true, value: payload });
    },
  );

  it.each(kinds)('[W66] a %s token names what it was minted for, whoever reads it', kind => {
    const token = mintToken(nodeMac, ring, named[kind]);
    const reread = keyring.parse(JSON.parse(JSON.stringify(ring)));
    expect(value(readToken(nodeMac, reread, token, kind))).toEqual({ ...named[kind], tokenVersion: 1 });
  });

  const good = mintToken(nodeMac, ring, named.state);
  const [prefix, version, payload = '', signature = ''] = good.split('.');

  it.each<[string, string]>([
    ['nothing', ''],
    ['a word', 'token'],
    ['too few parts', 'st.v1.abc'],
    ['too many parts', `${good}.x`],
    ['an ack token', mintToken(nodeMac, ring, named.ack)],
    ['an ack token under another prefix', mintToken(nodeMac, ring, named.ack).replace('ack.', 'st.')],
    ['no version', `${prefix}.one.${payload}.${signature}`],
    ['a payload that is not base64url', `${prefix}.${version}.${payload}=.${signature}`],
    ['an empty payload', `${prefix}.${version}..${signature}`],
    ['a signature that is cut off', good.slice(0, -1)],
    ['no signature', `${prefix}.${version}.${payload}.`],
    ['an endless text', `st.v1.${'A'.repeat(5000)}.${signature}`],
    ['a payload that is not JSON', forged('{')],
    ['a payload that lacks a field', forged({ tokenVersion: 1, tokenKind: 'state' })],
    ['a payload with one field more', forged({ ...named.state, tokenVersion: 1, admin: true })],
    ['a payload that is not canonical', forged(JSON.stringify({ ...named.state, tokenVersion: 1 }, null, 1))],
  ])('[W67] %s is TOKEN_INVALID_FORMAT', (_name, token) => {
    expect(code(token)).toBe('TOKEN_INVALID_FORMAT');
  });

  it.each<[string, string]>([
    ['in its head', `${prefix}.v2.${payload}.${signature}`],
    ['in its payload', forged({ ...named.state, tokenVersion: 2 })],
  ])('[W67] another version %s is TOKEN_UNSUPPORTED_VERSION', (_name, token) => {
    expect(code(token)).toBe('TOKEN_UNSUPPORTED_VERSION');
  });

  it('[W67] a changed, foreign or rotated-out token is TOKEN_BAD_SIGNATURE', () => {
    const other = Buffer.from(payload, 'base64url').toString().replace(SESSION, OTHER_SESSION);
    expect(code(`st.v1.${Buffer.from(other).toString('base64url')}.${signature}`)).toBe('TOKEN_BAD_SIGNATURE');
    expect(code(mintToken(nodeMac, newKeyring(seededRng(7)), named.state))).toBe('TOKEN_BAD_SIGNATURE');
  });

  it('[W67] no single changed character goes through', () => {
    fc.assert(
      fc.property(fc.nat({ max: good.length - 1 }), fc.integer({ min: 33, max: 126 }), (at, character) => {
        const changed = good.slice(0, at) + String.fromCharCode(character) + good.slice(at + 1);
        fc.pre(changed !== good);
        expect(readToken(nodeMac, ring, changed, 'state').ok).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('[W67] any text is answered, and says what to do', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        const { message, suggestion, retry } = errorOf(readToken(nodeMac, ring, text, 'ack'));
        expect([message !== '', suggestion !== '', retry.kind]).toEqual([true, true, 'not_retryable']);
      }),
    );
  });
});

describe('rotation', () => {
  it('[W68] keeps the tokens of the key before, and no older ones', () => {
    const rng = seededRng(1);
    const rings = [newKeyring(rng)];
    for (let turn = 0; turn < 2; turn++) rings.push(rotateKeyring(rings.at(-1) as Keyring, rng));
    const [first, second, third] = rings as [Keyring, Keyring, Keyring];
    const token = mintToken(nodeMac, first, named.ack);
    expect([first, second].map(keys => readToken(nodeMac, keys, token, 'ack').ok)).toEqual([true, true]);
    expect(code(token, 'ack', third)).toBe('TOKEN_BAD_SIGNATURE');
    expect(third.previous).toEqual(second.current);
    expect(new Set(rings.map(keys => keys.current.key)).size).toBe(3);
  });
});

describe('the place of a token', () => {
  async function tokens() {
    const session = guidedSession();
    const at = await session.start();
    const next = await session.advance(at);
    const state = { tokenVersion: 1, tokenKind: 'state', ...next, workflowHash } as const;
    return { session, at, next, state };
  }

  it('[W69] is the node that it names', async () => {
    const { session, next, state } = await tokens();
    expect(value(nodeOfToken(session.events(), state))).toEqual(session.node(next));
    const ack = { tokenVersion: 1, tokenKind: 'ack', ...next, attemptId: attempt(1) } as const;
    expect(value(nodeOfToken(session.events(), ack))).toEqual(session.node(next));
  });

  it('[W69] a node that is not there is TOKEN_UNKNOWN_NODE', async () => {
    const { session, state } = await tokens();
    const unknown = { ...state, nodeId: place.nodeId };
    expect(errorOf(nodeOfToken(session.events(), unknown)).code).toBe('TOKEN_UNKNOWN_NODE');
    expect(errorOf(nodeOfToken(session.events(), { ...state, sessionId: OTHER_SESSION })).code).toBe(
      'TOKEN_UNKNOWN_NODE',
    );
    expect(errorOf(nodeOfToken([], state)).code).toBe('TOKEN_UNKNOWN_NODE');
  });

  it('[W69] another run, and tokens that do not belong together, are TOKEN_SCOPE_MISMATCH', async () => {
    const { session, at, next, state } = await tokens();
    expect(errorOf(nodeOfToken(session.events(), { ...state, runId: place.runId })).code).toBe('TOKEN_SCOPE_MISMATCH');
    const ack = (where: typeof next): Extract<TokenPayload, { tokenKind: 'ack' }> => ({
      tokenVersion: 1,
      tokenKind: 'ack',
      ...where,
      attemptId: attempt(1),
    });
    expect(samePlace(state, ack(next))).toEqual({ ok: true, value: undefined });
    expect(errorOf(samePlace(state, ack(at))).code).toBe('TOKEN_SCOPE_MISMATCH');
    expect(errorOf(samePlace(state, ack({ ...next, sessionId: OTHER_SESSION }))).code).toBe('TOKEN_SCOPE_MISMATCH');
  });

  it('[W69] another workflow is TOKEN_WORKFLOW_HASH_MISMATCH', async () => {
    const { session, state } = await tokens();
    const other = { ...state, workflowHash: `sha256:${'0'.repeat(64)}` as typeof workflowHash };
    expect(errorOf(nodeOfToken(session.events(), other)).code).toBe('TOKEN_WORKFLOW_HASH_MISMATCH');
  });

  it('[W69] a session that another process writes is TOKEN_SESSION_LOCKED, to be tried again', () => {
    const locked: ErrorEnvelope<'SESSION_LOCKED'> = failure('SESSION_LOCKED', {
      message: 'locked',
      suggestion: 'again',
      retry: { kind: 'retryable_after_ms', afterMs: 500 },
    });
    expect(tokenSessionLocked(locked)).toEqual({ ...locked, code: 'TOKEN_SESSION_LOCKED' });
  });
});
