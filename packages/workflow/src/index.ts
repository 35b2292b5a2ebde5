export {
  type Autonomy,
  type Capability,
  type CompiledAssessment,
  type CompiledCondition,
  type CompiledContract,
  type CompiledFunction,
  type CompiledLoop,
  type CompiledStep,
  type CompiledWorkflowSnapshotV1,
  compiledWorkflowSnapshotV1,
  type ModelTier,
  type ProgramEntry,
  type RiskPolicy,
} from './compile/compiled-workflow.ts';
export type { ConditionExpression, ConditionOperator } from './compile/condition.ts';
export type { Shape, ShapeField } from './compile/shape.ts';
export type { ValidationExpression, ValidationTest } from './compile/validation.ts';
