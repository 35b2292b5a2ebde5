import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { text } from '../json.ts';
import { pageLimit } from './requests.ts';

/** Somebody with a token of their own. */
export const wireUser = z.object({ name: text, addedAt: timestamp });
export type WireUser = z.infer<typeof wireUser>;

/** By name. */
export const userList = z.object({ users: z.array(wireUser).readonly(), next: text.optional() });
export type UserList = z.infer<typeof userList>;

export const usersQuery = z.strictObject({ after: text.optional(), limit: pageLimit(500) });

/** The body of `POST /api/users`. */
export const addUserBody = z.strictObject({ name: text.max(256) });

/** The token is answered this once, and cannot be had again. */
export const addedUser = z.object({ ...wireUser.shape, token: text });
export type AddedUser = z.infer<typeof addedUser>;
