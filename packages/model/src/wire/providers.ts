import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { text } from '../json.ts';

const count = z.int().nonnegative();

/**
 * How a provider of models does, as its last calls say: it answers, it wants to be left alone for a while, it fails, or nobody
 * has called it since then.
 */
const providerHealth = z.enum(['ok', 'limited', 'failing', 'unknown']);
export type ProviderHealth = z.infer<typeof providerHealth>;

/** A provider in short: for `GET /api/health` and for whoever watches all runs. */
export const providerBrief = z.object({
  name: text,
  health: providerHealth,
  /** Nobody calls its model that is closed longest before this moment. */
  waitsUntil: timestamp.optional(),
});
export type ProviderBrief = z.infer<typeof providerBrief>;

/** A model that was called since the server started. */
const wireModel = z.object({
  model: text,
  health: providerHealth,
  waitsUntil: timestamp.optional(),
  calls: count,
  /** Calls that wait for their turn now. */
  waiting: count,
  failuresInRow: count,
  lastUsedAt: timestamp.optional(),
});
export type WireModel = z.infer<typeof wireModel>;

/** What a provider said of one of its limits, with its last answer that did; one that is over by now is left out. */
const rateLimitWindow = z.object({
  model: text,
  counts: z.enum(['requests', 'tokens', 'input_tokens', 'output_tokens']),
  limit: count.optional(),
  remaining: count.optional(),
  resetsAt: timestamp.optional(),
});
export type RateLimitWindow = z.infer<typeof rateLimitWindow>;

/** Where a key is kept, and whether there is one. Its value goes nowhere. */
export const keyReference = z.object({ name: text, isSet: z.boolean() });

/** Where a provider is reached; without names, passwords and queries that its address may have. */
export const providerReference = z.object({
  name: text,
  /** Absent where none is needed. */
  key: keyReference.optional(),
  baseUrl: text.optional(),
  /** The variable that sets another address. */
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

/** Providers that are known or were called. What is said of calls is said of those since a moment. */
export const providerList = z.object({ since: timestamp, providers: z.array(wireProvider).readonly() });
export type ProviderList = z.infer<typeof providerList>;
