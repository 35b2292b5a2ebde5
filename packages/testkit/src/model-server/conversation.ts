import type { OfferedTool } from './model-script.ts';
import type { WireMessage, WirePart } from './wire.ts';

type Call = Extract<WirePart, { kind: 'call' }>;
type Result = Extract<WirePart, { kind: 'result' }>;

/**
 * Why a real server would reject a conversation: roles out of order, a tool call without a result in the next message, or a
 * result without a call.
 */
export function conversationProblem(messages: readonly WireMessage[]): string | undefined {
  if (messages.length === 0) return 'there are no messages';
  if (messages[0]?.role !== 'user') return 'the first message must be of the user';
  if (messages.at(-1)?.role !== 'user') return 'the last message must be of the user';
  const seen = new Set<string>();
  let open: readonly Call[] = [];
  for (const [index, message] of messages.entries()) {
    if (index > 0 && messages[index - 1]?.role === message.role) {
      return `message ${index}: two messages of the ${message.role} follow each other`;
    }
    const parts = message.parts;
    if (parts.length === 0) return `message ${index} is empty`;
    const results = parts.filter((part): part is Result => part.kind === 'result');
    const calls = parts.filter((part): part is Call => part.kind === 'call');
    if (message.role === 'assistant') {
      if (results.length > 0) return `message ${index}: a tool result cannot be of the assistant`;
      for (const call of calls) {
        if (seen.has(call.id)) return `message ${index}: the id ${call.id} is used twice`;
        seen.add(call.id);
      }
      open = calls;
      continue;
    }
    if (calls.length > 0) return `message ${index}: a tool call cannot be of the user`;
    const problem = unanswered(open, results);
    if (problem !== undefined) return `message ${index}: ${problem}`;
    if (parts.slice(0, results.length).some(part => part.kind !== 'result')) {
      return `message ${index}: tool results must come before other content`;
    }
    open = [];
  }
  return undefined;
}

/** Why a real server would reject the offered tools. */
export function toolsProblem(tools: readonly OfferedTool[]): string | undefined {
  const names = new Set<string>();
  for (const { name, namespace = '', schema } of tools) {
    const wrong = [name, ...(namespace === '' ? [] : [namespace])].find(one => !/^[A-Za-z0-9_-]{1,64}$/.test(one));
    if (wrong !== undefined) return `tools: ${JSON.stringify(wrong)} is not a name for a tool`;
    if (names.has(`${namespace}.${name}`)) return `tools: the name ${name} is used twice`;
    if (schema.type !== 'object' && Object.keys(schema).length > 0)
      return `tools: the schema of ${name} is not of an object`;
    names.add(`${namespace}.${name}`);
  }
  return undefined;
}

function unanswered(calls: readonly Call[], results: readonly Result[]): string | undefined {
  const answered = new Set<string>();
  for (const result of results) {
    if (!calls.some(call => call.id === result.id))
      return `a tool result answers no tool call of the turn before: ${result.id}`;
    if (answered.has(result.id)) return `the tool call ${result.id} has two results`;
    answered.add(result.id);
  }
  const missing = calls.find(call => !answered.has(call.id));
  return missing === undefined ? undefined : `the tool call ${missing.id} of ${missing.tool} has no result`;
}
