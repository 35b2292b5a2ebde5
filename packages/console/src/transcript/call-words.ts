import type { Json, JsonObject } from '@signalbox/model';
import { isObject } from '../story/json-object.ts';
import { changeOf, commandOf } from '../story/question.ts';
import type { TextChange } from '../story/tool-call.ts';

/** A tool call in words. */
export interface CallWords {
  /** What it does: `Read`. */
  readonly does: string;
  /** To what: `notes.md`. */
  readonly target: string | undefined;
  /** The arguments that the words leave out. */
  readonly args: readonly (readonly [name: string, value: string])[];
  /** The change that its arguments ask for. */
  readonly change: TextChange | undefined;
}

/** What the tools at hand do, and the arguments that say to what. */
const known: Readonly<Record<string, { readonly does: string; readonly target: readonly string[] }>> = {
  read_file: { does: 'Read', target: ['path'] },
  write_file: { does: 'Write', target: ['path'] },
  edit_file: { does: 'Edit', target: ['path'] },
  list_files: { does: 'List', target: ['path'] },
  glob: { does: 'Find files', target: ['pattern', 'path'] },
  grep: { does: 'Search for', target: ['pattern', 'path'] },
  run_command: { does: 'Run', target: ['command'] },
  artifact: { does: 'Publish', target: ['name', 'key'] },
};

const hidden = ['find', 'replaceWith', 'content', 'before', 'after'];

/** The arguments of a call as a person would say them. `title` is what the agent calls it. */
export function callWords(tool: string, input: Json, title?: string): CallWords {
  const fields: JsonObject = isObject(input) ? input : input === null ? {} : { input };
  const change = changeOf(fields);
  const fact = Object.hasOwn(known, tool) ? known[tool] : undefined;
  const command = commandOf(fields);
  const shown = new Set(fact?.target ?? (change === undefined ? [] : ['path']));
  if (command !== undefined) for (const name of ['command', 'cmd']) shown.add(name);
  if (change !== undefined) for (const name of hidden) shown.add(name);
  const args = Object.entries(fields).flatMap(([name, value]) =>
    shown.has(name) ? [] : [[nameWords(name), valueWords(value)] as const],
  );
  if (title !== undefined) return { does: title, target: undefined, args, change };
  const named = (fact?.target ?? []).flatMap(name => (typeof fields[name] === 'string' ? [fields[name]] : []));
  const target = command ?? (named.length > 0 ? named.join(' in ') : change?.path);
  return { does: fact?.does ?? nameWords(tool), target, args, change };
}

/** `maxLines` as `max lines`. */
function nameWords(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase();
}

/** A value as a person would write it: lists with commas, other structures as JSON. */
export function valueWords(value: Json): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const isList = Array.isArray(value) && value.every(item => typeof item === 'string' || typeof item === 'number');
  return isList ? value.join(', ') : JSON.stringify(value, null, 1);
}

/** A result as text, and the facts beside it. */
export interface ResultWords {
  readonly text: string | undefined;
  readonly facts: readonly (readonly [name: string, value: string])[];
}

const texts = ['text', 'content', 'output', 'stdout', 'stderr', 'message'];

export function resultWords(output: Json): ResultWords {
  if (typeof output === 'string') return { text: output, facts: [] };
  if (!isObject(output)) return { text: output === null ? undefined : valueWords(output), facts: [] };
  const said = texts.flatMap(name => (typeof output[name] === 'string' && output[name] !== '' ? [output[name]] : []));
  const facts = Object.entries(output).flatMap(([name, value]) =>
    texts.includes(name) && typeof value === 'string' ? [] : [[nameWords(name), valueWords(value)] as const],
  );
  return { text: said.length === 0 ? undefined : said.join('\n').replace(/\n$/, ''), facts };
}
