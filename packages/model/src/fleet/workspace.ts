import * as z from 'zod';
import { text } from '../json.ts';
import { projectPath } from './provenance.ts';

/** A directory of the project that an agent's sandbox shows. */
const workspaceMount = z.strictObject({
  hostPath: projectPath,
  sandboxPath: text.regex(/^\/[^\0]*$/, 'must be an absolute path'),
  readOnly: z.boolean(),
});
export type WorkspaceMount = Readonly<z.infer<typeof workspaceMount>>;

export const sandboxCapability = z.enum([
  'terminal',
  'browser',
  'git',
  'docker',
  'network_external',
  /** Only the backend can be reached. */
  'network_internal_only',
  'gpu',
]);
export type SandboxCapability = z.infer<typeof sandboxCapability>;

const amount = z.number().positive();

const resourceLimits = z.strictObject({
  cpuCores: amount.optional(),
  memoryMb: amount.optional(),
  diskMb: amount.optional(),
  /** The longest life of a sandbox. */
  timeoutMs: z.int().positive().optional(),
});
export type ResourceLimits = Readonly<z.infer<typeof resourceLimits>>;

export const defaultResourceLimits = {
  cpuCores: 2,
  memoryMb: 4096,
  diskMb: 10_240,
  timeoutMs: 3_600_000,
} as const satisfies Required<ResourceLimits>;

/** What the sandbox of an agent has. What the agent may do with it is a matter of its tools. */
export const workspaceRequirements = z.strictObject({
  mounts: z.array(workspaceMount).readonly(),
  capabilities: z
    .array(sandboxCapability)
    .readonly()
    .refine(
      wanted => !(wanted.includes('network_external') && wanted.includes('network_internal_only')),
      'cannot have both network_external and network_internal_only',
    ),
  resourceLimits: resourceLimits.optional(),
  baseImage: text.min(1).optional(),
});
export type WorkspaceRequirements = Readonly<z.infer<typeof workspaceRequirements>>;
