import { type GuidedTools, guidedSchemas } from '@signalbox/app/guided';
import type { Json } from '@signalbox/model';
import type * as z from 'zod';
import type { AgentToolName } from '../access/access-table.ts';

/** The name of a function of the port. */
type ToolKey = keyof GuidedTools;

/** A tool as its callers see it. */
export interface DescribedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  /** An example call; parts in angle brackets are to be replaced. */
  readonly template: Readonly<Record<string, Json>>;
  readonly input: z.ZodType;
  readonly answer: z.ZodType;
}

/** An agent tool. The port defines input and answer; the texts are only here. */
export interface ToolDefinition extends DescribedTool {
  readonly name: AgentToolName;
  readonly key: ToolKey;
}

/** Sent once to each client that connects. */
export const agentInstructions = `Signalbox walks you through guided workflows, one step at a time: you see only the current step, do it, hand in what you did, and get the next.

1. list_workflows, then start_workflow. In a new chat, or when tokens are lost: resume_session.
2. Do what the prompt of the pending step says. Its OUTPUT REQUIREMENTS say what to hand in.
3. continue_workflow as nextCall shows: tokens of the last answer unchanged, every <placeholder> replaced. Repeat until nextIntent is "complete".

A blocked answer says what is missing: fix it, rehydrate for a fresh ackToken, hand in again. With several workflows in one chat, continue each only with the tokens of its own last answer; its first line names it.`;

const looks = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const adds = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const words = {
  list: {
    title: 'List workflows',
    annotations: looks,
    template: {},
    description: `Lists the guided workflows that can be started here: id, name, purpose, source.
Call it when the person wants structured work (an investigation, a review, a feature, research) and you know no suitable id. One that is refused cannot be started.
Next: inspect_workflow, or start_workflow with its workflowId.`,
  },
  inspect: {
    title: 'Inspect a workflow',
    annotations: looks,
    template: { workflowId: '<workflowId from list_workflows>' },
    description: `Shows one workflow before it is started: purpose, preconditions, what to ask the person, recommended preferences, titles of its steps. A prompt is shown only when its step is the current one.
Next: start_workflow with the same workflowId.`,
  },
  start: {
    title: 'Start a workflow',
    annotations: { ...adds, idempotentHint: false },
    template: { workflowId: '<workflowId from list_workflows>', context: {} },
    description: `Starts a run of a workflow, pinned to its current version, and returns the first step. Call it once for each piece of work; to continue an earlier one, use resume_session.
context holds facts that the workflow reads (ticket ids, paths, lists); it is stored, so never send it again. workspacePath lets the run be found again. preferences only to be stricter. With your own startKey, the same start sent twice is one run.
Returns pending (the step to do now), stateToken, ackToken, checkpointToken, nextIntent and nextCall.
Next: do what pending.prompt says, then continue_workflow as nextCall shows. Do not guess later steps or do their work ahead.`,
  },
  continue: {
    title: 'Continue a workflow',
    annotations: adds,
    template: {
      ackToken: '<ackToken of the last answer>',
      output: { notesMarkdown: '<what you did in this step, in markdown>' },
    },
    description: `Hands in the pending step and returns the next one; or, without an ackToken, shows the current step again.
- advance, when the step is done: the ackToken of the last answer, unchanged, and output. A <placeholder> left in it is refused.
- rehydrate, when you lost the prompt, the chat was rewound, or you need a fresh ackToken: only the stateToken, or intent "rehydrate" and the ackToken. Nothing is recorded. It recaps earlier steps and lists outputs; outputIds shows those whole.
In output, report what the step cannot settle: needsFromUser, capabilityObservations, divergences, corrections of earlier output.
nextIntent: perform_pending_then_continue = do the step, hand it in; await_user_confirmation = only a person can approve it: hand in what you would do and tell them the decision in the answer; neither your word nor theirs in the chat counts; rehydrate_only = nothing can be handed in from this answer; complete = finished.
Blocked: nothing moved. Fix what blockers say, rehydrate for a fresh ackToken, hand in again; the old ackToken repeats the old answer. A question to the person is settled only by their answer.
The same call twice returns the same answer and does not move twice. Tokens of another workflow or run than workflowId are refused, and the refusal names theirs.`,
  },
  checkpoint: {
    title: 'Save a checkpoint',
    annotations: adds,
    template: {
      checkpointToken: '<checkpointToken of the last answer>',
      notesMarkdown: '<notes to remember about the unfinished step>',
    },
    description: `Saves your progress on the pending step without finishing it: in the middle of a long step, or before a pause. It does not advance.
Send the checkpointToken of the last answer (rehydrate has one) and, in notesMarkdown, what must be remembered. The same call twice saves once.
Returns the same step and new tokens, which replace the old ones. Next: finish the step and hand it in with them.`,
  },
  resume: {
    title: 'Find a session to resume',
    annotations: looks,
    template: { query: '<words that the person remembers>' },
    description: `Finds earlier runs, best match first, when you have no token: in a new chat, or after the old one was lost; or before you start a workflow that may already be in progress.
Send what you know: gitBranch, gitHeadSha, workspacePath, query. An empty call returns the latest. A warning says when nothing matched.
Next: if it is unclear which one is meant, ask the person. Then continue_workflow with only the stateToken of that candidate.`,
  },
} as const satisfies Readonly<
  Record<ToolKey, Pick<ToolDefinition, 'title' | 'annotations' | 'template' | 'description'>>
>;

const order: readonly ToolKey[] = ['list', 'inspect', 'start', 'continue', 'checkpoint', 'resume'];

/** Exactly the tools of the agent's surface, in the order in which an agent needs them. */
export const agentTools: readonly ToolDefinition[] = order.map(key => {
  const { tool, input, answer } = guidedSchemas[key];
  return { key, name: tool, input, answer, ...words[key] };
});
