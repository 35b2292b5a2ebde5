import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { agentId, artifactId } from '../ids.ts';
import { text } from '../json.ts';

/** A path below the project's directory: relative, with forward slashes, and never out of it. */
export const projectPath = text
  .min(1)
  .max(4096)
  .refine(
    value => !/^([/\\]|[A-Za-z]:)/.test(value) && !value.split(/[/\\]/).includes('..') && !value.includes('\0'),
    'must be a path below the project, without ".."',
  );

/** Where an artifact comes from. */
export const provenance = z.strictObject({
  createdBy: agentId,
  createdAt: timestamp,
  modifiedBy: agentId.optional(),
  modifiedAt: timestamp.optional(),
  /** The artifacts it was derived from. */
  sourceArtifactIds: z.array(artifactId).readonly().optional(),
  /** The file in the project. Two agents that write the same one are in conflict. */
  sourcePath: projectPath.optional(),
});
export type Provenance = Readonly<z.infer<typeof provenance>>;
