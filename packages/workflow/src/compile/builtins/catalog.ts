import { autonomy, capability, metricsProfile, modelTier, riskPolicy } from '../compiled-workflow.ts';
import { CONDITION_OPERATORS } from '../condition.ts';
import { compare } from '../problem.ts';
import { type Routines, TEMPLATE_PREFIX } from '../routines.ts';
import type { Shape } from '../shape.ts';
import { contractPacks } from './contract-packs.ts';
import { features } from './features.ts';
import { refSnippets } from './refs.ts';

/** Something that authors can use by name, for lists and editors. */
export interface Builtin {
  readonly kind:
    | 'ref'
    | 'feature'
    | 'contract'
    | 'template'
    | 'capability'
    | 'loop_type'
    | 'condition_operator'
    | 'validation_rule'
    | 'autonomy'
    | 'risk_policy'
    | 'model_tier'
    | 'metrics_profile';
  readonly id: string;
  readonly purpose: string;
  /** Its configuration or content, if any. */
  readonly shape?: Shape;
}

const named = (kind: Builtin['kind'], purposes: Readonly<Record<string, string>>): readonly Builtin[] =>
  Object.entries(purposes).map(([id, purpose]) => ({ kind, id, purpose }));

/** Every builtin, generated from the compiler's own definitions; sorted by kind and id. */
export function builtinCatalog(routines: Routines): readonly Builtin[] {
  const all: readonly Builtin[] = [
    ...refSnippets.map(({ refId, purpose }) => ({ kind: 'ref' as const, id: refId, purpose })),
    ...features.map(each => ({
      kind: 'feature' as const,
      id: each.featureId,
      purpose: each.purpose,
      shape: each.config,
    })),
    ...contractPacks.map(each => ({
      kind: 'contract' as const,
      id: each.contractRef,
      purpose: `An artifact of kind ${each.artifactKind}`,
      shape: each.shape,
    })),
    ...[...routines.entries()].map(([name, routine]) => ({
      kind: 'template' as const,
      id: `${TEMPLATE_PREFIX}${name}`,
      purpose: routine.workflow.description,
    })),
    ...named('loop_type', {
      while: 'another iteration as long as the loop-control artifact says continue',
      until: 'another iteration until the condition holds',
      for: 'a number of iterations',
      forEach: 'an iteration for each item of a list in the context',
    }),
    ...CONDITION_OPERATORS.map(id => ({ kind: 'condition_operator' as const, id, purpose: 'compares a context key' })),
    ...named('validation_rule', {
      contains: 'the notes contain a text',
      regex: 'the notes match a pattern',
      length: 'the notes have a length',
    }),
    ...capability.options.map(id => ({ kind: 'capability' as const, id, purpose: 'what an agent may be able to do' })),
    ...autonomy.options.map(id => ({ kind: 'autonomy' as const, id, purpose: 'when a run stops for a person' })),
    ...riskPolicy.options.map(id => ({ kind: 'risk_policy' as const, id, purpose: 'how much risk a run may take' })),
    ...modelTier.options.map(id => ({ kind: 'model_tier' as const, id, purpose: 'how able a model the step wants' })),
    ...metricsProfile.options.map(id => ({ kind: 'metrics_profile' as const, id, purpose: 'what is measured' })),
  ];
  return [...all].sort((left, right) => compare(left.kind, right.kind) || compare(left.id, right.id));
}
