import {
  addCondition,
  addContract,
  addFunctions,
  type Compilation,
  LOOP_CONTROL,
  loopNameOf,
  takeId,
} from './compilation.ts';
import type { CompiledLoop, ProgramEntry } from './compiled-workflow.ts';
import { finishedText } from './prompt-text.ts';
import type { SourceCondition } from './source-format.ts';
import { compileStep } from './step-pass.ts';
import type { ExpandedNode } from './template-pass.ts';
import { delimiterSafe, loopName } from './workflow-id.ts';

type LoopNode = Extract<ExpandedNode, { kind: 'loop' }>;

/** Compiles a list of steps and loops in order; returns their program. */
export function compileProgram(
  compilation: Compilation,
  nodes: readonly ExpandedNode[],
  loops: readonly string[],
  removed: ReadonlySet<string>,
): readonly ProgramEntry[] {
  return nodes.flatMap(node => {
    if (compilation.budget.left < 0) return [];
    return node.kind === 'step'
      ? compileStep(compilation, node, loops, removed)
      : [compileLoop(compilation, node, loops, removed)];
  });
}

function compileLoop(
  compilation: Compilation,
  node: LoopNode,
  outer: readonly string[],
  removed: ReadonlySet<string>,
): ProgramEntry {
  const { step, around, sourceId } = node;
  const { place, slots } = around;
  const { problems } = compilation;
  const loopId = delimiterSafe(sourceId);
  const finish = (text: string, at: string) => finishedText(text, slots, at, problems);
  takeId(compilation, loopId, place(step, 'id'));
  addFunctions(compilation, step.functionDefinitions, { scope: 'loop', owner: loopId }, place, finish);
  const conditions = [...around.conditions, ...(step.runCondition === undefined ? [] : [step.runCondition])];
  const control = compileControl();
  const stepsBefore = compilation.steps.length;
  const body = compileProgram(compilation, confirmed(node), [...outer, loopId], removed);
  checkDecision();
  compilation.loops.push({
    loopId,
    sourceId,
    title: finish(step.title, place(step, 'title')),
    type: step.loop.type,
    maxIterations: step.loop.maxIterations,
    control,
    iterationVar: step.loop.iterationVar ?? 'currentIteration',
    itemVar: step.loop.itemVar ?? 'currentItem',
    indexVar: step.loop.indexVar ?? 'currentIndex',
    runConditionId: conditions.length === 0 ? undefined : addCondition(compilation, `run_${loopId}`, conditions, place),
    loops: outer,
    body,
    provenance:
      around.templateId === undefined
        ? { source: 'authored' }
        : { source: 'template_injected', originId: around.templateId },
  });
  return { kind: 'loop', loopId };

  function compileControl(): CompiledLoop['control'] {
    const { loop } = step;
    switch (loop.type) {
      case 'for':
        if (typeof loop.count === 'number') return { kind: 'count', count: loop.count };
        if (loop.count === undefined) lacks('"count": a number, or the name of a context key that holds one');
        return { kind: 'count_key', key: loop.count ?? '' };
      case 'forEach':
        if (loop.items === undefined) lacks('"items": the name of a context key that holds a list');
        return { kind: 'items_key', key: loop.items ?? '' };
      case 'while':
      case 'until':
        return { kind: 'condition_ref', conditionId: loopCondition() };
    }
  }

  function lacks(what: string): void {
    problems.add('loop_control', place(step.loop), `A loop of type ${step.loop.type} needs ${what}.`, `Add ${what}.`);
  }

  function loopCondition(): string {
    const { loop } = step;
    const conditionId = `loop_${loopId}`;
    const source = loop.conditionSource;
    if (source?.kind === 'artifact_contract') {
      const at = place(source, 'contractRef');
      if (addContract(compilation, source.contractRef, at) && source.contractRef !== LOOP_CONTROL) {
        const message = `"${source.contractRef}" does not decide whether a loop goes on.`;
        problems.add('contract_kind', at, message, `Use "${LOOP_CONTROL}".`);
      }
      const { contractRef } = source;
      const name = nameOf(source.loopId);
      compilation.conditions.set(conditionId, { conditionId, kind: 'loop_control', contractRef, loopId: name });
      return conditionId;
    }
    const condition: SourceCondition | undefined = source?.condition ?? loop.condition;
    if (condition === undefined) {
      lacks(`"conditionSource": {"kind": "artifact_contract", "contractRef": "${LOOP_CONTROL}"}`);
      return conditionId;
    }
    problems.add(
      'context_loop_source',
      source === undefined ? place(loop, 'condition') : place(loop, 'conditionSource'),
      'The loop is controlled by context keys, which an agent can forget to set.',
      `Control it by an artifact: "conditionSource": {"kind": "artifact_contract", "contractRef": "${LOOP_CONTROL}"}.`,
    );
    return addCondition(compilation, conditionId, [condition], place);
  }

  /** The name by which artifacts may mean this loop, besides its id. Inside, it may not also mean a loop around this one. */
  function nameOf(given: string | undefined): string {
    if (given === undefined || given === step.id) return loopId;
    const name = loopName(given);
    const around = outer.find(each => each === name || loopNameOf(compilation, each) === name);
    if (around !== undefined && step.loop.conditionSource !== undefined) {
      problems.add(
        'loop_id',
        place(step.loop.conditionSource, 'loopId'),
        `The loopId "${given}" also names the loop "${around}" around this one: an artifact that names it decides this loop.`,
        `Give this loop a name of its own, such as "${step.id}", or leave loopId out.`,
      );
    }
    return name;
  }

  /** A loop would block if no step of its body had to provide its control artifact. */
  function checkDecision(): void {
    if (step.loop.conditionSource?.kind !== 'artifact_contract') return;
    const decides = compilation.steps
      .slice(stepsBefore)
      .some(each => each.loops.at(-1) === loopId && each.output?.contractRef === LOOP_CONTROL);
    if (decides) return;
    problems.add(
      'loop_without_decision',
      place(step, 'body'),
      'No step of the body is asked for the artifact that says whether the loop goes on.',
      `Give the last step of the body "outputContract": {"contractRef": "${LOOP_CONTROL}"}.`,
    );
  }
}

/** A loop's confirmation happens at the first step of its body. */
function confirmed({ step, body }: LoopNode): readonly ExpandedNode[] {
  const first = body.findIndex(node => node.kind === 'step');
  return body.map((node, index) =>
    index === first && node.kind === 'step' && node.confirmation === undefined
      ? { ...node, confirmation: step.requireConfirmation }
      : node,
  );
}
