import {
  type GetPromptResult,
  type McpServer,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import type { GuidedTools, InspectAnswer } from '@signalbox/app/guided';
import { type ErrorEnvelope, failure } from '@signalbox/model';
import type { agentOfferAccess } from '../access/access-table.ts';
import { callText } from './error-text.ts';

/** Answers, unless the caller may not or something fails: then the envelope is thrown as a protocol error. */
export type Guarded = <T>(what: AgentOffer, answer: () => Promise<T>) => Promise<T>;
/** What the agent's surface offers besides tools. */
type AgentOffer = keyof typeof agentOfferAccess;

/** The only argument of every prompt. */
const GOAL = 'goal';
const MAX_GOAL = 10_000;

/** A prompt for each workflow that can be started: it tells an agent to walk the workflow, and how to begin. */
export function servePrompts(server: McpServer, tools: GuidedTools, guarded: Guarded): void {
  server.server.setRequestHandler('prompts/list', () =>
    guarded('prompts', async () => {
      const { workflows } = whole(await tools.list({}));
      const startable = workflows.filter(({ workflowHash }) => workflowHash !== undefined);
      return { prompts: startable.map(promptOf) };
    }),
  );
  server.server.setRequestHandler('prompts/get', ({ params: { name, arguments: given = {} } }) =>
    guarded('prompts', async (): Promise<GetPromptResult> => {
      const other = Object.keys(given).find(key => key !== GOAL);
      if (other !== undefined) throw refusal(unknownArgument(other));
      const goal = given[GOAL]?.trim() ?? '';
      if (goal.length > MAX_GOAL) throw refusal(longGoal());
      const inspected = whole(await tools.inspect({ workflowId: name, mode: 'metadata' }));
      return {
        description: inspected.description,
        messages: [{ role: 'user', content: { type: 'text', text: promptText(inspected, goal) } }],
      };
    }),
  );
}

function promptOf({
  workflowId,
  name,
  description,
}: {
  workflowId: string;
  name: string;
  description: string;
}): Prompt {
  const goal = { name: GOAL, description: 'What you want done, in your own words.', required: false };
  return { name: workflowId, title: name, description, arguments: [goal] };
}

function promptText(
  { workflow, description, preconditions, clarificationPrompts }: InspectAnswer,
  goal: string,
): string {
  const list = (heading: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`${heading}\n${items.map(item => `- ${item}`).join('\n')}`];
  const start = { workflowId: workflow.workflowId, ...(goal !== '' && { context: { goal } }) };
  return [
    `Walk through the guided workflow "${workflow.name}" (${workflow.workflowId}) with me, step by step.\n${description}`,
    ...(goal === '' ? [] : [`What I want: ${goal}`]),
    ...list('Before the start, make sure that:', preconditions),
    ...list('Ask me first:', clarificationPrompts),
    `Begin with this call of the signalbox tools, and from then on do what each answer says:\n${callText('start_workflow', start)}`,
  ].join('\n\n');
}

/** An answer of the port; its failure is thrown as a protocol error. */
export function whole<T>(
  answer: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ErrorEnvelope },
): T {
  if (!answer.ok) throw refusal(answer.error);
  return answer.value;
}

export function refusal(error: ErrorEnvelope): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `${error.message} ${error.suggestion}`, error);
}

function unknownArgument(name: string): ErrorEnvelope {
  return failure('VALIDATION_ERROR', {
    message: `Prompts of workflows have no argument ${name.slice(0, 64)}.`,
    suggestion: `The only one is "${GOAL}".`,
    details: { field: name.slice(0, 64) },
  });
}

function longGoal(): ErrorEnvelope {
  return failure('VALIDATION_ERROR', {
    message: `The argument "${GOAL}" is longer than ${MAX_GOAL} characters.`,
    suggestion: 'Say in short what you want done, and refer to files for the rest.',
    details: { field: GOAL },
  });
}
