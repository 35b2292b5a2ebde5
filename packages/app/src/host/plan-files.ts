import { existsSync } from 'node:fs';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import { type Digest, defined, type ErrorEnvelope, err, failure, ok, type Result, type RunId } from '@signalbox/model';
import type { ImportClosure } from '@signalbox/plan';
import { readPlainFile } from '@signalbox/plan/plain-file';
import { type Blobs, planSources, type RunRecord, type RunSource } from '@signalbox/runs';
import { SCHEMA_VERSION } from '@signalbox/store';
import type { PlanSource } from '../threads/thread-api.ts';
import { checkedOutCommit } from '../workspaces/checked-out-commit.ts';

/** The engine and schema version that a run was started with. */
const ENGINE = `signalbox-plan-1 schema-${SCHEMA_VERSION}`;

/** Stores the plan's own files, so that the run can continue when they change or are gone (R18). */
export async function keepPlan(blobs: Blobs, closure: ImportClosure): Promise<Result<RunSource, ErrorEnvelope>> {
  const contents: Uint8Array[] = [];
  for (const { path: name, digest } of closure.files) {
    const content = contentOnDisk(path.join(closure.root, name));
    if (content === undefined || nodeHasher(content) !== digest) return err(changedWhileRead(name));
    contents.push(content);
  }
  const kept = await blobs.put(contents);
  if (!kept.ok) return kept;
  const gitCommit = await checkedOutCommit(closure.root);
  return ok({
    root: closure.root,
    entry: path.join(closure.root, closure.entry),
    files: closure.files,
    packages: closure.packages,
    ...defined({ gitCommit }),
    engine: ENGINE,
  });
}

/** The stored files of a run's current plan version. */
export async function keptPlan(
  blobs: Pick<Blobs, 'get'>,
  { id, source }: Pick<RunRecord, 'id' | 'source'>,
): Promise<Result<PlanSource, ErrorEnvelope>> {
  if (source === undefined) return err(noSource(id));
  const files: { readonly path: string; readonly contents: Uint8Array }[] = [];
  for (const file of source.files) {
    const contents = await blobs.get(file.digest);
    if (!contents.ok) return contents;
    files.push({ path: file.path, contents: contents.value });
  }
  const entry = path.relative(source.root, source.entry).split(path.sep).join('/');
  return ok({ kind: 'kept', root: source.root, entry, files });
}

/** The stored files of every version of a run's plan, from the first on. */
export async function keptVersions(
  blobs: Pick<Blobs, 'get'>,
  record: RunRecord,
): Promise<Result<readonly PlanSource[], ErrorEnvelope>> {
  const sources = planSources(record);
  if (sources.length === 0) return err(noSource(record.id));
  const kept: PlanSource[] = [];
  for (const source of sources) {
    const found = await keptPlan(blobs, { id: record.id, source });
    if (!found.ok) return found;
    kept.push(found.value);
  }
  return ok(kept);
}

/**
 * What changed since the run was started: files, the checked-out commit, the engine. The run continues with its stored files; this is for
 * information. A plan whose folder is gone is only in the run, such as one that was written for it: nothing of it can have changed.
 */
export async function changesSince({ source }: Pick<RunRecord, 'source'>): Promise<readonly string[]> {
  if (source === undefined) return [];
  const { engine } = source;
  return [
    ...(existsSync(source.root) ? await filesChangedSince(source) : []),
    ...(engine === ENGINE ? [] : [`engine ${engine} → ${ENGINE}`]),
  ];
}

async function filesChangedSince({ root, gitCommit, files }: RunSource): Promise<readonly string[]> {
  const changed = files.filter(file => digestOnDisk(path.join(root, file.path)) !== file.digest);
  const commit = gitCommit === undefined ? undefined : await checkedOutCommit(root);
  return [
    ...changed.map(file => `file ${file.path}`),
    ...(commit === gitCommit ? [] : [`git commit ${gitCommit} → ${commit ?? 'none'}`]),
  ];
}

/** The folder of the plan's file, even if the file is gone. */
export function planDirectory({ source }: RunRecord): string {
  return path.dirname(source?.entry ?? path.sep);
}

function digestOnDisk(file: string): Digest | undefined {
  const content = contentOnDisk(file);
  return content && nodeHasher(content);
}

function contentOnDisk(file: string): Uint8Array | undefined {
  try {
    return readPlainFile(file);
  } catch {
    return undefined;
  }
}

function changedWhileRead(name: string): ErrorEnvelope {
  return failure('plan/load-failed', {
    message: `The file ${name} changed while the plan was loaded.`,
    suggestion: 'Start the plan again.',
    retry: { kind: 'retryable_immediate' },
  });
}

export function noSource(run: RunId): ErrorEnvelope {
  return failure('run/plan-changed', {
    message: `Run ${run} kept no files of its plan.`,
    suggestion: 'Start the plan again.',
    details: { run },
  });
}
