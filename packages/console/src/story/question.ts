import type { Json, JsonObject, WireDecision } from '@signalbox/model';
import { isObject } from './json-object.ts';

/** What a decision asks for, and what to show before it is answered. */
export interface Question {
  /** Approve or deny; one of the options; or a value that fits. */
  readonly wants:
    | { readonly kind: 'approval' }
    | { readonly kind: 'option'; readonly options: readonly Option[] }
    | { readonly kind: 'value'; readonly schema: Json };
  readonly words: string | undefined;
  /** The command as typed in a shell. */
  readonly command: string | undefined;
  /** The change of a file. */
  readonly change: Change | undefined;
  /** Further facts to show. */
  readonly shown: readonly (readonly [name: string, value: string])[];
  /** The tool's arguments, if a person may change them. */
  readonly args: JsonObject | undefined;
  readonly risk: string | undefined;
}

interface Option {
  readonly id: string;
  readonly label: string;
  /** The author's arguments for and against. */
  readonly notes: readonly (readonly [name: string, value: string])[];
}

interface Change {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** A tool call shows its arguments; a question to a person shows its author's context. */
export function questionOf({ tool, context, decision: { kind, proposal } }: WireDecision): Question {
  const isTool = kind === 'file_edit' || kind === 'command_exec' || kind === 'external_api';
  const fields = isObject(proposal) ? proposal : { proposal };
  const options = optionsOf(fields.options);
  const hidden = ['prompt', 'options', 'schema', ...(fields.context === context ? ['context'] : [])];
  const all = isTool
    ? tool.args
    : Object.fromEntries(Object.entries(fields).filter(([name]) => !hidden.includes(name)));
  const change = isTool ? changeOf(tool.args) : undefined;
  const command = isTool ? commandOf(tool.args) : undefined;
  const told = [...(change === undefined ? [] : changeFields), ...(command === undefined ? [] : commandFields)];
  return {
    wants:
      kind === 'choice' && options.length > 0
        ? { kind: 'option', options }
        : kind === 'human' && fields.schema !== undefined
          ? { kind: 'value', schema: fields.schema }
          : { kind: 'approval' },
    words: context,
    command,
    change,
    shown: Object.entries(all)
      .filter(([name]) => !told.includes(name))
      .map(([name, value]) => [name, textOf(value)]),
    args: isTool ? tool.args : undefined,
    risk: isTool && typeof fields.risk === 'string' ? fields.risk : undefined,
  };
}

/** A decision in a few words: the action, or the question. */
export function headlineOf(decision: WireDecision): string {
  const { command, change, words } = questionOf(decision);
  if (command !== undefined) return `Run ${command}`;
  if (change !== undefined) return change.before === '' ? `Write ${change.path}` : `Change ${change.path}`;
  const { kind } = decision.decision;
  return kind === 'external_api' ? `Call ${decision.tool.name}` : (words ?? decision.tool.name);
}

const changeFields = ['path', 'find', 'replaceWith', 'content', 'before', 'after'];
const commandFields = ['command', 'cmd'];

/** An edit names a text and its replacement; a write has the whole content. */
function changeOf({ path, find, replaceWith, content, before, after }: JsonObject): Change | undefined {
  if (typeof path !== 'string') return undefined;
  if (typeof find === 'string' && typeof replaceWith === 'string') return { path, before: find, after: replaceWith };
  if (typeof before === 'string' && typeof after === 'string') return { path, before, after };
  return typeof content === 'string' ? { path, before: '', after: content } : undefined;
}

function commandOf({ command, cmd }: JsonObject): string | undefined {
  const given = command ?? cmd;
  if (typeof given === 'string') return given;
  if (!Array.isArray(given)) return undefined;
  return given.map((word: Json) => quoted(textOf(word))).join(' ');
}

/** Quoted for a shell. */
function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function optionsOf(given: Json | undefined): readonly Option[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((option: Json) => {
    if (!isObject(option) || typeof option.id !== 'string') return [];
    const { id, label, ...rest } = option;
    const notes = Object.entries(rest).map(([name, value]) => [name, textOf(value)] as const);
    return [{ id, label: typeof label === 'string' ? label : id, notes }];
  });
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
}
