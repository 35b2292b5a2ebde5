import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { err, type Json, ok, type Result } from '@signalbox/model';
import type { TaskError } from '@signalbox/runs';
import { taskFailure } from '../attempt/task-failure.ts';
import { inAnswerForm } from './final-answer.ts';
import { type ModelScript, parseModelScript, type ScriptRule } from './model-script.ts';
import type { ResolvedModel } from './model-source.ts';
import { estimateTokens } from './token-estimate.ts';

/** No rule of the script matches the request. */
export class ScriptUnmatched extends Error {
  override readonly name = 'ScriptUnmatched';
}

/** A model whose answers come from a file, for examples, demos and tests of plans. */
export async function loadScriptedModel(file: string, directory: string): Promise<Result<ResolvedModel, TaskError>> {
  const invalid = (reason: string) =>
    err(taskFailure('script-invalid', `The script ${file} of the scripted model cannot be used: ${reason}`));
  let source: string;
  try {
    source = await readFile(path.resolve(directory, file), 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    return invalid(`it could not be read (${code}). Its path is relative to the file of the plan.`);
  }
  const script = parseModelScript(source);
  if (!script.ok) return invalid(script.error);
  return ok({
    name: { provider: 'scripted', model: file },
    model: createScriptedModel(file, script.value),
    secrets: [],
  });
}

export function createScriptedModel(name: string, script: ModelScript): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: name,
    supportedUrls: {},
    async doGenerate(options) {
      const { content, finishReason, usage } = answerTo(name, script, options);
      return { content, finishReason, usage, warnings: [] };
    },
    async doStream(options) {
      const { content, finishReason, usage } = answerTo(name, script, options);
      const parts: LanguageModelV4StreamPart[] = [
        { type: 'stream-start', warnings: [] },
        ...content.flatMap(streamed),
        { type: 'finish', finishReason, usage },
      ];
      return { stream: ReadableStream.from(parts) };
    },
  };
}

function answerTo(name: string, script: ModelScript, options: LanguageModelV4CallOptions) {
  const asked = askedOf(options.prompt);
  const rule = script.rules.find(one => fits(one, asked));
  if (rule === undefined) throw new ScriptUnmatched(unmatched(name, asked));
  const content = contentOf(rule, asked, options);
  const calls = content.some(part => part.type === 'tool-call');
  return {
    content,
    finishReason: { unified: calls ? ('tool-calls' as const) : ('stop' as const), raw: undefined },
    usage: usageOf(rule, asked, content),
  };
}

interface Asked {
  readonly system: string;
  readonly prompt: string;
  readonly turn: number;
  readonly since: string;
  readonly results: readonly string[];
  /** The whole request, to count tokens. */
  readonly size: number;
}

function askedOf(messages: readonly LanguageModelV4Message[]): Asked {
  const last = messages.findLastIndex(message => message.role === 'assistant');
  const since = messages.slice(last + 1).filter(message => message.role !== 'system');
  const firstUser = messages.find(message => message.role === 'user');
  return {
    system: messages.flatMap(message => (message.role === 'system' ? [message.content] : [])).join('\n'),
    prompt: firstUser === undefined ? '' : textOf(firstUser),
    turn: messages.filter(message => message.role === 'assistant').length + 1,
    since: since.map(textOf).join('\n'),
    results: since.flatMap(message =>
      message.role === 'tool'
        ? message.content.flatMap(part => (part.type === 'tool-result' ? [part.toolName] : []))
        : [],
    ),
    size: messages.reduce((sum, message) => sum + estimateTokens(message.content), 0),
  };
}

function textOf(message: LanguageModelV4Message): string {
  if (message.role === 'system') return message.content;
  return message.content
    .map(part => {
      if (part.type === 'text') return part.text;
      if (part.type !== 'tool-result') return '';
      const { output } = part;
      if (output.type === 'execution-denied') return output.reason ?? '';
      return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
    })
    .join('\n');
}

function fits({ when }: ScriptRule, asked: Asked): boolean {
  if (when === undefined) return true;
  const matches = (source: string | undefined, value: string) =>
    source === undefined || new RegExp(source, 's').test(value);
  return (
    (when.turn === undefined || when.turn === asked.turn) &&
    (when.toolResult === undefined || asked.results.includes(when.toolResult)) &&
    matches(when.promptMatches, asked.prompt) &&
    matches(when.systemMatches, asked.system) &&
    matches(when.lastMatches, asked.since)
  );
}

function contentOf(rule: ScriptRule, asked: Asked, options: LanguageModelV4CallOptions): LanguageModelV4Content[] {
  const content: LanguageModelV4Content[] = [];
  if (rule.thinking !== undefined) content.push({ type: 'reasoning', text: rule.thinking });
  if (rule.text !== undefined) content.push({ type: 'text', text: rule.text });
  const calls = (rule.calls ?? []).map(({ tool, input }) => ({ tool, input: input as Json }));
  if (rule.output !== undefined) {
    const form = inAnswerForm(rule.output, options);
    if (form.kind === 'text') content.push({ type: 'text', text: form.text });
    else calls.push({ tool: form.tool, input: form.input });
  }
  for (const [index, { tool, input }] of calls.entries()) {
    const toolCallId = `scripted-${asked.turn}-${index}`;
    content.push({ type: 'tool-call', toolCallId, toolName: tool, input: JSON.stringify(input) });
  }
  return content;
}

function streamed(part: LanguageModelV4Content, index: number): LanguageModelV4StreamPart[] {
  const id = String(index);
  switch (part.type) {
    case 'text':
      return [
        { type: 'text-start', id },
        ...words(part.text).map(delta => ({ type: 'text-delta' as const, id, delta })),
        { type: 'text-end', id },
      ];
    case 'reasoning':
      return [
        { type: 'reasoning-start', id },
        ...words(part.text).map(delta => ({ type: 'reasoning-delta' as const, id, delta })),
        { type: 'reasoning-end', id },
      ];
    case 'tool-call':
      return [part];
    default:
      return [];
  }
}

function words(text: string): readonly string[] {
  return text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? [];
}

function usageOf(
  { usage }: ScriptRule,
  asked: Asked,
  content: readonly LanguageModelV4Content[],
): LanguageModelV4Usage {
  const input = usage?.input ?? asked.size;
  const cached = usage?.cached ?? 0;
  const output = usage?.output ?? estimateTokens(content);
  return {
    inputTokens: { total: input, noCache: input - cached, cacheRead: cached, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

const SHOWN = 400;

function unmatched(name: string, asked: Asked): string {
  const shown = (value: string) => JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);
  const said = asked.turn === 1 ? '' : ` Said since its last answer: ${shown(asked.since)}.`;
  return `No rule of the script ${name} fits turn ${asked.turn}. The prompt: ${shown(asked.prompt)}.${said} Add a rule, or one without "when" at the end.`;
}
