import { readFileSync } from 'node:fs';
import { type Timestamp, text, timestamp, type UserRole, userRole } from '@signalbox/model';
import * as z from 'zod';

/** A user as stored in the data directory: only the digest of the token. */
export interface KeptUser {
  readonly role: UserRole;
  readonly tokenDigest: string;
  readonly addedAt: Timestamp;
  readonly rotatedAt?: Timestamp | undefined;
  readonly expiresAt?: Timestamp | undefined;
}

const tokenDigest = text.regex(/^[0-9a-f]{64}$/);
const userFile = z.discriminatedUnion('v', [
  /** Before there were roles, a token could do everything except manage users. */
  z.strictObject({ v: z.literal(1), tokenDigest, addedAt: timestamp }),
  z.strictObject({
    v: z.literal(2),
    role: userRole,
    tokenDigest,
    addedAt: timestamp,
    rotatedAt: timestamp.optional(),
    expiresAt: timestamp.optional(),
  }),
]);

/** Throws if the file cannot be read or holds anything else. */
export function readUserFile(file: string): KeptUser {
  const kept = userFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  const { v, ...user } = kept;
  return v === 1 ? { role: 'operator', ...user } : { role: kept.role, ...user };
}

export function userFileText(user: KeptUser): string {
  return JSON.stringify({ v: 2, ...user } satisfies z.input<typeof userFile>);
}
