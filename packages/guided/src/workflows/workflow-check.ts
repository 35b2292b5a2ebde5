import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import {
  bundledPlace,
  type CompiledWorkflow,
  type CompileMode,
  compileWorkflow,
  openWorkflowLibrary,
  readWorkflowFile,
  type WorkflowPlace,
  type WorkflowRejected,
} from '@signalbox/workflow';

export interface WorkflowCheckOptions {
  /** Where to look for workflows and their routines, besides the bundled ones. */
  readonly directories: readonly WorkflowPlace[];
  readonly mode: CompileMode;
}

export type CheckedWorkflow = Result<CompiledWorkflow, WorkflowRejected>;

/** Compiles a workflow for its author: a file, or one found by its id. Its problems are an answer, not a failure. */
export async function checkWorkflow(
  target: string,
  { directories, mode }: WorkflowCheckOptions,
): Promise<Result<CheckedWorkflow, ErrorEnvelope<'workflow/unknown' | 'workflow/invalid'>>> {
  const library = openWorkflowLibrary({ hasher: nodeHasher, places: directories, mode });
  if (!isFile(target)) {
    const { workflows } = await library.discover();
    const listing = workflows.find(each => each.workflowId === target);
    if (listing !== undefined) return ok(listing.compiled);
    const found = await library.find(target);
    return found.ok ? ok(ok(found.value.compiled)) : found;
  }
  const file = path.resolve(target);
  const read = await readWorkflowFile(file, nodeHasher);
  if (!read.ok) return err(unreadable(target, read.error.message));
  const { routines } = await library.discover();
  const isBundled = !path.relative(bundledPlace.directory, file).startsWith('..');
  const sourceKind = isBundled ? 'bundled' : 'project';
  return ok(compileWorkflow(read.value.source, { hasher: nodeHasher, routines, sourceKind, mode }));
}

/** Compiles a source that is in no file yet, as a project's own. */
export async function checkSource(
  source: unknown,
  { directories, mode }: WorkflowCheckOptions,
): Promise<CheckedWorkflow> {
  const { routines } = await openWorkflowLibrary({ hasher: nodeHasher, places: directories }).discover();
  return compileWorkflow(source, { hasher: nodeHasher, routines, sourceKind: 'project', mode });
}

/** Ids have neither separators nor this extension. */
function isFile(target: string): boolean {
  return target.includes('/') || target.includes(path.sep) || target.endsWith('.json');
}

function unreadable(target: string, why: string): ErrorEnvelope<'workflow/invalid'> {
  return failure('workflow/invalid', {
    message: `${target} is not a workflow. ${why}`,
    suggestion: 'Pass a JSON file, or the id of a workflow that "signalbox workflow list" shows.',
  });
}
