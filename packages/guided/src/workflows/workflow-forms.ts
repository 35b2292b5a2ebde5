import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import {
  canonicalJson,
  type Digest,
  type ErrorEnvelope,
  type Json,
  ok,
  type Result,
  type WorkflowForms,
} from '@signalbox/model';
import {
  bundledPlace,
  type CompiledWorkflowSnapshotV1,
  openWorkflowLibrary,
  readWorkflowFile,
  type WorkflowListing,
  type WorkflowPlace,
} from '@signalbox/workflow';
import type { DetailOptions } from '../sessions/session-detail.ts';
import { openSessionStores } from '../sessions/session-stores.ts';

/** The source, compiled and pinned forms of a workflow. Takes no lock. */
export async function workflowForms(
  options: DetailOptions,
  workflowId: string,
  pinnedHash?: Digest,
): Promise<Result<WorkflowForms, ErrorEnvelope>> {
  const library = openWorkflowLibrary({ hasher: nodeHasher, places: options.directories });
  const found = await library.find(workflowId);
  const listing = found.ok
    ? found.value.listing
    : (await library.discover()).workflows.find(one => one.workflowId === workflowId);
  const pin = pinnedHash === undefined ? undefined : openSessionStores(options).workflow(pinnedHash);
  const pinned = pin?.ok === true ? pin.value : undefined;
  // Ignore a pin of another workflow.
  const isPinned = pinned !== undefined && pinned.workflowId === (listing?.workflowId ?? workflowId);
  if (listing === undefined && !isPinned) return found.ok ? ok({ workflowId, problems: [] }) : found;
  const compiled = listing?.compiled;
  const source = listing && (await sourceOf(listing, options.directories));
  return ok({
    workflowId: listing?.workflowId ?? workflowId,
    ...(source !== undefined && { source }),
    ...(compiled?.ok === true && { compiled: formOf(compiled.value.workflowHash, compiled.value.snapshot) }),
    problems: (compiled === undefined ? [] : compiled.ok ? compiled.value.warnings : compiled.error.problems).map(
      ({ code, path: place, message }) => ({ code, path: place, message }),
    ),
    ...(isPinned && pinnedHash !== undefined && { pinned: formOf(pinnedHash, pinned) }),
    ...(pinnedHash !== undefined && {
      drift: compiled?.ok !== true ? 'gone' : compiled.value.workflowHash === pinnedHash ? 'none' : 'changed',
    }),
  });
}

function formOf(workflowHash: Digest, snapshot: CompiledWorkflowSnapshotV1): NonNullable<WorkflowForms['compiled']> {
  return {
    workflowHash,
    // Members in one order, whatever the snapshot was read from, so that a comparison shows only real changes.
    content: JSON.parse(canonicalJson(snapshot)) as Json,
    steps: snapshot.steps.map(({ stepId, title, provenance }) => ({ stepId, title, provenance })),
  };
}

/** The file that the library found; it may be gone or changed by now. */
async function sourceOf(
  { sourceKind: kind, sourceRef: ref }: WorkflowListing,
  directories: readonly WorkflowPlace[],
): Promise<WorkflowForms['source']> {
  for (const place of [bundledPlace, ...directories]) {
    if (place.kind !== kind) continue;
    const read = await readWorkflowFile(path.join(place.directory, ref), nodeHasher);
    if (read.ok) return { kind, ref, digest: read.value.digest, content: read.value.source as Json };
  }
  return undefined;
}
