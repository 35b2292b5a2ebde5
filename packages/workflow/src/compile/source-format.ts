import { type Json, json, text } from '@signalbox/model';
import * as z from 'zod';
import { nonAssumableChoiceKind } from '../session/reasons.ts';
import { autonomy, metricsProfile, modelTier, riskPolicy } from './compiled-workflow.ts';
import { limits } from './limits.ts';

/**
 * The workflow source format. These schemas have no defaults and transform nothing, so the compiler's passes work on the
 * file's own objects and can report their locations.
 */

const words = text.max(limits.textBytes);
const line = words.min(1);
const list = <Item extends z.ZodType>(item: Item) => z.array(item);
const args = z.record(z.string(), json);

export interface SourceCondition {
  readonly var?: string | undefined;
  readonly and?: readonly SourceCondition[] | undefined;
  readonly or?: readonly SourceCondition[] | undefined;
  readonly not?: SourceCondition | undefined;
  readonly [operator: string]: Json | SourceCondition | readonly SourceCondition[] | undefined;
}

const condition: z.ZodType<SourceCondition> = z.lazy(() =>
  z.strictObject({
    var: line.optional(),
    and: z.array(condition).optional(),
    or: z.array(condition).optional(),
    not: condition.optional(),
    equals: json.optional(),
    not_equals: json.optional(),
    gt: z.number().optional(),
    gte: z.number().optional(),
    lt: z.number().optional(),
    lte: z.number().optional(),
    contains: json.optional(),
    startsWith: text.optional(),
    endsWith: text.optional(),
    matches: text.optional(),
    in: z.array(json).optional(),
  }),
) as unknown as z.ZodType<SourceCondition>;

const part = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text: words }),
  z.strictObject({ kind: z.literal('ref'), refId: line }),
]);
const blockText = z.union([words, z.array(part)]);
export type SourceBlockText = z.infer<typeof blockText>;

const promptBlocks = z.strictObject({
  goal: blockText.optional(),
  constraints: list(blockText).optional(),
  procedure: list(blockText).optional(),
  outputRequired: z.record(z.string(), blockText).optional(),
  verify: list(blockText).optional(),
});
export type SourcePromptBlocks = z.infer<typeof promptBlocks>;

const functionDefinition = z.strictObject({
  name: line,
  definition: words,
  parameters: list(
    z.strictObject({
      name: line,
      type: text.optional(),
      required: z.boolean().optional(),
      description: words.optional(),
      enum: z.array(json).optional(),
      default: json.optional(),
    }),
  ).optional(),
  scope: z.enum(['workflow', 'loop', 'step']).optional(),
});
export type SourceFunction = z.infer<typeof functionDefinition>;

export interface SourceRule {
  readonly type?: 'contains' | 'regex' | 'length' | 'schema' | undefined;
  readonly value?: string | undefined;
  readonly pattern?: string | undefined;
  readonly flags?: string | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly schema?: { readonly [key: string]: Json } | undefined;
  readonly condition?: SourceCondition | undefined;
  readonly message?: string | undefined;
  readonly and?: readonly SourceRule[] | undefined;
  readonly or?: readonly SourceRule[] | undefined;
  readonly not?: SourceRule | undefined;
}

const rule: z.ZodType<SourceRule> = z.lazy(() =>
  z.strictObject({
    type: z.enum(['contains', 'regex', 'length', 'schema']).optional(),
    value: text.optional(),
    pattern: text.optional(),
    flags: text.optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    schema: z.record(z.string(), json).optional(),
    condition: condition.optional(),
    message: words.optional(),
    and: z.array(rule).optional(),
    or: z.array(rule).optional(),
    not: rule.optional(),
  }),
) as unknown as z.ZodType<SourceRule>;

const outputContract = z.strictObject({ contractRef: line, required: z.boolean().optional() });

const confirmation = z.union([
  z.boolean(),
  z.strictObject({ kind: z.enum(['coordinator_eval', 'human_approval']), condition: condition.optional() }),
  condition,
]);
export type SourceConfirmation = z.infer<typeof confirmation>;

/** Kinds of choices that an agent may not make on its own. */
const nonAssumableChoices = list(nonAssumableChoiceKind);
export type SourceChoiceKind = z.infer<typeof nonAssumableChoiceKind>;

const common = {
  id: line,
  title: words,
  prompt: words.optional(),
  promptBlocks: promptBlocks.optional(),
  agentRole: words.optional(),
  modelTier: modelTier.optional(),
  guidance: list(words).optional(),
  askForFiles: z.boolean().optional(),
  hasValidation: z.boolean().optional(),
  requireConfirmation: confirmation.optional(),
  runCondition: condition.optional(),
  validationCriteria: z.union([z.array(rule), rule]).optional(),
  outputContract: outputContract.optional(),
  assessmentRefs: list(line).optional(),
  assessmentConsequences: list(
    z.strictObject({
      when: z.strictObject({ anyEqualsLevel: line, forAssessment: line.optional() }),
      effect: z.strictObject({ kind: z.literal('require_followup'), guidance: words }),
    }),
  ).optional(),
  notesOptional: z.boolean().optional(),
  nonAssumableChoices: nonAssumableChoices.optional(),
  functionDefinitions: list(functionDefinition).optional(),
  functionReferences: list(line).optional(),
  functionCalls: list(z.strictObject({ name: line, args: args.optional() })).optional(),
  promptFragments: list(z.strictObject({ id: line, when: condition.optional(), text: words })).optional(),
  audit: z.strictObject({ prompt: words.optional(), rubric: list(words).optional() }).optional(),
  verification: z.strictObject({ command: words.optional(), prompt: words.optional() }).optional(),
};

const standardStep = z.strictObject({
  ...common,
  type: z.literal('standard').optional(),
  templateCall: z.strictObject({ templateId: line, args: args.optional() }).optional(),
});
export type SourceStandardStep = z.infer<typeof standardStep>;

const parallelStep = z.strictObject({
  ...common,
  type: z.literal('parallel'),
  parallelDelegations: z
    .array(
      z.strictObject({
        workflowId: line,
        goal: words.optional(),
        runCondition: condition.optional(),
        contextMapping: z.record(z.string(), line).optional(),
        args: args.optional(),
        modelTier: modelTier.optional(),
        allowedTools: list(line).optional(),
      }),
    )
    .min(1),
  synthesis: z.strictObject({ prompt: words.optional(), outputContract: outputContract.optional() }).optional(),
});
export type SourceParallelStep = z.infer<typeof parallelStep>;

const loopSpec = z.strictObject({
  type: z.enum(['while', 'until', 'for', 'forEach']),
  maxIterations: z.int().min(1).max(limits.maxIterations),
  condition: condition.optional(),
  items: line.optional(),
  count: z.union([z.int().nonnegative(), line]).optional(),
  iterationVar: line.optional(),
  itemVar: line.optional(),
  indexVar: line.optional(),
  conditionSource: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('artifact_contract'), contractRef: line, loopId: line.optional() }),
      z.strictObject({ kind: z.literal('context_variable'), condition }),
    ])
    .optional(),
});
const loopFields = {
  type: z.literal('loop'),
  id: line,
  title: words,
  prompt: words.optional(),
  agentRole: words.optional(),
  guidance: list(words).optional(),
  requireConfirmation: confirmation.optional(),
  runCondition: condition.optional(),
  functionDefinitions: list(functionDefinition).optional(),
  loop: loopSpec,
};
export type SourceLoopStep = z.infer<z.ZodObject<typeof loopFields, z.core.$strict>> & {
  readonly body: string | readonly SourceStep[];
};
export type SourceStep = SourceStandardStep | SourceParallelStep | SourceLoopStep;

const loopStep = z.strictObject({
  ...loopFields,
  get body() {
    return z.union([line, z.array(step)]);
  },
});

const step: z.ZodType<SourceStep> = z.lazy(() =>
  z.discriminatedUnion('type', [loopStep, parallelStep, standardStep]),
) as unknown as z.ZodType<SourceStep>;

const feature = z.union([line, z.strictObject({ id: line, config: args.optional() })]);
export type SourceFeature = z.infer<typeof feature>;

export const sourceWorkflow = z.strictObject({
  $schema: text.optional(),
  id: line,
  name: line,
  description: words,
  version: z
    .string()
    .regex(
      /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/,
      'must be a semantic version such as 1.0.0',
    ),
  steps: z.array(step).min(1),
  modelTier: modelTier.optional(),
  preconditions: list(words).optional(),
  clarificationPrompts: list(words).optional(),
  metaGuidance: list(words).optional(),
  functionDefinitions: list(functionDefinition).optional(),
  recommendedPreferences: z
    .strictObject({ recommendedAutonomy: autonomy.optional(), recommendedRiskPolicy: riskPolicy.optional() })
    .optional(),
  nonAssumableChoices: nonAssumableChoices.optional(),
  features: list(feature).optional(),
  assessments: list(
    z.strictObject({
      id: line,
      purpose: words,
      dimensions: z
        .array(
          z.strictObject({
            id: line,
            purpose: words,
            levels: z.array(line).min(1),
            required: z.boolean().optional(),
          }),
        )
        .min(1),
    }),
  ).optional(),
  extensionPoints: list(
    z.strictObject({
      slotId: line,
      purpose: words.optional(),
      default: line.max(limits.bindingLength).optional(),
      acceptedKinds: list(line).optional(),
    }),
  ).optional(),
  references: list(
    z.strictObject({
      id: line,
      title: words.optional(),
      source: words,
      purpose: words.optional(),
      authoritative: z.boolean().optional(),
      resolveFrom: text.optional(),
    }),
  ).optional(),
  validatedAgainstSpecVersion: z.union([text, z.number()]).optional(),
  about: words.optional(),
  examples: list(json).optional(),
  metricsProfile: metricsProfile.optional(),
});
export type SourceWorkflow = z.infer<typeof sourceWorkflow>;

/** The fields of every object of the format, by object type. */
export const sourceFields = {
  workflow: Object.keys(sourceWorkflow.shape),
  standard: Object.keys(standardStep.shape),
  parallel: Object.keys(parallelStep.shape),
  loopStep: [...Object.keys(loopFields), 'body'],
  loop: Object.keys(loopSpec.shape),
  promptBlocks: Object.keys(promptBlocks.shape),
} as const;
