import type { Json, JsonObject, WireDecision } from '@signalbox/model';
import { exactText } from './exact-text.ts';
import { type Held, heldOf, heldWords } from './held.ts';
import { isObject } from './json-object.ts';
import { type AskingAgent, askingAgent, type PermissionOption, permissionOptions } from './permission.ts';
import { locationsOf, type TextChange, textChanges } from './tool-call.ts';

/** What a decision asks for, and what to show before it is answered. */
export interface Question {
  /** Approve or deny; one of the agent's own options; one of the options; or a value that fits. */
  readonly wants:
    | { readonly kind: 'approval' }
    | { readonly kind: 'permission'; readonly options: readonly PermissionOption[] }
    | { readonly kind: 'option'; readonly options: readonly Option[] }
    | { readonly kind: 'value'; readonly schema: Json };
  readonly words: string | undefined;
  /** The agent of another vendor that asks. */
  readonly agent: AskingAgent | undefined;
  /** What the agent calls its tool call. */
  readonly title: string | undefined;
  /** Of which kind the agent says that its tool is. */
  readonly toolKind: string | undefined;
  readonly locations: readonly string[];
  /** The command as typed in a shell. */
  readonly command: string | undefined;
  /** The changes of files. */
  readonly changes: readonly TextChange[];
  /** What the agent did not send, in words. */
  readonly missing: string | undefined;
  /** Changes that wait to be applied or dropped. */
  readonly held: Held | undefined;
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
  /** What it does, in our words. */
  readonly does?: string;
}

/** A tool call shows its arguments; a question to a person shows its author's context. */
export function questionOf({ tool, context, decision: { kind, proposal } }: WireDecision): Question {
  const isTool = kind === 'file_edit' || kind === 'command_exec' || kind === 'external_api';
  const fields = isObject(proposal) ? proposal : { proposal };
  const agent = askingAgent(fields);
  const held = heldOf(fields.context);
  const permissions = isTool && agent !== undefined ? permissionOptions(fields, agent) : [];
  const options = optionsOf(fields.options).map(option => ({ ...option, ...(held && heldWords(option.id, held)) }));
  const isHidden = (name: string) =>
    ['prompt', 'options', 'schema'].includes(name) ||
    (name === 'context' && (fields.context === context || held !== undefined || agent !== undefined));
  const all = isTool ? tool.args : Object.fromEntries(Object.entries(fields).filter(([name]) => !isHidden(name)));
  const own = isTool ? changeOf(tool.args) : undefined;
  const told = textChanges(fields.diffs);
  const command = isTool ? commandOf(tool.args) : undefined;
  const hidden = [...(own === undefined ? [] : changeFields), ...(command === undefined ? [] : commandFields)];
  const missing = textIn(fields.missing);
  return {
    wants:
      permissions.length > 0
        ? { kind: 'permission', options: permissions }
        : kind === 'choice' && options.length > 0
          ? { kind: 'option', options }
          : kind === 'human' && fields.schema !== undefined
            ? { kind: 'value', schema: fields.schema }
            : { kind: 'approval' },
    words: context,
    agent,
    title: isTool ? textIn(fields.title) : undefined,
    toolKind: isTool && agent !== undefined ? textIn(fields.kind) : undefined,
    locations: isTool ? locationsOf(fields.locations) : [],
    command,
    changes: told.length > 0 ? told : own === undefined ? [] : [own],
    missing,
    held,
    shown: [
      ...Object.entries(all)
        .filter(([name]) => !hidden.includes(name))
        .map(([name, value]) => [name, textOf(value)] as const),
      ...(isTool && textIn(fields.text) !== undefined ? [['text', textOf(fields.text ?? '')] as const] : []),
    ],
    args: isTool && missing === undefined ? tool.args : undefined,
    risk: isTool ? textIn(fields.risk) : undefined,
  };
}

/** A decision in a few words: the action, or the question. */
export function headlineOf(decision: WireDecision): string {
  return exactText(wordsFor(decision));
}

function wordsFor(decision: WireDecision): string {
  const { command, changes, words, title } = questionOf(decision);
  const [change] = changes;
  if (command !== undefined) return `Run ${command}`;
  if (title !== undefined) return title;
  if (change !== undefined) return change.before === '' ? `Write ${change.path}` : `Change ${change.path}`;
  const { kind } = decision.decision;
  return kind === 'external_api' ? `Call ${decision.tool.name}` : (words ?? decision.tool.name);
}

const changeFields = ['path', 'find', 'replaceWith', 'content', 'before', 'after'];
const commandFields = ['command', 'cmd'];

/** An edit names a text and its replacement; a write has the whole content. */
export function changeOf({ path, find, replaceWith, content, before, after }: JsonObject): TextChange | undefined {
  if (typeof path !== 'string') return undefined;
  if (typeof find === 'string' && typeof replaceWith === 'string') return { path, before: find, after: replaceWith };
  if (typeof before === 'string' && typeof after === 'string') return { path, before, after };
  return typeof content === 'string' ? { path, before: '', after: content } : undefined;
}

export function commandOf({ command, cmd }: JsonObject): string | undefined {
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

function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
}
