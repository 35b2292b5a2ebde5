import * as z from 'zod';
import { blastRadius, confidence, name, severity } from './scales.ts';

/** The risk of tools whose name matches a glob. The most specific pattern counts. */
export const toolRiskClassification = z.strictObject({
  toolPattern: name,
  defaultSeverity: severity,
  defaultBlastRadius: blastRadius,
  defaultConfidence: confidence,
  requiresRationale: z.boolean(),
});
export type ToolRiskClassification = Readonly<z.infer<typeof toolRiskClassification>>;

/** The risk of a tool that no pattern matches: a person looks at it. */
export const UNCLASSIFIED_TOOL = {
  toolPattern: '*',
  defaultSeverity: 'high',
  defaultBlastRadius: 'unknown',
  defaultConfidence: 0,
  requiresRationale: false,
} as const satisfies ToolRiskClassification;

/** What a tool does, whatever its vendor calls it. */
export const toolKind = z.enum(['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch']);
export type ToolKind = z.infer<typeof toolKind>;

/**
 * The words of escalation protocols that name a tool of each kind (R26). `deploy` names no kind: whether a command deploys is seen in its
 * name or its arguments. A tool whose kind nobody knows has no word, and is for a person.
 */
export const kindWords: Readonly<Record<ToolKind, readonly string[]>> = {
  read: ['read'],
  search: ['search', 'read'],
  fetch: ['fetch'],
  edit: ['edit', 'write'],
  move: ['move', 'edit', 'write'],
  delete: ['delete', 'write'],
  execute: ['execute'],
};
