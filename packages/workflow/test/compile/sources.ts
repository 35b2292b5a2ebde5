import { portableHasher } from '@signalbox/model';
import {
  type CompiledWorkflowSnapshotV1,
  type CompileMode,
  compileWorkflow,
  type ProblemCode,
  type Routines,
  readRoutines,
  type SourceKind,
} from '../../src/index.ts';

/** A workflow of these steps, with what else is given. */
export function workflowOf(steps: readonly unknown[], more: Readonly<Record<string, unknown>> = {}) {
  return { id: 'project.sample', name: 'Sample', description: 'For tests', version: '1.0.0', steps, ...more };
}

export function stepOf(id: string, more: Readonly<Record<string, unknown>> = {}) {
  return { id, title: `Step ${id}`, prompt: `Do ${id}.`, ...more };
}

export function loopOf(id: string, loop: unknown, body: unknown, more: Readonly<Record<string, unknown>> = {}) {
  return { id, type: 'loop', title: `Loop ${id}`, loop, body, ...more };
}

export const byArtifact = {
  type: 'while',
  maxIterations: 3,
  conditionSource: { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' },
};

export const decides = { outputContract: { contractRef: 'wr.contracts.loop_control' } };

export interface Setting {
  readonly routines?: readonly unknown[];
  readonly sourceKind?: SourceKind;
  readonly mode?: CompileMode;
  readonly bindings?: ReadonlyMap<string, string>;
}

export function compile(source: unknown, setting: Setting = {}) {
  const routines: Routines = readRoutines(setting.routines ?? []);
  return compileWorkflow(source, {
    hasher: portableHasher,
    routines,
    sourceKind: setting.sourceKind ?? 'project',
    mode: setting.mode ?? 'load',
    ...(setting.bindings && { bindings: setting.bindings }),
  });
}

/** The snapshot of a source that has no errors. */
export function snapshotOf(source: unknown, setting: Setting = {}): CompiledWorkflowSnapshotV1 {
  const compiled = compile(source, setting);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error.problems, null, 1));
  return compiled.value.snapshot;
}

/** Code and path of everything that is wrong, warnings among it. */
export function problemsOf(source: unknown, setting: Setting = {}): readonly (readonly [ProblemCode, string])[] {
  const compiled = compile(source, setting);
  const problems = compiled.ok ? compiled.value.warnings : compiled.error.problems;
  return problems.map(({ code, path }) => [code, path]);
}
