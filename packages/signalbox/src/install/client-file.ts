import type { McpClient } from './mcp-clients.ts';

/** The name of our entry in every client. */
const NAME = 'signalbox';

/** The text of a client's file with our entry set, or without it; `unreadable` if its other content could be lost. */
export function changedFile(
  { format, member }: Pick<McpClient, 'format' | 'member'>,
  before: string | undefined,
  entry: Readonly<Record<string, unknown>> | undefined,
): { readonly text: string } | { readonly unreadable: string } {
  return format === 'toml' ? changedToml(member, before ?? '', entry) : changedJson(member, before, entry);
}

/** The entry alone, as a person would write it. */
export function entryText({ format, member }: Pick<McpClient, 'format' | 'member'>, entry: object): string {
  if (format === 'toml') return tomlTable(member, entry);
  return JSON.stringify({ [member]: { [NAME]: entry } }, null, 2);
}

function changedJson(member: string, before: string | undefined, entry: object | undefined) {
  const empty = before === undefined || before.trim() === '';
  let whole: unknown;
  try {
    whole = empty ? {} : JSON.parse(before);
  } catch {
    return { unreadable: 'it is not plain JSON; it may have comments' };
  }
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole))
    return { unreadable: 'it is no JSON object' };
  const servers: unknown = Reflect.get(whole, member) ?? {};
  if (typeof servers !== 'object' || servers === null || Array.isArray(servers)) {
    return { unreadable: `its "${member}" is no object` };
  }
  const { [NAME]: _, ...others } = servers as Readonly<Record<string, unknown>>;
  const next = { ...whole, [member]: entry === undefined ? others : { ...others, [NAME]: entry } };
  return { text: `${JSON.stringify(next, null, 2)}\n` };
}

/** Only our own table is touched, from its header to the next one; everything else stays as it is, comments included. */
function changedToml(member: string, before: string, entry: object | undefined) {
  const lines = before.split('\n');
  const isHeader = (line: string) => /^\s*\[/.test(line);
  const own = new RegExp(`^\\s*\\[\\s*${member}\\s*\\.\\s*"?${NAME}"?\\s*(\\.[^\\]]*)?\\]`);
  const kept: string[] = [];
  let isOwn = false;
  for (const line of lines) {
    if (isHeader(line)) isOwn = own.test(line);
    if (!isOwn) kept.push(line);
  }
  const rest = kept.join('\n').trimEnd();
  if (entry === undefined) return { text: rest === '' ? '' : `${rest}\n` };
  return { text: `${rest === '' ? '' : `${rest}\n\n`}${tomlTable(member, entry)}\n` };
}

/** Texts and lists of texts in JSON's notation are valid TOML. */
function tomlTable(member: string, entry: object): string {
  return [
    `[${member}.${NAME}]`,
    ...Object.entries(entry).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
  ].join('\n');
}
