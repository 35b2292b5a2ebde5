import * as z from 'zod';
import { text } from '../json.ts';

/** How much something matters, from least to most. */
export const severity = z.enum(['warning', 'low', 'medium', 'high', 'critical']);
export type Severity = z.infer<typeof severity>;

/** How much an action can affect, from least to most. `unknown` compares highest: it is never taken for harmless. */
export const blastRadius = z.enum(['trivial', 'small', 'medium', 'large', 'unknown']);
export type BlastRadius = z.infer<typeof blastRadius>;

/** How much agents may do without a person. The project's mode counts, whatever a brief says. */
export const controlMode = z.enum(['orchestrator', 'adaptive', 'ecosystem']);
export type ControlMode = z.infer<typeof controlMode>;

export const actionKind = z.enum(['create', 'update', 'delete', 'review', 'deploy']);
export type ActionKind = z.infer<typeof actionKind>;

/** From 0 (a guess) to 1 (certain). */
export const confidence = z.number().min(0).max(1);

/** A point in logical time: a count that only grows, also over restarts. */
export const tick = z.int().nonnegative();

export const count = z.int().nonnegative();

/** A name that people and configurations use: of a tool, a workstream, a role, a vendor's id. */
export const name = text.min(1).max(256);

export function severityRank(value: Severity): number {
  return severity.options.indexOf(value);
}

export function blastRadiusRank(value: BlastRadius): number {
  return blastRadius.options.indexOf(value);
}
