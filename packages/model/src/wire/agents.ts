import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { text } from '../json.ts';

/** An installation or a check under way. */
const agentJob = z.object({
  kind: z.enum(['add', 'check']),
  /** The user who asked for it. */
  by: text,
  startedAt: timestamp,
  /** Unpacked packages of an installation. */
  progress: z.object({ done: z.int().nonnegative(), of: z.int().nonnegative() }).optional(),
});
export type AgentJob = z.infer<typeof agentJob>;

/** What a check found, in one sentence, and what to do about it. */
export const agentCheck = z.object({
  status: z.enum(['ok', 'warn', 'fail']),
  found: text,
  advice: text.optional(),
  checkedAt: timestamp,
});
export type AgentCheck = z.infer<typeof agentCheck>;

/** An agent of another vendor, or a command of the configuration. */
export const wireAgent = z.object({
  id: text.min(1),
  title: text,
  /** Which component of a plan may be this agent; `any`: by its id only. */
  vendor: z.enum(['claude', 'codex', 'gemini', 'any']),
  /** The package and version that an installation has; absent for a command. */
  package: z.object({ name: text, version: text }).optional(),
  /** Absent if it is not on this machine. */
  installed: z.object({ version: text, from: z.enum(['data directory', 'PATH', 'command']) }).optional(),
  /** Whether a test of Signalbox runs this version. */
  isTried: z.boolean(),
  /** How it is made to ask before it changes something. */
  asking: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('mode'), mode: text }),
    z.object({ kind: z.literal('option'), option: text, value: text }),
    z.object({ kind: z.literal('settings') }),
  ]),
  reports: z.object({ usage: z.boolean(), cost: z.boolean() }),
  /** What it lacks on this machine, in one sentence. */
  missing: text.optional(),
  quirks: z.array(text).readonly(),
  /** The last check of the installed version. */
  check: agentCheck.optional(),
  job: agentJob.optional(),
  /** Why the last job failed, until another one begins. */
  problem: z
    .object({ kind: agentJob.shape.kind, at: timestamp, code: text, message: text, suggestion: text })
    .optional(),
});
export type WireAgent = z.infer<typeof wireAgent>;

/** In the order of the register. */
export const agentList = z.object({ agents: z.array(wireAgent).readonly() });
