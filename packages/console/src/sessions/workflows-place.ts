/** The selection among guided workflows, as in the address: a session and a place in it, or a workflow and a pin of it. */
export interface WorkflowsPlace {
  readonly session?: string;
  readonly place?: string;
  readonly workflow?: string;
  readonly pinned?: string;
}

export function workflowsPlaceOf(given: Readonly<Record<string, unknown>>): WorkflowsPlace {
  const names = ['session', 'place', 'workflow', 'pinned'] as const;
  return Object.fromEntries(names.flatMap(name => (typeof given[name] === 'string' ? [[name, given[name]]] : [])));
}
