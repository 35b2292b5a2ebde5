import { type ArtifactId, deriveId } from '@signalbox/model';
import { type ArtifactInput, draftArtifact, type NodeKey, publishArtifact } from '@signalbox/runs';
import type { PlanRunOptions } from '../frames/engine-options.ts';
import type { TaskRequest } from '../frames/task-executor.ts';
import { PlanError } from '../plan-error.ts';
import { type ArtifactAccess, artifactAccess } from './artifact-access.ts';
import { sha256 } from './sha256.ts';

/** The artifacts of one attempt of a task. */
export interface TaskArtifacts {
  /** An artifact is durable when its promise resolves. */
  readonly access: ArtifactAccess<Promise<ArtifactId>>;
  /** Resolves when all artifacts are durable; rejects if one could not be stored. */
  settled(): Promise<void>;
}

/**
 * Artifacts are named by the task, their content and their order among equals: an attempt that repeats an earlier one finds them stored.
 */
export function createTaskArtifacts(
  options: Pick<PlanRunOptions, 'commit' | 'reader' | 'blobs' | 'clock' | 'secrets'>,
  { run, task, node, signal }: Pick<TaskRequest, 'run' | 'task' | 'node' | 'signal'>,
  readFile: (path: string) => Uint8Array,
  /** Resolves when the start of the task is durable. */
  begun: () => Promise<unknown>,
): TaskArtifacts {
  const seen = new Map<string, number>();
  const making = new Set<Promise<ArtifactId>>();

  async function publish(input: ArtifactInput): Promise<ArtifactId> {
    const draft = draftArtifact(input, options.secrets);
    if (!draft.ok) throw new PlanError('plan/artifact-refused', draft.error.message);
    if (options.blobs === undefined) throw new PlanError('plan/artifact-refused', 'nothing keeps artifacts here');
    const { kind, name, key = '', content } = draft.value;
    const what = [kind, name, key, sha256(content)] as const;
    const place = JSON.stringify(what);
    const before = seen.get(place) ?? 0;
    seen.set(place, before + 1);
    const id = deriveId<ArtifactId>('artifact', run, task, ...what, before);
    await begun();
    signal.throwIfAborted();
    const ports = { ...options, blobs: options.blobs, hasher: sha256 };
    const published = await publishArtifact(ports, id, draft.value, { run, node: node.id as NodeKey, task });
    if (!published.ok) throw new PlanError('plan/artifact-refused', published.error.message);
    return published.value;
  }

  /** One after another: versions of a key are numbered in the order of creation. */
  let last: Promise<unknown> = Promise.resolve();
  const make = (input: ArtifactInput) => {
    const made = last.then(() => publish(input));
    last = made.catch(() => undefined);
    making.add(made);
    made.then(
      () => making.delete(made),
      () => {},
    );
    return made;
  };

  return {
    access: artifactAccess(make, readFile),
    async settled() {
      await Promise.all(making);
    },
  };
}
