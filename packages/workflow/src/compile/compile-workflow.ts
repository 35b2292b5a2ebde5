import { canonicalJson, type Digest, err, type Hasher, ok, type Result, utf8Length } from '@signalbox/model';
import { compileAssessments, levelIndex } from './assessment-pass.ts';
import { addFunctions, type Compilation } from './compilation.ts';
import type { CompiledFunction, CompiledWorkflowSnapshotV1 } from './compiled-workflow.ts';
import type { Place } from './condition-pass.ts';
import { capabilityNeeds, probeStep, resolveFeatures } from './feature-pass.ts';
import { limits } from './limits.ts';
import { compileProgram } from './loop-pass.ts';
import { type CompileMode, compare, type ProblemList, problemList, type WorkflowProblem } from './problem.ts';
import { finishedText, slotsOf } from './prompt-text.ts';
import { routineText } from './routine-text.ts';
import { type Routines, routineName, TEMPLATE_PREFIX } from './routines.ts';
import { readSource } from './source-reading.ts';
import { type ExpandedNode, expandTemplates } from './template-pass.ts';
import { idStatusOf, isReservedId, type SourceKind } from './workflow-id.ts';

export interface CompileOptions {
  readonly hasher: Hasher;
  readonly routines: Routines;
  readonly sourceKind: SourceKind;
  readonly mode: CompileMode;
  /** Bindings of the workflow's extension points, by slot. */
  readonly bindings?: ReadonlyMap<string, string>;
  /** Compiles a routine for its text: what it delegates itself is only named, so that this ends. */
  readonly isDelegate?: boolean;
}

export interface CompiledWorkflow {
  readonly snapshot: CompiledWorkflowSnapshotV1;
  /** The digest of the snapshot, to which a run is pinned. */
  readonly workflowHash: Digest;
  readonly warnings: readonly WorkflowProblem[];
}

export interface WorkflowRejected {
  readonly code: 'workflow/invalid';
  /** All problems, including warnings, sorted by pointer. */
  readonly problems: readonly WorkflowProblem[];
}

/**
 * Compiles a workflow source: reading, templates, features, then step by step refs and prompt blocks, contracts,
 * functions, fragments, derived steps, conditions and loops. Every pass continues after a problem, so the report is complete.
 */
export function compileWorkflow(source: unknown, options: CompileOptions): Result<CompiledWorkflow, WorkflowRejected> {
  const problems = problemList(options.mode);
  const snapshot = compileSource(source, options, problems);
  if (snapshot === undefined || problems.hasErrors) return err({ code: 'workflow/invalid', problems: problems.all() });
  const warnings = problems.all();
  const compiledWarnings = warnings.map(({ code, path }) => ({ code, path }));
  const text = canonicalJson({ ...snapshot, compiledWarnings });
  if (utf8Length(text) > limits.compiledBytes) {
    const message = `Compiled, the workflow takes more than ${limits.compiledBytes} bytes.`;
    problems.add('too_large', '', message, 'Split it into several workflows.');
    return err({ code: 'workflow/invalid', problems: problems.all() });
  }
  // Parsed back from the text, so that the snapshot is exactly what is hashed and stored.
  return ok({ snapshot: JSON.parse(text) as CompiledWorkflowSnapshotV1, workflowHash: options.hasher(text), warnings });
}

function compileSource(
  source: unknown,
  options: CompileOptions,
  problems: ProblemList,
): Omit<CompiledWorkflowSnapshotV1, 'compiledWarnings'> | undefined {
  const { hasher, routines, sourceKind, bindings = new Map() } = options;
  const read = readSource(source, problems);
  if (read === undefined) return undefined;
  const { workflow, copy, removed } = read;
  const place: Place = (container, key) =>
    key === undefined ? copy.pointerOf(container) : copy.memberPointer(container, key);
  checkWorkflowId(workflow.id, sourceKind, removed, problems);

  const slots = slotsOf(workflow.extensionPoints, bindings);
  const finish = (text: string, at: string) => finishedText(text, slots, at, problems);
  const finishAll = (list: readonly string[] | undefined) =>
    (list ?? []).map((text, index) => finish(text, place(list ?? [], index)));
  const around = { place, slots, conditions: [], guidance: [], choices: workflow.nonAssumableChoices ?? [] };
  const expansion = expandTemplates(workflow, around, routines, bindings, problems);
  const features = resolveFeatures(workflow.features, place, problems);
  const capabilities = capabilityNeeds(features, delegationPlace(expansion.nodes), problems);

  const assessments = compileAssessments(workflow, expansion, place, problems);
  const compilation: Compilation = {
    problems,
    hasher,
    features: features.map(each => each.feature),
    assessments,
    levels: levelIndex(assessments.values()),
    steps: [],
    loops: [],
    conditions: new Map(),
    contracts: new Map(),
    functions: new Map(),
    ids: new Map(),
    delegateText: delegateTexts(options),
    budget: { left: limits.compiledBytes },
  };
  addFunctions(compilation, workflow.functionDefinitions, { scope: 'workflow' }, place, finish);
  const featuresAt = workflow.features === undefined ? '' : place(workflow.features);
  const probes = capabilities.required.map(capability => probeStep(compilation, capability, featuresAt));
  compilation.steps.push(...probes);
  const program = compileProgram(compilation, expansion.nodes, [], removed);

  const byId = <T>(items: Iterable<T>, id: (item: T) => string): readonly T[] =>
    [...items].sort((left, right) => compare(id(left), id(right)));
  const recommended = workflow.recommendedPreferences;
  return {
    schemaVersion: 1,
    workflowId: workflow.id,
    name: workflow.name,
    description: workflow.description,
    version: workflow.version,
    modelTier: workflow.modelTier,
    metricsProfile: workflow.metricsProfile,
    preconditions: finishAll(workflow.preconditions),
    clarificationPrompts: finishAll(workflow.clarificationPrompts),
    metaGuidance: finishAll(workflow.metaGuidance),
    recommendations: {
      autonomy: recommended?.recommendedAutonomy,
      riskPolicy: recommended?.recommendedRiskPolicy,
    },
    capabilities,
    features: features.map(({ feature, config }) => ({ featureId: feature.featureId, config })),
    contracts: byId(compilation.contracts.values(), each => each.contractRef),
    assessments: byId(compilation.assessments.values(), each => each.assessmentId),
    references: byId(
      (workflow.references ?? []).map(each => ({
        id: each.id,
        title: each.title ?? each.id,
        source: each.source,
        purpose: each.purpose ?? '',
        authoritative: each.authoritative ?? false,
      })),
      each => each.id,
    ),
    functions: [...compilation.functions.values()].sort(compareFunctions),
    program: [...probes.map(({ stepId }) => ({ kind: 'step' as const, stepId })), ...program],
    steps: compilation.steps,
    conditions: byId(compilation.conditions.values(), each => each.conditionId),
    loops: byId(compilation.loops, each => each.loopId),
  };
}

/** The texts of routines with the arguments of their calls, each compiled once. A routine that lacks an argument has none. */
function delegateTexts(options: CompileOptions): Compilation['delegateText'] {
  const texts = new Map<string, string | undefined>();
  return (workflowId, args) => {
    const name = routineName(workflowId);
    const routine = options.routines.get(name)?.workflow;
    if (options.isDelegate === true || routine === undefined) return undefined;
    const key = canonicalJson([name, args]);
    if (!texts.has(key)) {
      const problems = problemList('load');
      const call = {
        id: 'routine',
        title: routine.name,
        templateCall: { templateId: `${TEMPLATE_PREFIX}${name}`, args },
      };
      const { description, version } = routine;
      const whole = { id: 'wr.delegate', name: routine.name, description, version, steps: [call] };
      const snapshot = compileSource(whole, { ...options, sourceKind: 'bundled', isDelegate: true }, problems);
      texts.set(key, snapshot === undefined || problems.hasErrors ? undefined : routineText(snapshot));
    }
    return texts.get(key);
  };
}

function checkWorkflowId(
  id: string,
  sourceKind: SourceKind,
  removed: ReadonlySet<string>,
  problems: ProblemList,
): void {
  if (removed.has('/id')) return;
  const status = idStatusOf(id);
  if (status === undefined) {
    const message = `The workflow id ${JSON.stringify(id.slice(0, 120))} is not namespace.name, each of a-z, 0-9, _ and - and beginning with a letter.`;
    problems.add('invalid_id', '/id', message, 'Give it an id such as "project.bug_investigation".');
  } else if (status === 'legacy') {
    const message = `The workflow id "${id}" has no namespace.`;
    problems.add('legacy_id', '/id', message, `Give it an id such as "project.${id.replaceAll('-', '_')}".`);
  }
  if (isReservedId(id) && sourceKind !== 'bundled') {
    const message = `The namespace "wr" is for workflows that come with the program; "${id}" is not one.`;
    problems.add('reserved_namespace', '/id', message, `Rename it, for example to "project.${id.slice(3)}".`);
  }
}

/** The location of the first step that delegates. */
function delegationPlace(nodes: readonly ExpandedNode[]): string | undefined {
  for (const node of nodes) {
    if (node.kind === 'loop') {
      const inside = delegationPlace(node.body);
      if (inside !== undefined) return inside;
    } else if (node.step.type === 'parallel') return node.around.place(node.step);
  }
  return undefined;
}

const SCOPES = ['workflow', 'loop', 'step'];

function compareFunctions(left: CompiledFunction, right: CompiledFunction): number {
  return (
    SCOPES.indexOf(left.scope) - SCOPES.indexOf(right.scope) ||
    compare(left.owner ?? '', right.owner ?? '') ||
    compare(left.name, right.name)
  );
}
