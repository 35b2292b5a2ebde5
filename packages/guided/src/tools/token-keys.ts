import { nodeHasher, sqliteLocks } from '@signalbox/journal';
import { type ErrorEnvelope, ok, type Result, type Rng } from '@signalbox/model';
import { type Keyring, keyNames, openKeyringFile } from '@signalbox/workflow';
import type { SessionStoresOptions } from '../sessions/session-stores.ts';

/** A key that signs tokens, by a name that reveals nothing about it. New tokens use the current one. */
export interface TokenKey {
  readonly role: 'current' | 'previous';
  readonly name: string;
}

export interface TokenKeysOptions extends Pick<SessionStoresOptions, 'dataDirectory' | 'locks'> {
  readonly rng: Rng;
}

/** Empty before the first token. Creates no key. */
export function listTokenKeys(options: TokenKeysOptions): Result<readonly TokenKey[], ErrorEnvelope> {
  const ring = keyringOf(options).peek();
  return ring.ok ? ok(ring.value === undefined ? [] : keysOf(ring.value)) : ring;
}

/** Creates a new current key. Tokens of the previous key stay valid until the next rotation; those of the key before that are void now. */
export async function rotateTokenKeys(options: TokenKeysOptions): Promise<Result<readonly TokenKey[], ErrorEnvelope>> {
  const ring = await keyringOf(options).rotate();
  return ring.ok ? ok(keysOf(ring.value)) : ring;
}

function keyringOf({ dataDirectory, locks = sqliteLocks, rng }: TokenKeysOptions) {
  return openKeyringFile({ home: dataDirectory, locks, rng });
}

function keysOf(ring: Keyring): readonly TokenKey[] {
  return keyNames(nodeHasher, ring).map((name, index) => ({ role: index === 0 ? 'current' : 'previous', name }));
}
