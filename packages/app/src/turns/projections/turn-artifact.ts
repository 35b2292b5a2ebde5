import {
  type Artifact,
  type ArtifactId,
  type ArtifactKind,
  artifactRefOf,
  type DiffMetadata,
  deriveId,
  type NodeId,
  type RunId,
  type Timestamp,
} from '@signalbox/model';
import type { NodeKey, Task, TaskId } from '@signalbox/runs';

/** The artifacts that the contract requires for every agent turn. */
const turnNames = ['prompt.full.txt', 'prompt.blocks.json', 'diff.patch'] as const;
export type TurnName = (typeof turnNames)[number];

/** An artifact derived from an ended turn. It is not stored. */
export interface TurnArtifact {
  readonly id: ArtifactId;
  readonly run: RunId;
  readonly node: NodeKey;
  readonly task: TaskId;
  readonly kind: ArtifactKind;
  readonly name: TurnName;
  readonly mimeType: string;
  readonly createdAt: Timestamp;
}

const forms = {
  'prompt.full.txt': { kind: 'prompt', mimeType: 'text/plain' },
  'prompt.blocks.json': { kind: 'prompt', mimeType: 'application/json' },
  'diff.patch': { kind: 'diff', mimeType: 'text/x-diff' },
} as const satisfies Record<TurnName, { readonly kind: ArtifactKind; readonly mimeType: string }>;

/** The artifacts of an agent task: none before its turn has ended, or if it never started. Retried attempts are part of the turn. */
export function turnArtifacts(run: RunId, task: Task): readonly TurnArtifact[] {
  const { id, node, startedAt, endedAt } = task;
  const isOver = task.status === 'done' || task.status === 'error' || task.status === 'canceled';
  if (!isOver || startedAt === undefined || endedAt === undefined) return [];
  return turnNames.map(name => ({
    id: turnArtifactId(run, id, name),
    run,
    node,
    task: id,
    name,
    ...forms[name],
    createdAt: endedAt,
  }));
}

/** A diff stored with a workspace has the same id as a derived one. */
export function turnArtifactId(run: RunId, task: TaskId, name: TurnName): ArtifactId {
  return name === 'diff.patch'
    ? deriveId<ArtifactId>('turn-diff', run, task)
    : deriveId<ArtifactId>('turn', run, task, name);
}

/** In the contract's form. There is no file: `path` refers to content that is derived on request. */
export function contractTurnArtifact(
  { id, run, kind, name, createdAt }: TurnArtifact,
  nodeId: NodeId,
  diff?: DiffMetadata,
): Artifact {
  return { id, runId: run, nodeId, kind, name, path: artifactRefOf(id), createdAt, ...(diff && { diff }) };
}
