import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { text } from '../json.ts';
import { pageLimit } from './requests.ts';

/**
 * The rights of a token. Each of the first four includes those before it: a viewer reads, an approver answers decisions, an
 * operator starts, stops and edits, an owner manages users. An agent walks guided workflows and does nothing else.
 */
export const userRole = z.enum(['viewer', 'approver', 'operator', 'owner', 'agent']);
export type UserRole = z.infer<typeof userRole>;

/** A person or an agent with a token. */
export const wireUser = z.object({
  name: text,
  role: userRole,
  addedAt: timestamp,
  /** When the token was last replaced. */
  rotatedAt: timestamp.optional(),
  /** The token is refused after this; absent if it never expires. */
  expiresAt: timestamp.optional(),
  /** To the minute; absent if the token was never used. */
  lastUsedAt: timestamp.optional(),
});
export type WireUser = z.infer<typeof wireUser>;

/** Sorted by name. */
export const userList = z.object({ users: z.array(wireUser).readonly(), next: text.optional() });

export const usersQuery = z.strictObject({ after: text.optional(), limit: pageLimit(500) });

/** The body of `POST /api/users`. */
export const addUserBody = z.strictObject({
  name: text.max(256),
  /** `viewer` by default. */
  role: userRole.optional(),
  expiresAt: timestamp.optional(),
});

/** The body of `POST /api/users/:name/rotate`. Without `expiresAt`, the new token lives as long as the old one was meant to. */
export const rotateUserBody = z.strictObject({ expiresAt: timestamp.optional() });

/** The token is shown only this once. */
export const addedUser = z.object({ ...wireUser.shape, token: text });
export type AddedUser = z.infer<typeof addedUser>;

/** The body of `POST /api/login`: the code of a one-time link. */
export const loginBody = z.strictObject({ code: text.max(256) });

/** The result of exchanging a one-time link. */
export const login = z.object({ token: text, expiresAt: timestamp });
export type Login = z.infer<typeof login>;

/** The answer of `POST /api/links`: a link to the console that works once. */
export const oneTimeLink = z.object({ url: text, expiresAt: timestamp });
export type OneTimeLink = z.infer<typeof oneTimeLink>;
