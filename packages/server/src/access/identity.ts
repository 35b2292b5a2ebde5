import type { TokenHolder } from '@signalbox/app';
import type { ErrorEnvelope, Timestamp, UserRole } from '@signalbox/model';
import { failure } from '@signalbox/model';
import type { Needed } from './access-table.ts';

/** Whose token a request came with. */
export interface Identity {
  /** As events name it. */
  readonly name: string;
  readonly role: UserRole;
  /** Names the token without giving it away. */
  readonly tokenId: string;
  readonly expiresAt?: Timestamp | undefined;
  /** Of the token of the server itself: it counts for as long as the server runs. */
  readonly isPermanent: boolean;
  /** The token that this one was made with, for a tab of a user: it ends with that one. */
  readonly behind?: Pick<TokenHolder, 'name' | 'role' | 'tokenId' | 'expiresAt'> | undefined;
}

export function forbidden({ name, role }: Pick<Identity, 'name' | 'role'>, needed: Needed): ErrorEnvelope {
  return failure('request/forbidden', {
    message: `This needs the role ${needed}; the token of ${name} has the role ${role}.`,
    suggestion: `Ask an owner for a token with that role: "signalbox users add NAME --role ${needed}".`,
    details: { needed, role },
  });
}
