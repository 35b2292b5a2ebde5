import type {
  CompiledCondition,
  CompiledContract,
  CompiledLoop,
  CompiledStep,
  CompiledWorkflowSnapshotV1,
} from '../compile/compiled-workflow.ts';
import type { ConditionExpression } from '../compile/condition.ts';

/** A compiled workflow with its parts by id. */
export interface WorkflowIndex {
  readonly compiled: CompiledWorkflowSnapshotV1;
  readonly steps: ReadonlyMap<string, CompiledStep>;
  readonly loops: ReadonlyMap<string, CompiledLoop>;
  readonly conditions: ReadonlyMap<string, CompiledCondition>;
  /** The conditions that read the context. */
  readonly expressions: ReadonlyMap<string, ConditionExpression>;
  readonly contracts: ReadonlyMap<string, CompiledContract>;
}

/** Created once per compiled workflow, which is immutable. */
const made = new WeakMap<CompiledWorkflowSnapshotV1, WorkflowIndex>();

export function indexWorkflow(compiled: CompiledWorkflowSnapshotV1): WorkflowIndex {
  const known = made.get(compiled);
  if (known !== undefined) return known;
  const index: WorkflowIndex = {
    compiled,
    steps: byId(compiled.steps, step => step.stepId),
    loops: byId(compiled.loops, loop => loop.loopId),
    conditions: byId(compiled.conditions, condition => condition.conditionId),
    expressions: new Map(
      compiled.conditions.flatMap(condition =>
        condition.kind === 'expression' ? [[condition.conditionId, condition.expression as ConditionExpression]] : [],
      ),
    ),
    contracts: byId(compiled.contracts, contract => contract.contractRef),
  };
  made.set(compiled, index);
  return index;
}

function byId<T>(parts: readonly T[], idOf: (part: T) => string): ReadonlyMap<string, T> {
  return new Map(parts.map(part => [idOf(part), part]));
}
