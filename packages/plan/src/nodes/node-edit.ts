import { err, type Json, type JsonObject, json, jsonObject, ok, type Result, text } from '@signalbox/model';
import * as z from 'zod';
import type { NodeKind } from './node-kind.ts';
import { nodeKinds, workEntry } from './node-kinds.ts';

/**
 * A person's change of a node's input. Kept in the node's status row, so that it holds over restarts, iterations and forks; the row of the
 * node has the changed content.
 */
export const nodeEdit = z.strictObject({ kind: text, data: jsonObject });
export type NodeEdit = z.infer<typeof nodeEdit>;

/** The part of a node that an edit may change: a task's or sub-plan's input, or the named fields of an agent or a question. */
export function editableInput(kind: string, data: JsonObject): Json | undefined {
  const input = workEntry(kind)?.input;
  if (input === undefined) return undefined;
  if (input === 'whole') return data.input;
  return Object.fromEntries(input.flatMap(field => (data[field] === undefined ? [] : [[field, data[field]]])));
}

/**
 * Fields that are given replace those of the node's input, others stay; anything else replaces it whole. A text alone is the prompt of an
 * agent or a question.
 */
export function editNode(
  { kind, data }: { readonly kind: string; readonly data: JsonObject },
  given: Json,
  former?: NodeEdit | undefined,
): Result<{ readonly edit: NodeEdit; readonly before: Json; readonly after: Json }, string> {
  const input = workEntry(kind)?.input;
  const before = editableInput(kind, data);
  if (input === undefined) return err(`a ${kind} has no input that can be changed`);
  if (before === undefined) return err('its element has no input; what it reads is the input of the run');
  const fields = input !== 'whole' && typeof given === 'string' ? { prompt: given } : given;
  const after = isObject(before) && isObject(fields) ? { ...before, ...fields } : fields;
  if (input !== 'whole') {
    if (!isObject(after)) return err(`the input of a ${kind} is an object of ${input.join(', ')}`);
    const unknown = Object.keys(after).find(field => !input.includes(field));
    if (unknown !== undefined)
      return err(`a ${kind} has no field "${unknown}" that can be changed, only ${input.join(', ')}`);
  }
  const changed = input === 'whole' ? { input: after } : (after as JsonObject);
  const edit: NodeEdit = { kind, data: { ...(former?.kind === kind ? former.data : {}), ...changed } };
  const checked = nodeKinds[kind as NodeKind].data.safeParse({ ...data, ...edit.data });
  if (checked.success) return ok({ edit, before, after: json.parse(after) });
  const [issue] = checked.error.issues;
  return err(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`);
}

/** A node of another kind in its place, of a changed plan, keeps what its author wrote. */
export function withEdit<Data extends JsonObject>(kind: string, data: Data, edit: NodeEdit | undefined): Data {
  return edit?.kind === kind ? { ...data, ...edit.data } : data;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
