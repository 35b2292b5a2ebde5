import { type Json, json, thrownMessage } from '@signalbox/model';
import type { OwnToolAnswer, OwnToolDefinition, OwnToolOperation, OwnToolPort } from '@signalbox/runs';
import { type AnyTool, fail, succeed, type ToolContext, type ToolEffects } from '@signalbox/state';
import * as z from 'zod';

/**
 * The tools that a plan brings along. Their code runs in the plan's thread, inside the call of the agent: its files and commands are those
 * of the call, and are undone with it.
 */
export function ownTools(
  definitions: readonly OwnToolDefinition[],
  port: OwnToolPort | undefined,
  command: AnyTool,
): readonly AnyTool[] {
  return definitions.map(definition => ownTool(definition, port, command));
}

function ownTool(definition: OwnToolDefinition, port: OwnToolPort | undefined, command: AnyTool): AnyTool {
  const { name, description, risk, input, effects } = definition;
  return {
    ...{ name, description, risk, inputSchema: input },
    input: inputOf(input),
    output: z.unknown(),
    effects: effectsOf(definition),
    async handler(given, context) {
      if (port === undefined) return fail('the plan that has it does not run here');
      const call = { id: context.callId, tool: name, input: given as Json };
      const operate = (operation: OwnToolOperation) => answered(operation, definition, context, command);
      const reply = await port.call(call, { signal: context.signal, operate });
      const past = effects.includes('external') ? '' : outsideWords(reply.outside);
      if (!reply.ok) return fail(past === '' ? reply.message : `${reply.message}. ${past}`);
      return succeed(past === '' ? reply.value : { result: reply.value, notes: [past] });
    },
  };
}

/** What is not declared as changing files and does more than that is not undone, and must not be repeated. */
function effectsOf({ effects }: OwnToolDefinition): ToolEffects<unknown> {
  if (effects.includes('files'))
    return effects.includes('external') ? { kind: 'files', beyond: true } : { kind: 'files' };
  if (effects.includes('external')) return { kind: 'external' };
  return effects.includes('read') ? { kind: 'read-only' } : { kind: 'none' };
}

/** The author's schema checks the input in the plan's thread; this keeps a person from being asked about a call that cannot run. */
function inputOf(schema: OwnToolDefinition['input']): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return z.record(z.string(), json);
  }
}

function outsideWords(outside: readonly string[]): string {
  if (outside.length === 0) return '';
  return `It also used ${outside.join(', ')}, past its call: what that did is not undone`;
}

async function answered(
  operation: OwnToolOperation,
  { name, effects }: OwnToolDefinition,
  context: ToolContext,
  command: AnyTool,
): Promise<OwnToolAnswer> {
  const { files } = context;
  try {
    switch (operation.kind) {
      case 'write':
        return answerOf(await files.write(operation.path, operation.content));
      case 'rename':
        return answerOf(await files.rename(operation.from, operation.to));
      case 'command': {
        if (!effects.includes('files')) {
          const message = `${name} must declare the effect "files" to run commands: they may change files`;
          return { ok: false, message };
        }
        const { kind: _, ...asked } = operation;
        const input = command.input.safeParse(JSON.parse(JSON.stringify(asked)));
        if (!input.success) return { ok: false, message: z.prettifyError(input.error) };
        const reply = await command.handler(input.data, context);
        if (reply.success) return { ok: true, value: reply.value };
        const { output = '' } = (reply.value ?? {}) as { readonly output?: string };
        return { ok: false, message: output === '' ? reply.message : `${reply.message}: ${output}` };
      }
      default:
        return answerOf(await files[operation.kind](operation.path));
    }
  } catch (thrown) {
    return { ok: false, message: thrownMessage(thrown) };
  }
}

function answerOf(
  result:
    | { readonly ok: true; readonly value: unknown }
    | { readonly ok: false; readonly error: { readonly message: string } },
): OwnToolAnswer {
  return result.ok ? { ok: true, value: result.value } : { ok: false, message: result.error.message };
}
