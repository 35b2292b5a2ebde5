import { mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import {
  type Digest,
  type ErrorEnvelope,
  err,
  failure,
  isJsonObject,
  type Json,
  type JsonObject,
  ok,
  type Result,
  type SavedWorkflow,
} from '@signalbox/model';
import { openWorkflowLibrary, readWorkflowFile, type WorkflowListing, type WorkflowPlace } from '@signalbox/workflow';
import { renamedSource, workflowSource } from './workflow-authoring.ts';
import { checkSource } from './workflow-check.ts';

/** Ids that people may give: a namespace of their own. */
const OWN_ID = /^(?!wr\.)[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*$/;

export function isOwnId(workflowId: string): boolean {
  return workflowId.length <= 200 && OWN_ID.test(workflowId);
}

/** Copies a workflow, a bundled one too, into an own namespace, in the first place that people write to. Never over a file. */
export async function copyWorkflow(
  workflowId: string,
  newId: string,
  directories: readonly WorkflowPlace[],
): Promise<Result<SavedWorkflow, ErrorEnvelope>> {
  if (!isOwnId(newId)) return err(notOwn(newId));
  const found = await workflowSource(workflowId, directories);
  if (!found.ok) return found;
  const { source, isRoutine } = found.value;
  const place = directories[0];
  if (place === undefined) return err(noPlace());
  if ((await listingOf(newId, directories)) !== undefined) return err(taken(newId));
  const name = `${newId.slice(newId.indexOf('.') + 1)}.json`;
  const ref = isRoutine ? path.join('routines', name) : name;
  return written(place, ref, renamedSource(source, new Map([[workflowId, newId]])), directories, 'wx');
}

/**
 * Writes a source to the file of its workflow: only people's own ones, only what can be run, and only over the bytes that the caller
 * has seen.
 */
export async function saveWorkflow(
  workflowId: string,
  { source, over }: { readonly source: Json; readonly over: Digest },
  directories: readonly WorkflowPlace[],
): Promise<Result<SavedWorkflow, ErrorEnvelope>> {
  if (!isJsonObject(source) || source.id !== workflowId) return err(otherId(workflowId));
  const listing = await listingOf(workflowId, directories);
  if (listing === undefined) return err(unknown(workflowId));
  if (listing.sourceKind === 'bundled' || !isOwnId(workflowId)) return err(notOwn(workflowId));
  for (const place of directories) {
    if (place.kind !== listing.sourceKind) continue;
    const read = await readWorkflowFile(path.join(place.directory, listing.sourceRef), nodeHasher);
    if (!read.ok || (read.value.source as { readonly id?: unknown } | null)?.id !== workflowId) continue;
    if (read.value.digest !== over) return err(changed(workflowId));
    return written(place, listing.sourceRef, source, directories, 'w');
  }
  return err(unknown(workflowId));
}

async function written(
  place: WorkflowPlace,
  ref: string,
  source: JsonObject,
  directories: readonly WorkflowPlace[],
  flag: 'w' | 'wx',
): Promise<Result<SavedWorkflow, ErrorEnvelope>> {
  const workflowId = String(source.id);
  const checked = await checkSource(source, { directories, mode: 'load' });
  if (!checked.ok) {
    const [first] = checked.error.problems.filter(({ severity }) => severity === 'error');
    return err(unfit(workflowId, `${first?.path || '/'}: ${first?.message ?? ''}`));
  }
  const file = path.join(place.directory, ref);
  const text = `${JSON.stringify(source, null, 2)}\n`;
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    // A link below the place would lead the write somewhere else.
    if (!isInside(realpathSync(path.dirname(file)), realpathSync(place.directory))) return err(linked(ref));
    if (flag === 'wx') {
      writeFileSync(file, text, { flag });
    } else {
      const temporary = `${file}.${process.pid}.tmp`;
      writeFileSync(temporary, text, { flag: 'wx' });
      renameSync(temporary, file);
    }
  } catch (thrown) {
    const { code = 'unknown reason' } = thrown as NodeJS.ErrnoException;
    return err(code === 'EEXIST' ? taken(workflowId) : unwritable(file, code));
  }
  const { workflowHash } = checked.value;
  return ok({ workflowId, kind: place.kind, ref, digest: nodeHasher(text), workflowHash });
}

function isInside(directory: string, root: string): boolean {
  return directory === root || directory.startsWith(root + path.sep);
}

async function listingOf(
  workflowId: string,
  directories: readonly WorkflowPlace[],
): Promise<WorkflowListing | undefined> {
  const { workflows } = await openWorkflowLibrary({ hasher: nodeHasher, places: directories }).discover();
  return workflows.find(each => each.workflowId === workflowId);
}

function notOwn(workflowId: string) {
  return failure('VALIDATION_ERROR', {
    message: `"${workflowId.slice(0, 200)}" is no id of your own: it is namespace.name, each of a-z, 0-9, _ and -, and "wr" is reserved.`,
    suggestion: 'Use an id such as "team.triage"; copy a bundled workflow to change it.',
    details: { field: 'newId' },
  });
}

function otherId(workflowId: string) {
  return failure('VALIDATION_ERROR', {
    message: `The source is not that of ${workflowId}: its id is another, or it is no JSON object.`,
    suggestion: 'Keep the id; to give a workflow another one, copy it.',
    details: { field: 'source' },
  });
}

function unfit(workflowId: string, why: string) {
  return failure('workflow/invalid', {
    message: `${workflowId} was not saved, because it could not be run. ${why}`,
    suggestion: 'Mend what the check reports, then save again.',
  });
}

function changed(workflowId: string) {
  return failure('workflow/changed', {
    message: `The file of ${workflowId} has changed since it was read.`,
    suggestion: 'Read it again, and make your changes there.',
  });
}

function taken(workflowId: string) {
  return failure('workflow/changed', {
    message: `There is already a workflow or a file for ${workflowId}.`,
    suggestion: 'Give another id.',
  });
}

function unknown(workflowId: string) {
  return failure('workflow/unknown', {
    message: `There is no workflow "${workflowId.slice(0, 200)}" in a file that can be changed.`,
    suggestion: 'List the workflows again.',
  });
}

function linked(ref: string) {
  return failure('VALIDATION_ERROR', {
    message: `${ref} is below a link that leads out of the folder of workflows.`,
    suggestion: 'Replace the link by a folder.',
  });
}

function unwritable(file: string, code: string) {
  return failure('STORE_IO_FAILED', {
    message: `${file} could not be written (${code}).`,
    suggestion: 'Check the space on the disk and who may write there, then save again.',
  });
}

function noPlace() {
  return failure('workflow/unknown', {
    message: 'This server has no folder for workflows.',
    suggestion: 'Start it in a project, or with --workflows.',
  });
}
