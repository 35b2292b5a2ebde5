import { digest, type Json, json } from '@signalbox/model';
import * as z from 'zod';
import { nonAssumableChoiceKind } from '../session/reasons.ts';
import { type ConditionExpression, conditionExpression } from './condition.ts';
import { type Shape, shape } from './shape.ts';
import { type ValidationExpression, validationExpression } from './validation.ts';

/**
 * A workflow as it is pinned, hashed and run: fully expanded, self-contained, plain data. Version 1 is frozen; any change is
 * a version 2 next to it.
 *
 * C1  `program` is the order of execution. Every step and every loop of the snapshot occurs in it, or in the `body` of a
 *     loop, exactly once.
 * C2  `steps` is in program order, bodies in place. `conditions`, `loops`, `contracts`, `features`, `assessments` and
 *     `references` are sorted by id; `functions` by scope (workflow, loop, step), owner and name.
 * C3  `stepId`, `loopId` and `conditionId` are delimiter-safe and unique; steps and loops share one space of names.
 * C4  Nothing in it depends on time, place or machine.
 */

/** An id that keys, tokens and pointers can contain without escaping. */
export const delimiterSafeId = z.string().regex(/^[a-z0-9_-]+$/, 'must be of a-z, 0-9, _ and -');

export const capability = z.enum(['delegation', 'web_browsing']);
export type Capability = z.infer<typeof capability>;

export const autonomy = z.enum(['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop']);
export type Autonomy = z.infer<typeof autonomy>;

export const riskPolicy = z.enum(['conservative', 'balanced', 'aggressive']);
export type RiskPolicy = z.infer<typeof riskPolicy>;

export const modelTier = z.enum(['lightweight', 'mid', 'heavy']);
export const metricsProfile = z.enum(['coding', 'review', 'research', 'design', 'ticket', 'none']);

const texts = z.array(z.string());

/** Where a step came from. */
const provenance = z.discriminatedUnion('source', [
  z.strictObject({ source: z.literal('authored') }),
  z.strictObject({ source: z.literal('template_injected'), originId: z.string() }),
  z.strictObject({ source: z.literal('feature_injected'), originId: z.string() }),
]);

/** Text that the author did not write: its source, location and size. */
const injection = z.strictObject({
  kind: z.enum(['ref', 'feature']),
  id: z.string(),
  contentHash: digest,
  bytes: z.int().nonnegative(),
  placement: z.enum(['goal', 'constraints', 'procedure', 'verify', 'guidance']),
});

/** A text of prompt blocks with resolved refs: parts from a ref keep its id. */
const resolvedPart = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text: z.string() }),
  z.strictObject({ kind: z.literal('ref'), refId: z.string(), refContentHash: digest, text: z.string() }),
]);
const resolvedText = z.array(resolvedPart);

const promptBlocks = z.strictObject({
  goal: resolvedText.optional(),
  constraints: z.array(resolvedText).optional(),
  procedure: z.array(resolvedText).optional(),
  outputRequired: z.array(z.strictObject({ key: z.string(), value: resolvedText })).optional(),
  verify: z.array(resolvedText).optional(),
});

/** A part of a prompt that is included if its condition holds, or always. */
const promptFragment = z.strictObject({
  fragmentId: z.string(),
  conditionId: delimiterSafeId.optional(),
  text: z.string(),
});

/** `approval` says who confirms; with a condition, only when it holds. */
const confirmation = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('required'),
    approval: z.enum(['user', 'coordinator_eval', 'human_approval']),
    conditionId: delimiterSafeId.optional(),
  }),
]);

const assessmentConsequence = z.strictObject({
  anyEqualsLevel: z.string(),
  forAssessment: z.string().optional(),
  effect: z.strictObject({ kind: z.literal('require_followup'), guidance: z.string() }),
});

const delegation = z.strictObject({
  workflowId: z.string(),
  goal: z.string().optional(),
  conditionId: delimiterSafeId.optional(),
  /** Names in the delegate's context, mapped to the names here that provide their values. */
  contextMapping: z.array(z.strictObject({ to: z.string(), from: z.string() })),
  args: z.record(z.string(), json),
  modelTier: modelTier.optional(),
  allowedTools: texts.optional(),
});

/** A function's text by name and scope. `owner` is a loop's or a step's id; absent for `workflow`. */
const functionKey = z.strictObject({
  scope: z.enum(['workflow', 'loop', 'step']),
  owner: delimiterSafeId.optional(),
  name: z.string(),
});

const compiledStep = z.strictObject({
  stepId: delimiterSafeId,
  /** The id for people: dotted if a template was expanded. */
  sourceId: z.string(),
  title: z.string(),
  kind: z.enum(['standard', 'parallel', 'synthesis', 'audit', 'verification', 'capability_probe']),
  /** The step that this one was derived from (`X` of `X__audit`). */
  derivedFrom: delimiterSafeId.optional(),
  /** The loops around the step, outermost first. */
  loops: z.array(delimiterSafeId),
  /** The rendered text, refs embedded. `{{path}}` in it reads the context when it is shown. */
  prompt: z.string(),
  promptBlocks: promptBlocks.optional(),
  fragments: z.array(promptFragment),
  agentRole: z.string().optional(),
  modelTier: modelTier.optional(),
  guidance: texts,
  askForFiles: z.boolean(),
  hasValidation: z.boolean(),
  confirmation,
  runConditionId: delimiterSafeId.optional(),
  validation: validationExpression.optional(),
  /** If there is a contract, `validation` is not checked. */
  output: z.strictObject({ contractRef: z.string(), required: z.boolean() }).optional(),
  assessmentRefs: texts,
  assessmentConsequences: z.array(assessmentConsequence),
  notesRequired: z.boolean(),
  /** Choices reserved for the person, sorted; absent if there are none. */
  nonAssumableChoices: z.array(nonAssumableChoiceKind).min(1).optional(),
  /** The functions that the step refers to or calls, nearest scope first, then by name. */
  functions: z.array(functionKey),
  functionCalls: z.array(z.strictObject({ name: z.string(), args: z.record(z.string(), json) })),
  delegations: z.array(delegation),
  probe: z.strictObject({ capability, templateId: z.string() }).optional(),
  provenance,
  injections: z.array(injection),
});

const programEntry = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('step'), stepId: delimiterSafeId }),
  z.strictObject({ kind: z.literal('loop'), loopId: delimiterSafeId }),
]);

/**
 * Decides whether there is another iteration. `while` and `until` evaluate a condition; `for` counts to a number or to
 * the value of a context key; `forEach` takes the items of a context key.
 */
const loopControl = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('condition_ref'), conditionId: delimiterSafeId }),
  z.strictObject({ kind: z.literal('count'), count: z.int().nonnegative() }),
  z.strictObject({ kind: z.literal('count_key'), key: z.string() }),
  z.strictObject({ kind: z.literal('items_key'), key: z.string() }),
]);

const compiledLoop = z.strictObject({
  loopId: delimiterSafeId,
  sourceId: z.string(),
  title: z.string(),
  type: z.enum(['while', 'until', 'for', 'forEach']),
  /** The maximum number of iterations. */
  maxIterations: z.int().positive(),
  control: loopControl,
  /** Context names that an iteration sees: its number from 1, and for `forEach` the item and its index from 0. */
  iterationVar: z.string(),
  itemVar: z.string(),
  indexVar: z.string(),
  runConditionId: delimiterSafeId.optional(),
  /** The loops around this one, outermost first. */
  loops: z.array(delimiterSafeId),
  body: z.array(programEntry),
  provenance,
});

/**
 * `expression` reads the context. `loop_control` reads the newest valid artifact of the contract that the loop's body
 * gave in this iteration: `continue` is true, `stop` is false.
 */
const compiledCondition = z.discriminatedUnion('kind', [
  z.strictObject({
    conditionId: delimiterSafeId,
    kind: z.literal('expression'),
    expression: conditionExpression,
  }),
  z.strictObject({
    conditionId: delimiterSafeId,
    kind: z.literal('loop_control'),
    contractRef: z.string(),
    loopId: delimiterSafeId,
  }),
]);

const compiledContract = z.strictObject({
  contractRef: z.string(),
  /** The `kind` of its artifacts. */
  artifactKind: z.string(),
  /** The artifact without its `kind`. */
  shape,
  guidance: texts,
  example: json,
});

const compiledFunction = z.strictObject({
  ...functionKey.shape,
  definition: z.string(),
  parameters: z.array(
    z.strictObject({
      name: z.string(),
      type: z.string().optional(),
      required: z.boolean(),
      description: z.string().optional(),
    }),
  ),
});

const compiledAssessment = z.strictObject({
  assessmentId: z.string(),
  purpose: z.string(),
  dimensions: z.array(
    z.strictObject({ dimensionId: z.string(), purpose: z.string(), levels: texts, required: z.boolean() }),
  ),
});

const compiledFeature = z.strictObject({ featureId: z.string(), config: z.record(z.string(), json) });

const compiledReference = z.strictObject({
  id: z.string(),
  title: z.string(),
  source: z.string(),
  purpose: z.string(),
  authoritative: z.boolean(),
});

const capabilityNeeds = z.strictObject({
  required: z.array(capability),
  preferred: z.array(capability),
  disabled: z.array(capability),
});

const compiledWarning = z.strictObject({ code: z.string(), path: z.string() });

export const compiledWorkflowSnapshotV1 = z.strictObject({
  schemaVersion: z.literal(1),
  workflowId: z.string(),
  name: z.string(),
  description: z.string(),
  version: z.string(),
  modelTier: modelTier.optional(),
  metricsProfile: metricsProfile.optional(),
  preconditions: texts,
  clarificationPrompts: texts,
  metaGuidance: texts,
  recommendations: z.strictObject({ autonomy: autonomy.optional(), riskPolicy: riskPolicy.optional() }),
  capabilities: capabilityNeeds,
  features: z.array(compiledFeature),
  contracts: z.array(compiledContract),
  assessments: z.array(compiledAssessment),
  references: z.array(compiledReference),
  functions: z.array(compiledFunction),
  program: z.array(programEntry),
  steps: z.array(compiledStep),
  conditions: z.array(compiledCondition),
  loops: z.array(compiledLoop),
  compiledWarnings: z.array(compiledWarning),
});

/** Deeply read-only; stops at recursive types, which are already read-only. */
type Frozen<T> = [Json] extends [T]
  ? T
  : [T] extends [Shape | ConditionExpression | ValidationExpression | undefined]
    ? T
    : T extends (infer Item)[]
      ? readonly Frozen<Item>[]
      : T extends object
        ? { readonly [Key in keyof T]: Frozen<T[Key]> }
        : T;

export type CompiledWorkflowSnapshotV1 = Frozen<z.infer<typeof compiledWorkflowSnapshotV1>>;
export type CompiledStep = CompiledWorkflowSnapshotV1['steps'][number];
export type CompiledLoop = CompiledWorkflowSnapshotV1['loops'][number];
export type CompiledCondition = CompiledWorkflowSnapshotV1['conditions'][number];
export type CompiledContract = CompiledWorkflowSnapshotV1['contracts'][number];
export type CompiledFunction = CompiledWorkflowSnapshotV1['functions'][number];
export type CompiledAssessment = CompiledWorkflowSnapshotV1['assessments'][number];
export type ProgramEntry = CompiledWorkflowSnapshotV1['program'][number];
