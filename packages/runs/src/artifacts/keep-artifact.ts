import {
  type ArtifactId,
  type ArtifactKind,
  artifactRefOf,
  type DiffMetadata,
  deriveId,
  type EventId,
  type Hasher,
  type RunId,
  type Timestamp,
  utf8Bytes,
} from '@signalbox/model';
import type { EventDraft } from '../events/stored-event.ts';
import { contractNodeId, type NodeKey, type TaskId } from '../ids.ts';
import type { ArtifactDraft } from './artifact-draft.ts';
import { type ArtifactRecord, INLINE_MAX_BYTES } from './artifact-record.ts';

/** An artifact ready to commit: its row, its event, and the content that must become a blob first. */
export interface KeptArtifact {
  readonly record: ArtifactRecord;
  readonly event: EventDraft;
  readonly blob?: Uint8Array;
}

/** Artifacts of plans and agents, and those that the host itself stores about their work. */
export type KeptDraft = Omit<ArtifactDraft, 'kind'> & {
  readonly kind: ArtifactKind;
  /** For `diff`. */
  readonly diff?: DiffMetadata;
};

export interface ArtifactPlace {
  readonly run: RunId;
  readonly node: NodeKey;
  readonly task?: TaskId;
}

/** The event's id derives from the artifact's, so storing it again gives the same event. */
export function keepArtifact(
  id: ArtifactId,
  { content, ...draft }: KeptDraft,
  { run, node, task }: ArtifactPlace,
  createdAt: Timestamp,
  hasher: Hasher,
): KeptArtifact {
  const bytes = typeof content === 'string' ? utf8Bytes(content) : content;
  const isInline = typeof content === 'string' && bytes.length <= INLINE_MAX_BYTES;
  const record: ArtifactRecord = {
    id,
    node,
    ...(task === undefined ? {} : { task }),
    ...draft,
    digest: hasher(bytes),
    bytes: bytes.length,
    ...(isInline ? { content } : {}),
    createdAt,
  };
  const nodeId = contractNodeId(run, node);
  const { kind, name, diff } = draft;
  const event: EventDraft = {
    id: deriveId<EventId>('artifact-created', id),
    ts: createdAt,
    type: 'artifact.created',
    artifact: { id, runId: run, nodeId, kind, name, path: artifactRefOf(id), createdAt, ...(diff && { diff }) },
  };
  return { record, event, ...(isInline ? {} : { blob: bytes }) };
}
