import type { Json } from '@signalbox/model';
import { agentInstructions, agentTools, type DescribedTool } from './tool-definitions.ts';
import { failedAnswer, inputJsonSchema, type JsonSchema, plainJsonSchema } from './tool-schema.ts';

/** `docs/reference/agent-tools.md`: the agent's tools for readers, from the definitions that agents get. */
export function agentToolsReference(): string {
  return `${[
    '# Agent tools',
    '<!-- Generated from packages/server/src/mcp/tool-definitions.ts and the schemas of the port; edits are lost. -->',
    'The tools that an agent gets from `signalbox mcp`, and at `/mcp/agent` of `signalbox serve`. Every client gets these instructions:',
    quoted(agentInstructions),
    ...agentTools.flatMap(toolParts),
    ...failureParts(),
  ].join('\n\n')}\n`;
}

/** The failures that any tool can return. */
export function failureParts(): readonly string[] {
  return [
    '## When a call fails',
    'Any tool can return the error envelope instead, as structured content of a result with `isError`:',
    table(rowsOf(plainJsonSchema(failedAnswer))),
  ];
}

export function toolParts({
  name,
  title,
  description,
  annotations,
  template,
  input,
  answer,
}: DescribedTool): readonly string[] {
  const hints = Object.entries(annotations).map(([hint, holds]) => `\`${hint}\` ${holds ? 'yes' : 'no'}`);
  const taken = rowsOf(inputJsonSchema(input));
  return [
    `## \`${name}\``,
    `**${title}.** ${hints.join(', ')}.`,
    quoted(description),
    `Takes:`,
    taken.length === 0 ? 'Nothing.' : table(taken),
    `For example \`${JSON.stringify(template)}\`.`,
    'Answers:',
    table(rowsOf(plainJsonSchema(answer))),
  ];
}

interface Row {
  readonly path: string;
  readonly type: string;
  readonly isNeeded: boolean;
  readonly text: string;
}

/** Every field of an object, followed by those of its objects and lists. */
function rowsOf(schema: JsonSchema, under = ''): readonly Row[] {
  const needed = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(objectOf(schema.properties)).flatMap(([name, part]) => {
    const field = objectOf(part);
    const path = `${under}${name}`;
    const text = typeof field.description === 'string' ? field.description : '';
    return [{ path, type: typeText(field), isNeeded: needed.includes(name), text }, ...rowsInside(field, path)];
  });
}

function rowsInside(field: JsonSchema, path: string): readonly Row[] {
  const variants = variantsOf(field);
  if (variants.length > 0) {
    const rows = variants.flatMap(variant => (variant.type === 'object' ? rowsOf(variant, `${path}.`) : []));
    return rows.filter(
      (row, index) => rows.findIndex(other => other.path === row.path && other.type === row.type) === index,
    );
  }
  if (field.type === 'array') return rowsInside(objectOf(field.items), `${path}[]`);
  return field.type === 'object' ? rowsOf(field, `${path}.`) : [];
}

function typeText(field: JsonSchema): string {
  if (field.const !== undefined) return `\`${JSON.stringify(field.const)}\``;
  if (Array.isArray(field.enum)) return field.enum.map(each => `\`${String(each)}\``).join(' or ');
  const variants = variantsOf(field);
  if (variants.length > 0) return [...new Set(variants.map(typeText))].join(' or ');
  if (field.type === 'array') return `list of ${typeText(objectOf(field.items))}`;
  return typeof field.type === 'string' ? field.type : 'any JSON';
}

function variantsOf({ anyOf, oneOf }: JsonSchema): readonly JsonSchema[] {
  const variants = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  return variants.map(objectOf);
}

function objectOf(value: Json | undefined): JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonSchema) : {};
}

function table(rows: readonly Row[]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  return [
    '| field | type | needed | |',
    '|---|---|---|---|',
    ...rows.map(row => `| \`${row.path}\` | ${cell(row.type)} | ${row.isNeeded ? 'yes' : ''} | ${cell(row.text)} |`),
  ].join('\n');
}

export function quoted(text: string): string {
  return text
    .split('\n')
    .map(line => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}
