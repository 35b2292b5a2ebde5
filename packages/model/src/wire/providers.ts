import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { text } from '../json.ts';

const count = z.int().nonnegative();

/**
 * The state of a model provider according to its latest calls: it answers, asks callers to wait, fails, or has not been called
 * since.
 */
const providerHealth = z.enum(['ok', 'limited', 'failing', 'unknown']);
export type ProviderHealth = z.infer<typeof providerHealth>;

/** A short view of a provider: for `GET /api/health` and for subscribers of all runs. */
export const providerBrief = z.object({
  name: text,
  health: providerHealth,
  /** No call before this moment, for the model that is closed longest. */
  waitsUntil: timestamp.optional(),
});
export type ProviderBrief = z.infer<typeof providerBrief>;

/** A model called since the server started. */
const wireModel = z.object({
  model: text,
  health: providerHealth,
  waitsUntil: timestamp.optional(),
  calls: count,
  /** Calls currently waiting their turn. */
  waiting: count,
  failuresInRow: count,
  lastUsedAt: timestamp.optional(),
});
export type WireModel = z.infer<typeof wireModel>;

/** The latest report of a provider about one of its limits; expired ones are left out. */
const rateLimitWindow = z.object({
  model: text,
  counts: z.enum(['requests', 'tokens', 'input_tokens', 'output_tokens']),
  limit: count.optional(),
  remaining: count.optional(),
  resetsAt: timestamp.optional(),
});
export type RateLimitWindow = z.infer<typeof rateLimitWindow>;

/** Where a key is stored, and whether there is one. Never contains its value. */
export const keyReference = z.object({ name: text, isSet: z.boolean() });

/** The address of a provider, without credentials and query. */
export const providerReference = z.object({
  name: text,
  /** Absent if no key is needed. */
  key: keyReference.optional(),
  baseUrl: text.optional(),
  /** The environment variable that overrides the address. */
  baseUrlName: text.optional(),
});
export type ProviderReference = z.infer<typeof providerReference>;

export const wireProvider = z.object({
  ...providerReference.shape,
  ...providerBrief.shape,
  models: z.array(wireModel).readonly(),
  windows: z.array(rateLimitWindow).readonly(),
  failuresInRow: count,
  lastError: z.object({ at: timestamp, model: text, code: text, message: text }).optional(),
  lastUsedAt: timestamp.optional(),
});
export type WireProvider = z.infer<typeof wireProvider>;

/** Known and called providers. Call figures count from a given moment. */
export const providerList = z.object({ since: timestamp, providers: z.array(wireProvider).readonly() });
export type ProviderList = z.infer<typeof providerList>;
