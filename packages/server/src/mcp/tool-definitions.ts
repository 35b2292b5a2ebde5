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
export const agentInstructions = `Signalbox walks you through guided workflows, one step at a time. You see only the current step; you do it, hand in what you did, and get the next.

1. list_workflows, then start_workflow with the id of a suitable one. In a new chat, or when tokens are lost: resume_session.
2. Do what the prompt of the pending step says. Its OUTPUT REQUIREMENTS say what to hand in.
3. continue_workflow with the stateToken and ackToken of the last answer, unchanged, and your output. Repeat until nextIntent is "complete".

Every answer names its workflow, run and step, and has the next call ready in nextCall. A blocked answer says what is missing: fix it, rehydrate for a fresh ackToken, hand in again.

With several workflows in one chat: the first line of every answer names its workflow. Continue a workflow only with the tokens of its own last answer, and send its workflowId along, as nextCall does; a token of another workflow is refused, and the refusal names its workflow.`;

const looks = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const adds = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const words = {
  list: {
    title: 'List workflows',
    annotations: looks,
    template: {},
    description: `Lists the guided workflows that can be started here: id, name, purpose, and where each comes from.
Call it first when the person wants structured work (an investigation, a review, a feature, research) and you do not know the id of a suitable workflow.
Send nothing; {"includeRoutines": true} also lists the building blocks of other workflows.
Returns the workflows. One that is refused cannot be started.
Next: inspect_workflow to see more of one, or start_workflow with its workflowId.`,
  },
  inspect: {
    title: 'Inspect a workflow',
    annotations: looks,
    template: { workflowId: '<workflowId from list_workflows>' },
    description: `Shows one workflow before it is started: its purpose, what must be true first (preconditions), what to ask the person (clarificationPrompts), recommended preferences, and the titles of its steps. Prompts are never shown ahead: each comes when its step is the current one.
Call it when you are not sure that a workflow is suitable, or to learn what to ask the person before the start.
Send its workflowId; mode "metadata" leaves out the titles of steps.
Next: start_workflow with the same workflowId.`,
  },
  start: {
    title: 'Start a workflow',
    annotations: { ...adds, idempotentHint: false },
    template: { workflowId: '<workflowId from list_workflows>', context: {} },
    description: `Starts a run of a workflow, pinned to its current version, and returns the first step.
Call it once for each piece of work. To continue an earlier one, use resume_session instead.
Send the workflowId. context holds facts that the workflow reads (ticket ids, paths, lists): they are stored, so never send them again. workspacePath lets the run be found again by branch or commit. Use preferences only to be stricter: the person sets how far you may go. With your own startKey, the same start sent twice is one run.
Returns pending (the step to do now, with its prompt), stateToken, ackToken and checkpointToken, nextIntent and nextCall.
Next: do what pending.prompt says, then call continue_workflow as nextCall shows. Do not guess later steps or do their work ahead.`,
  },
  continue: {
    title: 'Continue a workflow',
    annotations: adds,
    template: {
      stateToken: '<stateToken of the last answer>',
      ackToken: '<ackToken of the last answer>',
      output: { notesMarkdown: '<what you did in this step, in markdown>' },
    },
    description: `Hands in the pending step and returns the next one; or, without an ackToken, shows the current step again.
Two ways to call it:
- advance, when the step is done: send stateToken and ackToken of the same answer, unchanged, and output. output.notesMarkdown says what you did in THIS step only; output.artifacts has the structured results that OUTPUT REQUIREMENTS of the prompt ask for. context only for new or changed facts.
- rehydrate, when you lost the prompt, the chat was rewound, or you need a fresh ackToken: send only the stateToken. Nothing is changed or recorded.
Report inside output what the step cannot settle: needsFromUser for what only the person can give, capabilityObservations for what you learned about delegation or web browsing, divergences for deliberate deviations, corrections for earlier output that turned out wrong.
Returns kind "ok" with the next pending step and new tokens, or kind "blocked" with blockers. Values of nextIntent: perform_pending_then_continue = do the step, then hand it in; await_user_confirmation = only the person can confirm this step: hand in what you would do; it stays blocked until they answer in the console or with "signalbox approve"; rehydrate_only = nothing can be handed in from this answer; complete = finished, there is nothing left to call.
When blocked: nothing moved. A question to the person is settled only by their answer, not by handing in again without it. Fix what blockers say, call this tool with only the stateToken for a fresh ackToken, and hand in again; the old ackToken only repeats the old answer.
Sending the same call twice is safe: it returns the same answer and does not move twice. With several workflows in one chat, send workflowId too: tokens of another workflow or run are then refused, and the refusal names their workflow.`,
  },
  checkpoint: {
    title: 'Save a checkpoint',
    annotations: adds,
    template: {
      checkpointToken: '<checkpointToken of the last answer>',
      notesMarkdown: '<notes to remember about the unfinished step>',
    },
    description: `Saves your progress on the pending step without finishing it, so that work is not lost when the chat ends.
Call it in the middle of a long step, or before a pause. It does not advance and does not replace continue_workflow.
Send the checkpointToken of the last answer and, in notesMarkdown, what must be remembered.
Returns the same pending step and new tokens, which replace the old ones. The same call twice saves once.
Next: continue the step, then hand it in with continue_workflow and the new tokens, as nextCall shows.`,
  },
  resume: {
    title: 'Find a session to resume',
    annotations: looks,
    template: { query: '<words that the person remembers>' },
    description: `Finds earlier runs, best match first, when you have no token: in a new chat, or after the old one was lost.
Call it when the person wants to continue something, or before you start a workflow that may already be in progress.
Send what you know: gitBranch or gitHeadSha of the working directory, workspacePath, and query with words that the person remembers (all must occur). An empty call returns the latest.
Returns up to five candidates: workflow, run, pending step, why each matched, a snippet of its last notes, and a stateToken.
Next: if it is unclear which one is meant, ask the person. Then call continue_workflow with only the stateToken of that candidate: it shows the step with fresh tokens.`,
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
