import { issuesText, type Json, json } from '@signalbox/model';
import type { OwnToolAnswer, OwnToolDefinition, OwnToolEffect, OwnToolOperation, OwnToolReply } from '@signalbox/runs';
import * as z from 'zod';
import { builtinToolNames } from '../nodes/builtin-tools.ts';
import type { CleanData } from '../state/clean-data.ts';
import { thrownText } from './thrown-text.ts';

type ToolRisk = OwnToolDefinition['risk'];
/** `none`: it only answers. `read`: it reads files. `files`: it changes files. `external`: it does something that cannot be undone. */
type ToolEffects = 'none' | OwnToolEffect | readonly OwnToolEffect[];

/** What the code of a tool gets besides its input. Everything here belongs to the call: its changes are undone if the call fails. */
export interface ToolCallContext {
  /** The same when a call is repeated after a crash. */
  readonly callId: string;
  /** Aborted when the call is canceled. */
  readonly signal: AbortSignal;
  /** The agent's directory. Writing needs the effect `files`. */
  readonly files: CallFiles;
  /** Runs a program there, confined like commands of agents. Needs the effect `files`. Throws unless it exits with 0. */
  command(command: readonly string[], options?: CommandOptions): Promise<{ readonly output: string }>;
}

interface CommandOptions {
  readonly timeoutMs?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface CallFiles {
  read(path: string): Promise<string>;
  readBytes(path: string): Promise<Uint8Array>;
  /** Creates the file and its parent directories, or replaces its content. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  remove(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  mkdir(path: string): Promise<void>;
  list(path: string): Promise<readonly { readonly name: string; readonly kind: string }[]>;
}

export interface ToolDefinition<Input extends z.ZodType, Output extends z.ZodType> {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** Tells the model what it does and when to use it. */
  readonly description: string;
  readonly input: Input;
  readonly output?: Output;
  /** `high` is always asked about. By default `low`; `medium` for changes of files, `high` for effects outside. */
  readonly risk?: ToolRisk;
  /** `external` by default: what is not declared cannot be undone. */
  readonly effects?: ToolEffects;
  run(input: z.output<Input>, call: ToolCallContext): z.input<Output> | Promise<z.input<Output>>;
}

/** A tool of one's own, for `tools` of agents. */
export interface OwnTool {
  readonly name: string;
  readonly definition: OwnToolDefinition;
  readonly input: z.ZodType;
  readonly output: z.ZodType | undefined;
  readonly run: (input: never, call: ToolCallContext) => unknown;
}

const known = new WeakSet<object>();
const NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

/** Defines a tool that agents of this plan can be given. Its code runs in the plan's thread. */
export function tool<Input extends z.ZodType, Output extends z.ZodType = z.ZodType<unknown>>(
  given: ToolDefinition<Input, Output>,
): OwnTool {
  const { name, description, input, output, run } = given;
  if (typeof name !== 'string' || !NAME.test(name))
    throw new TypeError(`The name of a tool has letters, digits, "_" and "-"; got ${JSON.stringify(name)}.`);
  if (builtinToolNames.includes(name))
    throw new TypeError(`There is a built-in tool "${name}": give yours another name.`);
  if (typeof description !== 'string' || description.trim() === '')
    throw new TypeError(`The tool "${name}" needs a description: the model chooses by it.`);
  if (typeof run !== 'function') throw new TypeError(`The tool "${name}" needs a function run.`);
  const effects = effectsOf(name, given.effects ?? 'external');
  const risk = given.risk ?? (effects.includes('external') ? 'high' : effects.includes('files') ? 'medium' : 'low');
  if (!['low', 'medium', 'high'].includes(risk)) throw new TypeError(`The risk of "${name}" is low, medium or high.`);
  const definition = { name, description, input: inputSchemaOf(name, input), risk, effects };
  const made: OwnTool = { name, definition, input, output, run };
  known.add(made);
  return Object.freeze(made);
}

export function isOwnTool(value: unknown): value is OwnTool {
  return typeof value === 'object' && value !== null && known.has(value);
}

function effectsOf(name: string, given: ToolEffects): readonly OwnToolEffect[] {
  const list = given === 'none' ? [] : typeof given === 'string' ? [given] : given;
  const wrong = Array.isArray(list) ? list.find(one => !['read', 'files', 'external'].includes(one)) : given;
  if (wrong !== undefined)
    throw new TypeError(`The effects of "${name}" are none, read, files or external; got ${JSON.stringify(wrong)}.`);
  return [...new Set(list)].sort();
}

function inputSchemaOf(name: string, input: unknown): OwnToolDefinition['input'] {
  if (!(input instanceof z.ZodType)) throw new TypeError(`The input of the tool "${name}" must be a zod schema.`);
  try {
    const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
    const plain = JSON.parse(JSON.stringify(schema)) as OwnToolDefinition['input'];
    if (plain.type === 'object') return plain;
  } catch (cause) {
    throw new TypeError(`The input of the tool "${name}" has no JSON Schema: ${(cause as Error).message}`, { cause });
  }
  throw new TypeError(`The input of the tool "${name}" must be an object: z.object({ … }).`);
}

/** Calls the author's code. Never throws: every failure is a reply, with the line that threw. */
export async function runOwnTool(
  { name, input, output, run }: OwnTool,
  call: {
    readonly id: string;
    readonly input: Json;
    readonly signal: AbortSignal;
    readonly outside: ReadonlySet<string>;
  },
  operate: (operation: OwnToolOperation) => Promise<OwnToolAnswer>,
  clean: CleanData,
): Promise<OwnToolReply> {
  const failed = (message: string): OwnToolReply => clean({ ok: false, message, outside: [...call.outside] });
  try {
    const given = await input.safeParseAsync(call.input);
    if (!given.success) return failed(issuesText(given.error.issues, 'The input'));
    const made = await run(given.data as never, contextOf(call.id, call.signal, operate));
    const answered = output === undefined ? { success: true as const, data: made } : await output.safeParseAsync(made);
    if (!answered.success)
      return failed(
        `${name} returned what its output does not allow: ${issuesText(answered.error.issues, 'the output')}`,
      );
    const plain = json.safeParse(answered.data === undefined ? null : answered.data);
    if (!plain.success)
      return failed(`${name} returned what is not plain data: ${issuesText(plain.error.issues, 'the output')}`);
    return clean({ ok: true, value: plain.data, outside: [...call.outside] });
  } catch (thrown) {
    return failed(thrownText(thrown, clean));
  }
}

function contextOf(
  callId: string,
  signal: AbortSignal,
  operate: (operation: OwnToolOperation) => Promise<OwnToolAnswer>,
): ToolCallContext {
  const value = async <T>(operation: OwnToolOperation): Promise<T> => {
    const answer = await operate(operation);
    if (!answer.ok) throw new Error(answer.message);
    return answer.value as T;
  };
  const bytes = (path: string) => value<Uint8Array>({ kind: 'read', path });
  return {
    callId,
    signal,
    files: {
      read: async path => new TextDecoder('utf-8', { fatal: true }).decode(await bytes(path)),
      readBytes: bytes,
      write: (path, content) => value({ kind: 'write', path, content }),
      remove: path => value({ kind: 'remove', path }),
      rename: (from, to) => value({ kind: 'rename', from, to }),
      mkdir: path => value({ kind: 'mkdir', path }),
      list: path => value({ kind: 'list', path }),
    },
    command: (command, { timeoutMs, env } = {}) => value({ kind: 'command', command, timeoutMs, env }),
  };
}
