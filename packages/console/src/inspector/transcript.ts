import { defined, type Json, type JsonObject, type WireChunk } from '@signalbox/model';
import { isObject } from '../story/json-object.ts';

/** A tool call of an agent, and its result. */
export interface ToolUse {
  readonly call: string;
  readonly tool: string;
  readonly input: Json;
  readonly output?: Json;
  /** Its outcome; absent while it runs or waits. */
  readonly status?: string;
  readonly ms?: number;
  readonly approval?: string;
}

/** An agent's transcript of a task, as far as a page shows it. Unknown parts are left out. */
export interface Transcript {
  readonly model: string | undefined;
  /** What the model was told besides its prompt. */
  readonly note: string | undefined;
  readonly tools: readonly ToolUse[];
  /** The model's text in each turn. */
  readonly turns: readonly string[];
  readonly corrections: readonly string[];
}

export function transcriptOf(chunks: readonly WireChunk[]): Transcript {
  let model: string | undefined;
  let note: string | undefined;
  const tools = new Map<string, ToolUse>();
  const turns: string[] = [];
  const corrections: string[] = [];
  const put = (call: string, fields: Partial<ToolUse>) =>
    tools.set(call, { call, tool: '?', input: null, ...tools.get(call), ...fields });

  for (const { kind, payload } of chunks) {
    if (!isObject(payload)) continue;
    const call = textOf(payload.call);
    const tool = textOf(payload.tool);
    if (kind === 'tool_start' && call !== undefined) {
      put(call, defined({ tool, input: payload.input }));
    }
    if (kind === 'tool_end' && call !== undefined) put(call, endOf(payload, textOf(payload.outcome)));
    if (kind !== 'message') continue;
    switch (payload.kind) {
      case 'begun':
        model = textOf(payload.model);
        note = textOf(payload.note);
        break;
      case 'assistant':
        turns.push(wordsOf(payload.content));
        break;
      case 'tool_ended':
        if (call !== undefined) {
          const output = isObject(payload.output) ? payload.output.value : undefined;
          put(call, {
            ...defined({ tool, output }),
            ...endOf(payload, textOf(payload.status)),
          });
        }
        break;
      case 'correction':
        corrections.push(textOf(payload.text) ?? '');
        break;
    }
  }
  return { model, note, tools: [...tools.values()], turns, corrections };
}

function endOf({ ms, approval }: JsonObject, status: string | undefined): Partial<ToolUse> {
  const said = textOf(approval);
  return {
    ...defined({ status }),
    ...(typeof ms === 'number' && { ms }),
    ...(said !== undefined && said !== 'not-needed' && { approval: said }),
  };
}

function wordsOf(content: Json | undefined): string {
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((part: Json) => (isObject(part) && part.type === 'text' ? [textOf(part.text) ?? ''] : []))
    .join('\n\n');
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
