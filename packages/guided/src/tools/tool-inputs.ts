import { json, jsonObject, text } from '@signalbox/model';
import * as z from 'zod';

/** The inputs of the tools. The descriptions are for an agent that has never seen them. */

/** The most texts or artifacts in a tool call, and the most characters of a text field. */
const inputLimits = { items: 20, textLength: 100_000, queryLength: 2_000 } as const;

const id = text.min(1).max(200);
/** Any text: an invalid token has its own error codes. */
const token = (what: string) => z.string().describe(what);
const bounded = text.min(1).max(inputLimits.queryLength);

export const autonomy = z
  .enum(['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'])
  .describe(
    'guided: the person confirms steps. full_auto_stop_on_user_deps: stop only for what only the person can give. full_auto_never_stop: never stop; missing input is recorded as a gap.',
  );
export const riskPolicy = z.enum(['conservative', 'balanced', 'aggressive']);

const preferenceChanges = z
  .strictObject({ autonomy: autonomy.optional(), riskPolicy: riskPolicy.optional() })
  .describe(
    'Use only to be stricter than the current preferences. Applies from this step on; looser values are refused, since only the person sets those.',
  );

const workspacePath = text
  .min(1)
  .max(4_096)
  .describe('The absolute path of your working directory; its git root, branch and head are recorded.');

const context = jsonObject.describe(
  'Facts that the workflow reads, by name: ticket ids, paths, lists to work through. They are stored: send only new or changed ones; null deletes. At most 256 KB; pass references, not contents.',
);

export const needFromUser = z.strictObject({
  reason: z.enum([
    'needs_user_secret_or_token',
    'needs_user_account_access',
    'needs_user_artifact',
    'needs_user_choice',
    'needs_user_approval',
    'needs_user_environment_action',
  ]),
  summary: bounded.describe('What exactly is needed, in a sentence that the person can answer.'),
  choice: z
    .enum([
      'preference_tradeoff',
      'scope_boundary',
      'irreversible_action',
      'external_side_effect',
      'policy_or_compliance',
    ])
    .optional()
    .describe(
      "For needs_user_choice: the kind of choice. It waits for the person if the prompt lists that kind under THE PERSON'S CHOICES; any other choice is yours, and it is recorded that you made it.",
    ),
});

const capabilityObservation = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('attempted_use').describe('You really used it in this step.'),
    capability: z.enum(['delegation', 'web_browsing']),
    result: z.enum(['success', 'failure']),
    failureCode: z.enum(['tool_missing', 'tool_error', 'policy_blocked', 'unknown']).optional(),
  }),
  z.strictObject({
    kind: z.literal('manual_claim').describe('Somebody says so; unlocks nothing.'),
    capability: z.enum(['delegation', 'web_browsing']),
    claimedBy: z.enum(['agent', 'user']),
    claim: z.enum(['available', 'unavailable']),
  }),
]);

const divergence = z.strictObject({
  reason: z.enum([
    'missing_user_context',
    'capability_unavailable',
    'efficiency_skip',
    'safety_stop',
    'policy_constraint',
  ]),
  summary: bounded,
  relatedStepId: id.optional(),
});

const correction = z
  .strictObject({
    outputId: id.describe('The wrong output: an outputId from "outputs"; rehydrate to see them.'),
    notesMarkdown: text.max(inputLimits.textLength).optional().describe('The complete notes as they should have been.'),
    artifact: json.optional().describe('The complete artifact as it should have been.'),
  })
  .refine(({ notesMarkdown, artifact }) => (notesMarkdown === undefined) !== (artifact === undefined), {
    error: 'takes either notesMarkdown or artifact',
  });

const output = z
  .strictObject({
    notesMarkdown: text
      .max(inputLimits.textLength)
      .optional()
      .describe(
        'What you did in THIS step only, in markdown, 10 to 30 lines: decisions and why, what you produced (files, numbers), risks and open questions. Never repeat earlier notes.',
      ),
    artifacts: z
      .array(json)
      .max(inputLimits.items)
      .optional()
      .describe('Structured results with a "kind", as OUTPUT REQUIREMENTS of the prompt say.'),
    needsFromUser: z
      .array(needFromUser)
      .max(inputLimits.items)
      .optional()
      .describe('What only the person can give, when you cannot finish the step without it.'),
    capabilityObservations: z
      .array(capabilityObservation)
      .max(inputLimits.items)
      .optional()
      .describe('What you learned about delegation or web browsing.'),
    divergences: z
      .array(divergence)
      .max(inputLimits.items)
      .optional()
      .describe('Where you deliberately deviated from the step, and why.'),
    corrections: z
      .array(correction)
      .max(inputLimits.items)
      .optional()
      .describe(
        'Only if something that you handed in earlier, on the way here, turned out wrong: its replacement. Counts when this step passes; the old output stays in the history.',
      ),
  })
  .describe('Your output for the pending step.');

export const listInput = z.strictObject({
  includeRoutines: z.boolean().optional().describe('Also list routines, which other workflows are built from.'),
});

export const inspectInput = z.strictObject({
  workflowId: id,
  mode: z
    .enum(['metadata', 'preview'])
    .optional()
    .describe('metadata: its purpose. preview (default): also the titles of its steps, never their prompts.'),
});

export const startInput = z.strictObject({
  workflowId: id.describe('As returned by list_workflows.'),
  context: context.optional(),
  preferences: preferenceChanges.optional(),
  workspacePath: workspacePath.optional(),
  startKey: text
    .min(1)
    .max(200)
    .optional()
    .describe('Your own name for this start: the same start sent again is the same run, not a second one.'),
});

export const continueInput = z.strictObject({
  stateToken: token('A place: the stateToken of an answer, unchanged. Not needed with an ackToken.').optional(),
  ackToken: token(
    'The ackToken of the last answer, unchanged. With it the pending step is handed in; without it nothing changes.',
  ).optional(),
  intent: z
    .enum(['advance', 'rehydrate'])
    .optional()
    .describe(
      'advance: hand in the pending step; needs the ackToken. rehydrate: only show the step again, with fresh tokens; changes nothing; either token names the place. Defaults to advance if there is an ackToken.',
    ),
  outputIds: z
    .array(id)
    .min(1)
    .max(inputLimits.items)
    .optional()
    .describe('Only with rehydrate: ids from "outputs" of an answer, to read those outputs whole.'),
  workflowId: id.optional().describe('The workflow that you mean to continue. A token of another one is then refused.'),
  context: context.optional(),
  output: output.optional(),
  preferences: preferenceChanges.optional(),
});

export const checkpointInput = z.strictObject({
  checkpointToken: token('The checkpointToken of the last answer.'),
  workflowId: id.optional().describe('The workflow that you believe you are in.'),
  notesMarkdown: text.max(inputLimits.textLength).optional().describe('Notes to remember about the unfinished step.'),
});

export const resumeInput = z.strictObject({
  query: text
    .max(inputLimits.queryLength)
    .optional()
    .describe('Words that the person remembers of it. All must occur.'),
  gitBranch: text.max(500).optional(),
  gitHeadSha: z
    .string()
    .regex(/^[0-9a-f]{40}$/)
    .optional(),
  workspacePath: workspacePath.optional(),
});

export type ListInput = Readonly<z.infer<typeof listInput>>;
export type InspectInput = Readonly<z.infer<typeof inspectInput>>;
export type StartInput = Readonly<z.infer<typeof startInput>>;
export type ContinueInput = Readonly<z.infer<typeof continueInput>>;
export type CheckpointInput = Readonly<z.infer<typeof checkpointInput>>;
export type ResumeInput = Readonly<z.infer<typeof resumeInput>>;
export type StepOutputInput = Readonly<z.infer<typeof output>>;
