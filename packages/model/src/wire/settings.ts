import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { json, text } from '../json.ts';
import { providerReference } from './providers.ts';
import { userRole } from './users.ts';

/** Null is never. */
const days = z.number().nullable();

/** Where configuration is read from. */
const settingSource = z.object({
  kind: z.enum(['file', 'directory', 'environment', 'program']),
  /** A path, or the name of a variable. */
  name: text,
  /** What it decides, in words. */
  about: text,
  isThere: z.boolean(),
  /** Why it is not used, or not all of it. */
  problem: text.optional(),
});
export type SettingSource = z.infer<typeof settingSource>;

/** One thing that can be set. */
export const settingItem = z.object({
  /** Such as `retention.removeAfterDays`. */
  name: text,
  about: text,
  /** As its source says now; absent where that cannot be read. */
  desired: json.optional(),
  /** As this server does it. */
  applied: json,
  /** Where the desired value is from. */
  from: z.enum(['file', 'environment', 'program', 'default']),
  /** Whether a change counts at once, or from the next start. */
  counts: z.enum(['at-once', 'after-restart']),
  /** The desired value is another than the applied one: it counts after a restart. */
  needsRestart: z.boolean(),
});
export type SettingItem = z.infer<typeof settingItem>;

/** A tool that agents have, and when a person is asked before it runs. */
const toolPolicy = z.object({
  tool: text,
  about: text,
  risk: z.enum(['low', 'medium', 'high']),
  /** What it changes: nothing, nothing but it reads files, files, or something outside that cannot be undone. */
  effects: z.enum(['none', 'read-only', 'files', 'external']),
  /** `gated`: in nodes that are gated. Nodes can leave tools out; none can loosen this. */
  asks: z.enum(['always', 'gated', 'never']),
});
export type ToolPolicy = z.infer<typeof toolPolicy>;

/** The answer of `GET /api/settings`. It holds no secret: keys are references. */
export const settings = z.object({
  /** The caller, its role, and whether it holds the token of the data directory. */
  user: z.object({ name: text, role: userRole, isDefault: z.boolean() }),
  startedAt: timestamp,
  sources: z.array(settingSource).readonly(),
  items: z.array(settingItem).readonly(),
  /** Something was set that counts after a restart. */
  needsRestart: z.boolean(),
  /** How long runs stay; absent where the configuration cannot be used: then nothing is collected. */
  retention: z.object({ collapseAfterDays: days, removeAfterDays: days }).optional(),
  providers: z.array(providerReference).readonly(),
  tools: z.array(toolPolicy).readonly(),
});
export type Settings = z.infer<typeof settings>;
