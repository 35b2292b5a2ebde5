import { defined, type ErrorEnvelope, ok, type Result, truncateUtf8 } from '@signalbox/model';
import {
  type CompiledWorkflowSnapshotV1,
  type FoundWorkflow,
  idStatusOf,
  type WorkflowLibrary,
} from '@signalbox/workflow';
import type { InspectAnswer, ListAnswer, Warning } from './tool-answers.ts';
import type { InspectInput, ListInput } from './tool-inputs.ts';

/** How many problems a list names: of files, and of one workflow. */
const MAX_PROBLEMS = { files: 20, workflow: 5 } as const;

export async function listWorkflows(library: WorkflowLibrary, input: ListInput): Promise<ListAnswer> {
  const { workflows, problems } = await library.discover();
  const listed = workflows.filter(({ isRoutine }) => input.includeRoutines === true || !isRoutine);
  const runnable = listed.find(({ compiled, isRoutine }) => compiled.ok && !isRoutine)?.workflowId;
  return {
    workflows: listed.map(({ compiled, workflowId, name, description, version, idStatus, ...listing }) => ({
      workflowId,
      name,
      description,
      version,
      idStatus,
      ...defined({ suggestedId: listing.suggestedId }),
      sourceKind: listing.sourceKind,
      isRoutine: listing.isRoutine,
      ...(compiled.ok && { workflowHash: compiled.value.workflowHash }),
      ...(!compiled.ok && { refused: refusal(compiled.error.problems) }),
    })),
    problems: problems.slice(0, MAX_PROBLEMS.files).map(problem => ({ ...problem })),
    omittedProblems: Math.max(0, problems.length - MAX_PROBLEMS.files),
    nextCall: { tool: 'inspect_workflow', arguments: { workflowId: runnable ?? '<one of the workflowIds>' } },
  };
}

/** Why a workflow cannot be started, in a line; its author runs `signalbox workflow validate` for the rest. */
function refusal(
  problems: readonly { readonly severity: string; readonly path: string; readonly message: string }[],
): string {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return `${truncateUtf8(`${first?.path || '/'}: ${first?.message ?? 'it is not valid'}`, REFUSAL_BYTES)}${more}`;
}

const REFUSAL_BYTES = 200;

export async function inspectWorkflow(
  library: WorkflowLibrary,
  { workflowId, mode = 'preview' }: InspectInput,
): Promise<Result<InspectAnswer, ErrorEnvelope>> {
  const found = await library.find(workflowId);
  if (!found.ok) return found;
  const { listing, compiled, canonicalId } = found.value;
  const { snapshot, workflowHash } = compiled;
  return ok({
    workflow: { workflowId: snapshot.workflowId, name: snapshot.name, workflowHash },
    description: snapshot.description,
    version: snapshot.version,
    idStatus: listing.idStatus,
    ...defined({ canonicalId, suggestedId: listing.suggestedId }),
    sourceKind: listing.sourceKind,
    preconditions: [...snapshot.preconditions],
    clarificationPrompts: [...snapshot.clarificationPrompts],
    recommendations: { ...snapshot.recommendations },
    capabilities: {
      required: [...snapshot.capabilities.required],
      preferred: [...snapshot.capabilities.preferred],
      disabled: [...snapshot.capabilities.disabled],
    },
    references: snapshot.references.map(({ id, title, source, purpose }) => ({ id, title, source, purpose })),
    ...(mode === 'preview' && { steps: outline(snapshot) }),
    warnings: [...findingWarnings(found.value)],
    nextCall: { tool: 'start_workflow', arguments: { workflowId: snapshot.workflowId } },
  });
}

/** Warnings about a workflow from how it was found: a previous id, a legacy one, and problems that its author should fix. */
function findingWarnings({ listing, compiled, canonicalId }: FoundWorkflow): readonly Warning[] {
  return [
    ...(canonicalId === undefined
      ? []
      : [{ code: 'workflow_id_alias', message: `This workflow is ${canonicalId} now; use that id.` }]),
    ...(listing.idStatus === 'legacy'
      ? [
          {
            code: 'workflow_id_legacy',
            message: `${listing.workflowId} is an id of the old form. It runs; its author should call it ${listing.suggestedId ?? 'namespace.name'}.`,
          },
        ]
      : []),
    ...compiled.warnings
      .slice(0, MAX_PROBLEMS.workflow)
      .map(({ code, path, message }) => ({ code, message: `${path}: ${message}` })),
  ];
}

/** The same warnings for a started run, from its pin, so that they never change. */
export function pinWarnings(
  asked: string,
  { workflowId, compiledWarnings }: CompiledWorkflowSnapshotV1,
): readonly Warning[] {
  return [
    ...(asked === workflowId
      ? []
      : [{ code: 'workflow_id_alias', message: `This workflow is ${workflowId} now; use that id.` }]),
    ...(idStatusOf(workflowId) === 'legacy'
      ? [
          {
            code: 'workflow_id_legacy',
            message: `${workflowId} is an id of the old form; it runs. See inspect_workflow.`,
          },
        ]
      : []),
    ...compiledWarnings
      .slice(0, MAX_PROBLEMS.workflow)
      .map(({ code, path }) => ({ code, message: `The workflow itself could be better at ${path}: ${code}.` })),
  ];
}

/** Whether a workflow can be requested by an id: its own, or its previous one without a namespace. */
export function isIdOf(asked: string, { workflowId }: CompiledWorkflowSnapshotV1): boolean {
  const plain = (id: string) => id.replaceAll('-', '_');
  return asked === workflowId || plain(`wr.${asked}`) === plain(workflowId);
}

/** Whether the source of a run's workflow still matches the run's pin. Reported, never acted upon. */
export async function driftWarnings(
  library: WorkflowLibrary,
  { workflowId }: { readonly workflowId: string },
  pinned: string,
  look: 'find' | 'peek' = 'find',
): Promise<readonly Warning[]> {
  const found = await library[look](workflowId);
  if (found.ok && found.value.compiled.workflowHash === pinned) return [];
  const why = found.ok ? 'has changed since' : 'is no longer there, or no longer valid';
  return [
    {
      code: 'pinned_drift',
      message: `The source of ${workflowId} ${why}; this run goes on with the version that it began with.`,
    },
  ];
}

function outline({ steps }: CompiledWorkflowSnapshotV1): NonNullable<InspectAnswer['steps']> {
  return steps.map(({ stepId, title, kind, loops }) => ({ stepId, title, kind, loops: [...loops] }));
}
