import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { text } from '../json.ts';
import { pageLimit } from './requests.ts';

/**
 * What a token may do. Each of the first four may do what those before it may: a viewer reads, an approver answers decisions, an
 * operator starts, stops and edits, an owner manages users. An agent walks guided workflows and does nothing else.
 */
export const userRole = z.enum(['viewer', 'approver', 'operator', 'owner', 'agent']);
export type UserRole = z.infer<typeof userRole>;

/** A person or an agent with a token of its own. */
export const wireUser = z.object({
  name: text,
  role: userRole,
  addedAt: timestamp,
  /** When the token was replaced last. */
  rotatedAt: timestamp.optional(),
  /** From then on the token is refused; absent if it never expires. */
  expiresAt: timestamp.optional(),
  /** To the minute; absent if the token was never used. */
  lastUsedAt: timestamp.optional(),
});
export type WireUser = z.infer<typeof wireUser>;

/** By name. */
export const userList = z.object({ users: z.array(wireUser).readonly(), next: text.optional() });

export const usersQuery = z.strictObject({ after: text.optional(), limit: pageLimit(500) });

/** The body of `POST /api/users`. */
export const addUserBody = z.strictObject({
  name: text.max(256),
  /** A viewer if left out. */
  role: userRole.optional(),
  expiresAt: timestamp.optional(),
});

/** The body of `POST /api/users/:name/rotate`. Without `expiresAt` the new token lives as long as the one before it was meant to. */
export const rotateUserBody = z.strictObject({ expiresAt: timestamp.optional() });

/** The token is answered this once, and cannot be had again. */
export const addedUser = z.object({ ...wireUser.shape, token: text });
export type AddedUser = z.infer<typeof addedUser>;

/** The body of `POST /api/login`: the code of a one-time link. */
export const loginBody = z.strictObject({ code: text.max(256) });

/** What a one-time link is exchanged for. */
export const login = z.object({ token: text, expiresAt: timestamp });
export type Login = z.infer<typeof login>;

/** The answer of `POST /api/links`: a link to the console that works once. */
export const oneTimeLink = z.object({ url: text, expiresAt: timestamp });
export type OneTimeLink = z.infer<typeof oneTimeLink>;
