import { type ArtifactId, deriveId, type RunId, type SecretFilter } from '@signalbox/model';
import { type ArtifactDraft, type ArtifactInput, draftArtifact, keepArtifact, type NodeKey } from '@signalbox/runs';
import type { Ledger } from '../frames/run-commit.ts';
import { nodeIdOf, ROOT_PATH } from '../nodes/node-id.ts';
import { type ErrorContext, PlanError, RenderPhaseWriteError } from '../plan-error.ts';
import { isRendering } from '../render/tracked.ts';
import type { ActionQueue } from '../state/action-queue.ts';
import { type ArtifactAccess, artifactAccess } from './artifact-access.ts';
import { sha256 } from './sha256.ts';

/** The prefix of action keys that create an artifact. */
export const ARTIFACT = 'a:';

/**
 * `ctx.artifact`.
 *
 * 1. An artifact is part of the transaction that made it: it counts with everything else that the handler or effect wrote, or not at all.
 * 2. A handler runs once, so its artifacts are named by their frame and order. An effect may run again in another process: its artifacts
 *    are named by content, and stored once.
 */
export interface ArtifactBook {
  readonly access: ArtifactAccess;
  /** Adds an artifact whose transaction succeeded to the next commit. */
  keep(id: string, node: string): void;
  /** Contents that must be durable before the next commit. */
  takeBlobs(): readonly Uint8Array[];
}

export interface ArtifactBookParts {
  readonly run: RunId;
  readonly queue: ActionQueue;
  readonly ledger: Pick<Ledger, 'stamp' | 'artifact' | 'contractEvent'>;
  /** Artifacts of earlier processes. */
  readonly known: ReadonlySet<ArtifactId>;
  frame(): number;
  readFile(path: string): Uint8Array;
  moment(): ErrorContext;
  readonly secrets?: Pick<SecretFilter, 'data' | 'text'> | undefined;
}

export function createArtifactBook(parts: ArtifactBookParts): ArtifactBook {
  const { run, queue, ledger, known, frame, readFile, moment, secrets } = parts;
  const drafts = new Map<string, ArtifactDraft>();
  const seen = new Map<string, number>();
  let counted = { frame: -1, count: 0 };
  let blobs: Uint8Array[] = [];

  const idOf = (draft: ArtifactDraft): ArtifactId => {
    const { origin } = queue;
    if (origin?.handler === 'effect') return effectId(origin.node, draft);
    const now = frame();
    counted = { frame: now, count: counted.frame === now ? counted.count + 1 : 0 };
    return deriveId<ArtifactId>('artifact', run, now, counted.count);
  };

  /** An effect that makes the same artifact twice in one process means two. */
  const effectId = (node: string, { kind, name, key = '', content }: ArtifactDraft): ArtifactId => {
    const what = [node, kind, name, key, sha256(content)] as const;
    const place = JSON.stringify(what);
    const before = seen.get(place) ?? 0;
    seen.set(place, before + 1);
    return deriveId<ArtifactId>('artifact', run, 'effect', ...what, before);
  };

  const make = (input: ArtifactInput): ArtifactId => {
    if (isRendering()) {
      const what = `ctx.artifact.${input.kind} cannot be called during a render; use an Effect or a handler`;
      throw new RenderPhaseWriteError('plan/render-write', what, { context: moment() });
    }
    const draft = draftArtifact(input, secrets);
    if (!draft.ok) throw new PlanError('plan/artifact-refused', draft.error.message, { context: moment() });
    const id = idOf(draft.value);
    if (known.has(id)) return id;
    drafts.set(id, draft.value);
    queue.push({ kind: 'set', key: ARTIFACT + id, value: id });
    return id;
  };

  return {
    access: artifactAccess(make, readFile),
    keep(id, node) {
      const draft = drafts.get(id);
      if (draft === undefined) return;
      drafts.delete(id);
      // Component effects and code without a transaction have no node: the plan's root stands for them.
      const isNode = node !== '' && !node.startsWith('effect:');
      const place = { run, node: (isNode ? node : nodeIdOf(ROOT_PATH)) as NodeKey };
      const { record, event, blob } = keepArtifact(id as ArtifactId, draft, place, ledger.stamp(), sha256);
      ledger.artifact(record);
      ledger.contractEvent(event);
      if (blob !== undefined) blobs.push(blob);
    },
    takeBlobs() {
      const taken = blobs;
      blobs = [];
      return taken;
    },
  };
}
