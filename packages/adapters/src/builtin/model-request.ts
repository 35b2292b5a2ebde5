import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { Assignment } from '@signalbox/runs';
import type { AnyTool } from '@signalbox/state';
import * as z from 'zod';
import type { AnswerForm } from './final-answer.ts';
import { systemPrompt } from './preamble.ts';

/** The constant part of an attempt's requests. */
export type ModelRequest = Omit<LanguageModelV4CallOptions, 'prompt' | 'abortSignal'> & { readonly system: string };

export function modelRequest(assignment: Assignment, offered: readonly AnyTool[], form: AnswerForm): ModelRequest {
  const tools = [...offered.map(functionTool), ...(form.kind === 'tool' ? [form.tool] : [])];
  return {
    system: systemPrompt(
      assignment,
      offered.map(tool => tool.name),
      form,
    ),
    ...(tools.length > 0 && { tools, toolChoice: { type: 'auto' } }),
    ...(form.kind === 'format' && { responseFormat: { type: 'json', schema: form.schema, name: 'answer' } }),
  };
}

function functionTool(tool: AnyTool): LanguageModelV4FunctionTool {
  const given = tool.inputSchema ?? z.toJSONSchema(tool.input, { io: 'input', unrepresentable: 'any' });
  const { $schema: _, ...inputSchema } = given;
  const isObject = inputSchema.type === 'object';
  return {
    type: 'function',
    name: tool.name,
    description: tool.description,
    inputSchema: (isObject
      ? inputSchema
      : { ...inputSchema, type: 'object' }) as LanguageModelV4FunctionTool['inputSchema'],
  };
}
