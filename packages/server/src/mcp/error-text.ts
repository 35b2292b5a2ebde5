import type { ErrorEnvelope, Retry } from '@signalbox/model';
import type { ToolDefinition } from './tool-definitions.ts';

/** A failure as text that an agent can act on: what is wrong, how to fix it, and the next call. */
export function errorText(tool: ToolDefinition, error: ErrorEnvelope): string {
  const next = nextCallText(tool, error);
  return [
    `${tool.name} failed: ${error.code}`,
    '',
    `What is wrong: ${error.message}`,
    `How to fix it: ${error.suggestion}`,
    `Again? ${retryText(error.retry)}`,
    '',
    ...(next === undefined
      ? ['No call of yours can fix this: stop, and show this message to the person.']
      : ['Next call:', next]),
  ].join('\n');
}

function retryText(retry: Retry): string {
  switch (retry.kind) {
    case 'not_retryable':
      return 'The same call will fail again: change it first.';
    case 'retryable_immediate':
      return 'Send the same call again now; it is safe.';
    case 'retryable_after_ms':
      return `Send the same call again in ${retry.afterMs} ms; it is safe.`;
  }
}

/** Undefined if no call of an agent can fix it. */
function nextCallText({ name, template }: ToolDefinition, { code, retry }: ErrorEnvelope): string | undefined {
  if (retry.kind !== 'not_retryable') return `${name} with the same arguments`;
  if (code === 'VALIDATION_ERROR' || code === 'TOKEN_INVALID_FORMAT') return callText(name, template);
  if (code === 'run/duplicate-key') return callText(name, template);
  if (code.startsWith('workflow/')) return callText('list_workflows', {});
  if (code === 'TOKEN_SCOPE_MISMATCH')
    return callText('continue_workflow', {
      workflowId: '<the workflow you mean>',
      stateToken: '<its last stateToken>',
    });
  if (code.startsWith('TOKEN_')) return callText('resume_session', {});
  return undefined;
}

export function callText(tool: string, args: unknown): string {
  return `${tool} ${JSON.stringify(args)}`;
}
