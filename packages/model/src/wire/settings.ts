import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { json, text } from '../json.ts';
import { providerReference } from './providers.ts';
import { userRole } from './users.ts';

/** Null means never. */
const days = z.number().nullable();

/** A source of configuration. */
const settingSource = z.object({
  kind: z.enum(['file', 'directory', 'environment', 'program']),
  /** A path, or the name of a variable. */
  name: text,
  /** A sentence about what it configures. */
  about: text,
  isThere: z.boolean(),
  /** Why it is ignored, or partly ignored. */
  problem: text.optional(),
});
export type SettingSource = z.infer<typeof settingSource>;

/** One setting. */
export const settingItem = z.object({
  /** For example `retention.removeAfterDays`. */
  name: text,
  about: text,
  /** The source's current value; absent if it cannot be read. */
  desired: json.optional(),
  /** The value that this server uses. */
  applied: json,
  /** The source of the desired value. */
  from: z.enum(['file', 'environment', 'program', 'default']),
  /** Whether a change applies at once, or after a restart. */
  counts: z.enum(['at-once', 'after-restart']),
  /** The desired value differs from the applied one, and applies after a restart. */
  needsRestart: z.boolean(),
});
export type SettingItem = z.infer<typeof settingItem>;

/** A tool available to agents, and when a person is asked before it runs. */
const toolPolicy = z.object({
  tool: text,
  about: text,
  risk: z.enum(['low', 'medium', 'high']),
  /** Its effects: none, reads files, changes files, or has effects outside that cannot be undone. */
  effects: z.enum(['none', 'read-only', 'files', 'external']),
  /** `gated`: asks in gated nodes. Nodes can exclude tools; none can loosen this. */
  asks: z.enum(['always', 'gated', 'never']),
});
export type ToolPolicy = z.infer<typeof toolPolicy>;

/** The answer of `GET /api/settings`. It contains no secrets: keys are references. */
export const settings = z.object({
  /** The caller, their role, and whether they hold the token of the data directory. */
  user: z.object({ name: text, role: userRole, isDefault: z.boolean() }),
  startedAt: timestamp,
  sources: z.array(settingSource).readonly(),
  items: z.array(settingItem).readonly(),
  /** Whether some settings apply only after a restart. */
  needsRestart: z.boolean(),
  /** How long runs are kept; absent if the configuration is invalid, in which case nothing is collected. */
  retention: z.object({ collapseAfterDays: days, removeAfterDays: days }).optional(),
  providers: z.array(providerReference).readonly(),
  tools: z.array(toolPolicy).readonly(),
});
export type Settings = z.infer<typeof settings>;
