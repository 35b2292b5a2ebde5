import { problemList, type WorkflowProblem } from './problem.ts';
import type { SourceWorkflow } from './source-format.ts';
import { readSource } from './source-reading.ts';

/** A template `wr.templates.routine.<name>` is the routine of that name, expanded in place. */
export const TEMPLATE_PREFIX = 'wr.templates.routine.';

interface Routine {
  readonly workflow: SourceWorkflow;
  /** What is wrong with it; a routine with errors cannot be used. */
  readonly problems: readonly WorkflowProblem[];
}

/** Routines by name. */
export type Routines = ReadonlyMap<string, Routine>;

/** The first of a name wins: list those that must not be shadowed first. */
export function readRoutines(sources: Iterable<unknown>): Routines {
  const routines = new Map<string, Routine>();
  for (const source of sources) {
    const problems = problemList('load');
    const read = readSource(source, problems);
    if (read === undefined) continue;
    const name = routineName(read.workflow.id);
    if (!routines.has(name)) routines.set(name, { workflow: read.workflow, problems: problems.all() });
  }
  return routines;
}

/** The id without its namespace and without the word `routine`. */
export function routineName(workflowId: string): string {
  return workflowId.slice(workflowId.indexOf('.') + 1).replace(/^routine[-_]/, '');
}
