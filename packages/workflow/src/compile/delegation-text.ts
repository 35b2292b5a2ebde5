import { canonicalJson } from '@signalbox/model';
import { addCondition, type Compilation, spend } from './compilation.ts';
import type { CompiledStep } from './compiled-workflow.ts';
import { finishedText } from './prompt-text.ts';
import type { SourceParallelStep } from './source-format.ts';
import type { Surroundings } from './template-pass.ts';

type Delegation = CompiledStep['delegations'][number];
type Fragment = CompiledStep['fragments'][number];

const INTRO = [
  'SPAWN SUBAGENTS for the parts below, one for each, with your tool for subagents (the Task tool, where that is its name).',
  'Spawn them IN PARALLEL: make all the calls in one response, then wait for all the answers.',
  'Give each the goal and everything listed for it; it sees nothing of this conversation.',
].join('\n');

const RULES = [
  'DO NOT start a workflow session for any of these yourself.',
  'DO NOT call the subagents one after the other.',
  'If you have no subagents, do each part yourself in this order and say so in your notes.',
].join('\n');

/** The text of a parallel step: a fixed part, and one for each applicable delegation. */
export function delegationParts(
  compilation: Compilation,
  step: SourceParallelStep,
  stepId: string,
  { place, slots }: Surroundings,
): { readonly intro: string; readonly fragments: readonly Fragment[]; readonly delegations: readonly Delegation[] } {
  const delegations = step.parallelDelegations.map((source, index): Delegation => {
    const finish = (text: string, key: string) => finishedText(text, slots, place(source, key), compilation.problems);
    const mapping = source.contextMapping ?? {};
    return {
      workflowId: finish(source.workflowId, 'workflowId'),
      goal: source.goal === undefined ? undefined : finish(source.goal, 'goal'),
      conditionId:
        source.runCondition === undefined
          ? undefined
          : addCondition(compilation, `delegation_${index}_${stepId}`, [source.runCondition], place),
      contextMapping: Object.keys(mapping)
        .sort()
        .map(to => ({ to, from: mapping[to] ?? '' })),
      args: source.args ?? {},
      modelTier: source.modelTier,
      allowedTools: source.allowedTools,
    };
  });
  return {
    intro: INTRO,
    delegations,
    fragments: [
      ...delegations.map((delegation, index) => ({
        fragmentId: `wr-delegation-${index + 1}`,
        conditionId: delegation.conditionId,
        text: describe(delegation, index + 1),
      })),
      ...routineFragments(compilation, delegations, place(step, 'parallelDelegations')),
      { fragmentId: 'wr-delegation-rules', text: RULES },
    ],
  };
}

/** The text of each routine, once: a delegate sees nothing else, and an agent without subagents follows it itself. */
function routineFragments(
  compilation: Compilation,
  delegations: readonly Delegation[],
  at: string,
): readonly Fragment[] {
  const calls = new Map(delegations.map(each => [canonicalJson([each.workflowId, each.args]), each]));
  return [...calls.values()].flatMap(({ workflowId, args }, index) => {
    const text = compilation.delegateText(workflowId, args);
    if (text === undefined) return [];
    spend(compilation, text.length, at);
    return [{ fragmentId: `wr-routine-${index + 1}`, text: `${routineIntro(workflowId)}\n\n${text}` }];
  });
}

const routineIntro = (workflowId: string) =>
  `**The routine ${workflowId}.** Give all of the text below to each subagent that follows it.`;

function describe(delegation: Delegation, number: number): string {
  const lines = [
    `**Subagent ${number}: ${delegation.workflowId}**`,
    `- Task: follow the routine ${delegation.workflowId} and return its result`,
    ...(delegation.goal === undefined ? [] : [`- Goal: ${delegation.goal}`]),
    ...delegation.contextMapping.map(({ to, from }) => `- ${to}: {{${from}}}`),
    ...(Object.keys(delegation.args).length === 0 ? [] : [`- Arguments: ${canonicalJson(delegation.args)}`]),
    ...(delegation.modelTier === undefined ? [] : [`- Model: ${delegation.modelTier}`]),
    ...(delegation.allowedTools === undefined ? [] : [`- Tools it may use: ${delegation.allowedTools.join(', ')}`]),
  ];
  return lines.join('\n');
}
