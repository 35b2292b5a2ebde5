import type { TokenHolder } from '@signalbox/app';
import type { ErrorEnvelope, Timestamp, UserRole } from '@signalbox/model';
import { failure } from '@signalbox/model';
import type { Needed } from './access-table.ts';

/** The owner of the token that a request came with. */
export interface Identity {
  /** The name in events. */
  readonly name: string;
  readonly role: UserRole;
  /** Identifies the token without revealing it. */
  readonly tokenId: string;
  readonly expiresAt?: Timestamp | undefined;
  /** True for the server's own token, which is valid for as long as the server runs. */
  readonly isPermanent: boolean;
  /** For a tab of a user: the token that created it, and with which it ends. */
  readonly behind?: Pick<TokenHolder, 'name' | 'role' | 'tokenId' | 'expiresAt'> | undefined;
}

export function forbidden({ name, role }: Pick<Identity, 'name' | 'role'>, needed: Needed): ErrorEnvelope {
  return failure('request/forbidden', {
    message: `This needs the role ${needed}; the token of ${name} has the role ${role}.`,
    suggestion: `Ask an owner for a token with that role: "signalbox users add NAME --role ${needed}".`,
    details: { needed, role },
  });
}
