import {
  agentId,
  artifactId,
  artifactKind,
  artifactStatus,
  digest,
  provenance,
  text,
  timestamp,
} from '@signalbox/model';
import * as z from 'zod';
import { count, name, tick } from '../fields.ts';

/** An artifact as the project knows it: what its agent reported last, with a version that every write increases. */
const knownArtifact = z.strictObject({
  id: artifactId,
  /** 1 when it is first reported. */
  version: z.int().positive(),
  /** The agent whose report it is. */
  agentId,
  name,
  kind: artifactKind,
  workstream: name,
  status: artifactStatus,
  qualityScore: z.number(),
  provenance,
  uri: text.optional(),
  mimeType: name.optional(),
  sizeBytes: count.optional(),
  contentHash: digest.optional(),
  changedAt: timestamp,
  changedAtTick: tick,
});
export type KnownArtifact = Readonly<z.infer<typeof knownArtifact>>;

export const knowledgeState = z.strictObject({
  /** Counts every change of what agents may know. */
  version: count,
  artifacts: z.record(artifactId, knownArtifact),
});
export type KnowledgeState = Readonly<z.infer<typeof knowledgeState>>;

export const noKnowledge: KnowledgeState = { version: 0, artifacts: {} };
