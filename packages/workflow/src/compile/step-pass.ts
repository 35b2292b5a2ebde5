import { compileStepAssessments } from './assessment-pass.ts';
import {
  addCondition,
  addContract,
  addFunctions,
  type Compilation,
  type FunctionKey,
  functionKeyText,
  functionName,
  LOOP_CONTROL,
  loopNameOf,
  spend,
  takeId,
} from './compilation.ts';
import type { CompiledStep, ProgramEntry } from './compiled-workflow.ts';
import { delegationParts } from './delegation-text.ts';
import { derivedSteps } from './derived-steps.ts';
import { nearest } from './problem.ts';
import { compilePromptBlocks, featureInjections } from './prompt-pass.ts';
import { finishedText } from './prompt-text.ts';
import type { SourceConfirmation, SourceFunction, SourceParallelStep, SourceStandardStep } from './source-format.ts';
import type { ExpandedNode, Surroundings, TemplateFunctions } from './template-pass.ts';
import { compileValidation } from './validation-pass.ts';
import { delimiterSafe } from './workflow-id.ts';

type StepNode = Extract<ExpandedNode, { kind: 'step' }>;
type SourceWorkStep = SourceStandardStep | SourceParallelStep;

/** Compiles a step and its derived steps (synthesis, audit, verification); returns their order. */
export function compileStep(
  compilation: Compilation,
  node: StepNode,
  loops: readonly string[],
  removed: ReadonlySet<string>,
): readonly ProgramEntry[] {
  const { step, around, sourceId } = node;
  const { problems } = compilation;
  const { place, slots } = around;
  const stepId = delimiterSafe(sourceId);
  const finish = (text: string, at: string) => finishedText(text, slots, at, problems);
  takeId(compilation, stepId, place(step, 'id'));

  checkPromptSource(compilation, step, around, removed);
  const prompt = compilePrompt();
  const delegation = step.type === 'parallel' ? delegationParts(compilation, step, stepId, around) : undefined;
  const runConditions = [...around.conditions, ...(step.runCondition === undefined ? [] : [step.runCondition])];
  const outputContract = step.outputContract;
  const hasContract =
    outputContract !== undefined &&
    addContract(compilation, outputContract.contractRef, place(outputContract, 'contractRef'));
  let rules = 0;

  addFunctions(compilation, stepFunctions(), { scope: 'step', owner: stepId }, place, finish);
  const compiled: CompiledStep = {
    stepId,
    sourceId,
    title: finish(step.title, place(step, 'title')),
    kind: step.type === 'parallel' ? 'parallel' : 'standard',
    loops,
    prompt: [prompt.text, delegation?.intro].filter(text => text !== undefined && text !== '').join('\n\n'),
    promptBlocks: prompt.blocks,
    fragments: [
      ...(step.promptFragments ?? []).map((fragment, index) => ({
        fragmentId: fragment.id,
        conditionId:
          fragment.when === undefined
            ? undefined
            : addCondition(compilation, `fragment_${index}_${stepId}`, [fragment.when], place),
        text: finish(fragment.text, place(fragment, 'text')),
      })),
      ...(delegation?.fragments ?? []),
    ],
    agentRole: step.agentRole ?? around.agentRole,
    modelTier: step.modelTier,
    guidance: [...around.guidance, ...ownGuidance(), ...prompt.guidance],
    askForFiles: step.askForFiles ?? false,
    hasValidation: step.hasValidation ?? step.validationCriteria !== undefined,
    confirmation: compileConfirmation(step.requireConfirmation ?? node.confirmation),
    runConditionId:
      runConditions.length === 0 ? undefined : addCondition(compilation, `run_${stepId}`, runConditions, place),
    validation:
      step.validationCriteria === undefined
        ? undefined
        : compileValidation(step.validationCriteria, place, problems, condition =>
            addCondition(compilation, `rule_${rules++}_${stepId}`, [condition], place),
          ),
    output: hasContract
      ? { contractRef: outputContract.contractRef, required: outputContract.required ?? true }
      : undefined,
    ...compileStepAssessments(compilation, step, around),
    notesRequired: step.notesOptional !== true && outputContract === undefined,
    nonAssumableChoices: choicesOf(step, around),
    functions: compileReferences(),
    functionCalls: (step.functionCalls ?? []).map(({ name, args }) => ({ name: functionName(name), args: args ?? {} })),
    delegations: delegation?.delegations ?? [],
    provenance:
      around.templateId === undefined
        ? { source: 'authored' }
        : { source: 'template_injected', originId: around.templateId },
    injections: prompt.injections,
  };
  const texts = [compiled.prompt, ...compiled.guidance, ...compiled.fragments.map(fragment => fragment.text)];
  spend(
    compilation,
    texts.reduce((sum, text) => sum + text.length + 8, 0),
    place(step),
  );
  const derived = derivedSteps(compilation, compiled, step, around);
  for (const each of [compiled, ...derived]) checkDecisionPlace(compilation, each, place(outputContract ?? step));
  compilation.steps.push(compiled, ...derived);
  return [compiled, ...derived].map(each => ({ kind: 'step', stepId: each.stepId }));

  function compilePrompt() {
    if (step.promptBlocks !== undefined) {
      const compiledBlocks = compilePromptBlocks(
        step.promptBlocks,
        around,
        compilation.features,
        compilation.hasher,
        problems,
      );
      return { ...compiledBlocks, guidance: [] };
    }
    return {
      text: step.prompt === undefined ? '' : finish(step.prompt, place(step, 'prompt')),
      blocks: undefined,
      guidance: compilation.features.flatMap(feature => feature.stepGuidance),
      injections: featureInjections(compilation.features, 'guidance', compilation.hasher),
    };
  }

  function ownGuidance(): readonly string[] {
    const list = step.guidance;
    return list?.map((text, index) => finish(text, place(list, index))) ?? [];
  }

  /** The step's own functions, and those of its template that it refers to without redefining. */
  function stepFunctions() {
    const own = step.functionDefinitions ?? [];
    const wanted = new Set(references().map(({ name }) => name));
    for (const each of own) wanted.delete(functionName(each.name));
    return [...own, ...[...wanted].flatMap(name => ofTemplate(name, around.functions))];
  }

  function references() {
    const named = step.functionReferences ?? [];
    return [
      ...named.map((name, index) => ({ name: functionName(name), at: place(named, index) })),
      ...(step.functionCalls ?? []).map(call => ({ name: functionName(call.name), at: place(call, 'name') })),
    ];
  }

  function compileConfirmation(source: SourceConfirmation | undefined): CompiledStep['confirmation'] {
    if (source === undefined || source === false) return { kind: 'none' };
    if (source === true) return { kind: 'required', approval: 'user' };
    const typed = isTypedConfirmation(source);
    const condition = typed ? source.condition : source;
    return {
      kind: 'required',
      approval: typed ? source.kind : 'user',
      conditionId:
        condition === undefined ? undefined : addCondition(compilation, `confirm_${stepId}`, [condition], place),
    };
  }

  function compileReferences(): readonly FunctionKey[] {
    const scopes: readonly Omit<FunctionKey, 'name'>[] = [
      { scope: 'step', owner: stepId },
      ...loops.toReversed().map(owner => ({ scope: 'loop' as const, owner })),
      { scope: 'workflow' },
    ];
    const found = new Map<string, FunctionKey & { readonly rank: number }>();
    for (const { name, at } of references()) {
      const rank = scopes.findIndex(scope => compilation.functions.has(functionKeyText({ ...scope, name })));
      const scope = scopes[rank];
      if (scope !== undefined) {
        found.set(name, { ...scope, name, rank });
        continue;
      }
      const message = `The function "${name}" is not defined where the step can see it.`;
      problems.add('function_unknown', at, message, () => {
        const meant = nearest(
          name,
          compilation.functions.values().map(each => each.name),
        );
        return meant === undefined ? 'Define it in functionDefinitions.' : `Did you mean "${meant}"?`;
      });
    }
    return [...found.values()]
      .sort((left, right) => left.rank - right.rank || (left.name < right.name ? -1 : 1))
      .map(({ rank: _, ...key }) => key);
  }
}

/** Undefined if there are none, so that a workflow without any keeps its hash from before the field existed. */
function choicesOf(step: SourceWorkStep, { choices }: Surroundings): CompiledStep['nonAssumableChoices'] {
  const marked = new Set([...choices, ...(step.nonAssumableChoices ?? [])]);
  return marked.size === 0 ? undefined : [...marked].sort();
}

function ofTemplate(name: string, functions: TemplateFunctions | undefined): readonly SourceFunction[] {
  for (let scope = functions; scope !== undefined; scope = scope.outer) {
    const found = scope.own.get(name);
    if (found !== undefined) return [found];
  }
  return [];
}

function isTypedConfirmation(
  source: Exclude<SourceConfirmation, boolean>,
): source is Extract<SourceConfirmation, { kind: 'coordinator_eval' | 'human_approval' }> {
  return source.kind === 'coordinator_eval' || source.kind === 'human_approval';
}

/** A decision about a loop counts only in the body of a loop that artifacts control. */
function checkDecisionPlace(compilation: Compilation, { stepId, loops, output }: CompiledStep, at: string): void {
  const innermost = loops.at(-1);
  if (output?.contractRef !== LOOP_CONTROL) return;
  if (innermost !== undefined && loopNameOf(compilation, innermost) !== undefined) return;
  const where =
    innermost === undefined ? 'outside of every loop' : `in the loop "${innermost}", which no artifact ends`;
  compilation.problems.add(
    'loop_decision_outside',
    at,
    `Step "${stepId}" is ${where}: its "continue" or "stop" decides nothing. A loop begins whatever was said before it.`,
    'Ask for it in the last step of the loop\'s body; to skip a whole loop, give the loop a "runCondition".',
  );
}

function checkPromptSource(
  { problems }: Compilation,
  step: SourceWorkStep,
  { place }: Surroundings,
  removed: ReadonlySet<string>,
): void {
  const given = (['prompt', 'promptBlocks'] as const).filter(field => step[field] !== undefined);
  const at = place(step);
  if (given.length > 1) {
    const message = 'The step has both "prompt" and "promptBlocks".';
    problems.add('prompt_source', at, message, 'Keep one of them.');
  }
  const lost = ['prompt', 'promptBlocks', 'templateCall', 'type'].some(field => removed.has(`${at}/${field}`));
  if (given.length === 0 && step.type !== 'parallel' && !lost) {
    const message = 'The step says nothing to the agent.';
    problems.add('prompt_source', at, message, 'Add one of "prompt", "promptBlocks" and "templateCall".');
  }
}
