import { defined, type Json, type JsonObject, type WireChunk } from '@signalbox/model';
import { isObject } from '../story/json-object.ts';
import { locationsOf, textChanges } from '../story/tool-call.ts';
import { type Attempt, createAttempts, type TurnUsage } from './attempts.ts';
import type { ToolUse } from './tool-use.ts';

/** An agent's transcript of a task, as far as a page shows it. Unknown parts are left out. */
export interface Transcript {
  readonly model: string | undefined;
  /** What the model was told besides its prompt. */
  readonly note: string | undefined;
  readonly tools: readonly ToolUse[];
  /** The model's text in each turn. */
  readonly turns: readonly string[];
  readonly corrections: readonly string[];
  /** Everything in its order, by attempt. */
  readonly attempts: readonly Attempt[];
}

/** The tool whose call is the whole turn of an agent of another vendor. */
const AGENT_TURN = 'agent_turn';

/**
 * `asked` has the proposals of open decisions by call: an agent's call has its title and changes there until it is answered.
 * `task` names the calls of the built-in agent that have not begun: the transcript has them only inside the model's answer.
 */
export function transcriptOf(
  chunks: readonly WireChunk[],
  asked: ReadonlyMap<string, Json> = new Map(),
  task?: string,
): Transcript {
  let model: string | undefined;
  let note: string | undefined;
  let conversations = 0;
  const tools = new Map<string, ToolUse>();
  const heard = new Set(chunks.flatMap(heardIn));
  const turns: string[] = [];
  const corrections: string[] = [];
  const attempts = createAttempts();
  const put = (call: string, fields: Partial<ToolUse>) => {
    const use = { call, tool: '?', input: null, ...tools.get(call), ...fields };
    tools.set(call, use);
    if (use.tool !== AGENT_TURN) attempts.called(use);
  };
  /** A call that begins again in a later attempt has no outcome yet. */
  const begin = (call: string, fields: Partial<ToolUse>) => {
    if (!attempts.has(call)) tools.delete(call);
    put(call, fields);
  };

  for (const { kind, payload } of chunks) {
    if (kind === 'token' || kind === 'thinking') {
      const text = textOf(isObject(payload) ? payload.text : payload);
      if (text !== undefined) attempts.said(kind === 'token' ? 'said' : 'thought', text);
    }
    if (!isObject(payload)) continue;
    const call = textOf(payload.call);
    const tool = textOf(payload.tool);
    if (kind === 'tool_start' && call !== undefined) {
      begin(call, { isAsking: false, isNext: false, ...defined({ tool, input: payload.input, ...toldOf(payload) }) });
    }
    if (kind === 'tool_end' && call !== undefined) put(call, endOf(payload, textOf(payload.outcome)));
    if (kind !== 'message') continue;
    switch (payload.kind) {
      case 'begun':
        model = textOf(payload.model);
        note = textOf(payload.note);
        attempts.begun(payload);
        conversations += 1;
        break;
      case 'prompted':
        attempts.add({ kind: 'prompt', text: textOf(payload.text) ?? '' });
        break;
      case 'assistant':
        turns.push(wordsOf(payload.content, 'text'));
        attempts.told({
          thought: wordsOf(payload.content, 'reasoning'),
          said: wordsOf(payload.content, 'text'),
          usage: usageOf(payload.usage),
        });
        // An agent of another vendor proposes its calls itself.
        if (task !== undefined && attempts.isOurs()) {
          const place = `${task}/${conversations}/${attempts.turns()}`;
          for (const [at, { toolName, input }] of callsIn(payload.content).entries()) {
            const id = `${place}/${at}`;
            begin(id, { isNext: true, isAsking: asked.has(id), ...defined({ tool: textOf(toolName), input }) });
          }
        }
        break;
      case 'person':
        attempts.add({
          ...{ kind: 'person', text: textOf(payload.text) ?? '', by: textOf(payload.by) ?? '' },
          isRead: heard.has(textOf(payload.id) ?? ''),
        });
        break;
      case 'plan':
        attempts.planned(payload.entries);
        break;
      case 'tool_proposed':
        if (call !== undefined && tool !== undefined) {
          const proposal = asked.get(call);
          const told = isObject(proposal) ? toldOf(proposal) : {};
          begin(call, { isAsking: true, ...defined({ tool, input: payload.input, ...told }) });
        }
        break;
      case 'tool_ended':
        if (call !== undefined) {
          const output = isObject(payload.output) ? payload.output.value : undefined;
          const status = textOf(payload.status);
          put(call, {
            isAsking: false,
            isNext: false,
            ...defined({ tool, notAlone: textOf(payload.notAlone), ...resultOf(output) }),
            ...endOf(payload, status),
          });
          if (tool === AGENT_TURN) attempts.ended(status, textOf(output));
        }
        break;
      case 'correction':
        corrections.push(textOf(payload.text) ?? '');
        attempts.add({ kind: 'note', text: textOf(payload.text) ?? '' });
        break;
      case 'note':
        attempts.add({ kind: 'note', text: textOf(payload.text) ?? '' });
        break;
      case 'waiting':
        attempts.add({ kind: 'note', text: 'Ended to wait for an answer. It starts again with the answer.' });
        break;
      case 'changes':
        attempts.add({ kind: 'changes', patch: textOf(payload.diff) ?? '', isApplied: payload.applied === true });
        break;
    }
  }
  return { model, note, tools: [...tools.values()], turns, corrections, attempts: attempts.all() };
}

/** What an agent tells about a call besides its arguments. */
function toldOf({ title, kind, locations, diffs }: JsonObject): Partial<ToolUse> {
  const [places, changes] = [locationsOf(locations), textChanges(diffs)];
  return {
    ...defined({ title: textOf(title), kind: textOf(kind) }),
    ...(places.length > 0 && { locations: places }),
    ...(changes.length > 0 && { changes }),
  };
}

/** A result may hold changes beside its text: they are shown as changes. */
function resultOf(output: Json | undefined): Partial<ToolUse> {
  if (!isObject(output)) return defined({ output });
  const changes = textChanges(output.diffs);
  if (changes.length === 0) return { output };
  const { diffs: _, text, ...rest } = output;
  const left = Object.keys(rest).length === 0 ? text : { ...rest, ...defined({ text }) };
  return { changes, ...defined({ output: left }) };
}

function endOf({ ms, approval }: JsonObject, status: string | undefined): Partial<ToolUse> {
  const said = textOf(approval);
  return {
    ...defined({ status }),
    ...(typeof ms === 'number' && { ms }),
    ...(said !== undefined && said !== 'not-needed' && { approval: said }),
  };
}

/** Undefined if nothing is known. */
function usageOf(given: Json | undefined): TurnUsage | undefined {
  if (!isObject(given)) return undefined;
  const count = (value: Json | undefined) => (typeof value === 'number' && value >= 0 ? value : undefined);
  const { inputTokens, outputTokens, costMicroUsd, wallMs } = given;
  const usage = defined({
    inputTokens: count(inputTokens),
    outputTokens: count(outputTokens),
    costMicroUsd: count(costMicroUsd),
    wallMs: count(wallMs),
  });
  return Object.keys(usage).length === 0 ? undefined : usage;
}

/** The messages of people that the agent was told. */
function heardIn({ payload }: WireChunk): readonly string[] {
  if (!isObject(payload) || payload.kind !== 'heard' || !Array.isArray(payload.messages)) return [];
  return payload.messages.flatMap((one: Json) => (isObject(one) && typeof one.id === 'string' ? [one.id] : []));
}

function callsIn(content: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: Json) => (isObject(part) && part.type === 'tool-call' ? [part] : []));
}

function wordsOf(content: Json | undefined, type: 'text' | 'reasoning'): string {
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((part: Json) => (isObject(part) && part.type === type ? [textOf(part.text) ?? ''] : []))
    .join('\n\n');
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
