import {
  ADAPTER_EVENT_MAX_BYTES,
  type AdapterEvent,
  type AgentEventType,
  type AgentId,
  adapterEvent,
  faultsOf,
  isJsonObject,
  type Json,
  type JsonObject,
  parsedJson,
  utf8Length,
} from '@signalbox/model';
import { repairDefaults } from './event-repairs.ts';

/** Where an event comes from, as its transport knows it. */
export interface EventSource {
  readonly agentId: AgentId;
  readonly workstream: string;
}

export type CheckedEvent =
  | {
      readonly kind: 'event';
      readonly event: AdapterEvent;
      readonly repairs: readonly string[];
      readonly unknownFields: number;
    }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'invalid'; readonly reason: string; readonly errors: readonly string[] };

/**
 * Checks what an adapter sent. A whole event is used as it is; one that lacks only what can be filled in is repaired, and says what was;
 * plain text is text. Everything else is invalid, with sentences for people.
 */
export function checkEvent(payload: Json, source: EventSource): CheckedEvent {
  if (typeof payload === 'string') return checkText(payload, source);
  if (!isJsonObject(payload)) return invalid('An event must be an object.');
  return checkObject(payload, source);
}

function checkText(payload: string, source: EventSource): CheckedEvent {
  if (utf8Length(payload) > ADAPTER_EVENT_MAX_BYTES) {
    return invalid(`An event may have ${ADAPTER_EVENT_MAX_BYTES} bytes; this one has ${utf8Length(payload)}.`);
  }
  if (payload.trim() === '') return invalid('The message is empty.');
  if (!/^\s*[{[]/.test(payload)) return { kind: 'text', text: payload };
  const parsed = parsedJson(payload);
  // What was parsed from JSON is plain data.
  return parsed === undefined ? invalid('The message is not complete JSON.') : checkEvent(parsed as Json, source);
}

/** Each round of repairs can reveal more inside what was filled in. */
const REPAIR_ROUNDS = 3;

function checkObject(payload: JsonObject, source: EventSource): CheckedEvent {
  let candidate = withWorkstream(payload, source);
  const repairs: string[] = [];
  let unknownFields = 0;
  for (let round = 0; ; round++) {
    const parsed = adapterEvent.safeParse(candidate);
    if (parsed.success) return ofItsAgent({ kind: 'event', event: parsed.data, repairs, unknownFields }, source);
    const { issues } = parsed.error;
    const errors = faultsOf(issues, candidate).map(({ sentence }) => sentence);
    if (round === REPAIR_ROUNDS) return { kind: 'invalid', reason: reasonOf(errors), errors };
    for (const issue of issues) {
      if (issue.code === 'unrecognized_keys') {
        candidate = changedAt(candidate, issue.path, value => withoutKeys(value, issue.keys)) as JsonObject;
        unknownFields += issue.keys.length;
        continue;
      }
      const value = defaultAt(candidate, issue.path, source);
      if (value === undefined) return { kind: 'invalid', reason: reasonOf(errors), errors };
      candidate = changedAt(candidate, issue.path, () => value) as JsonObject;
      repairs.push(issue.path.slice(1).join('.'));
    }
  }
}

/** An adapter speaks for one agent only. */
function ofItsAgent(checked: CheckedEvent & { readonly kind: 'event' }, { agentId }: EventSource): CheckedEvent {
  const named = checked.event.event.agentId;
  return named === agentId ? checked : invalid(`The event is about agent ${named}, but came from agent ${agentId}.`);
}

/** An artifact without a workstream is in its agent's: adapters may leave it out. */
function withWorkstream(payload: JsonObject, { workstream }: EventSource): JsonObject {
  const { event } = payload;
  if (!isJsonObject(event) || event.type !== 'artifact' || event.workstream !== undefined) return payload;
  return { ...payload, event: { ...event, workstream } };
}

/** The value for a missing field; undefined if it has none, or if the field is there. */
function defaultAt(payload: JsonObject, path: readonly PropertyKey[], source: EventSource): Json | undefined {
  const [root, ...inside] = path;
  if (root !== 'event' || inside.length === 0 || valueAt(payload, path) !== undefined) return undefined;
  if (inside.length === 1 && inside[0] === 'agentId') return source.agentId;
  const type = valueAt(payload, ['event', 'type']);
  if (typeof type !== 'string' || !Object.hasOwn(repairDefaults, type)) return undefined;
  const defaults = repairDefaults[type as AgentEventType];
  const known = inside.map(part => (typeof part === 'number' ? '*' : String(part))).join('.');
  const place = { ...source, occurredAt: payload.sourceOccurredAt ?? null };
  return Object.hasOwn(defaults, known) ? defaults[known]?.(place) : undefined;
}

function valueAt(value: Json | undefined, path: readonly PropertyKey[]): Json | undefined {
  let current = value;
  for (const part of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, part)) return undefined;
    current = (current as JsonObject)[String(part)];
  }
  return current;
}

function changedAt(
  value: Json | undefined,
  path: readonly PropertyKey[],
  change: (value: Json | undefined) => Json,
): Json {
  const [part, ...rest] = path;
  if (part === undefined) return change(value);
  if (Array.isArray(value)) return value.map((item, at) => (at === part ? changedAt(item, rest, change) : item));
  const object = isJsonObject(value) ? value : {};
  return { ...object, [String(part)]: changedAt(object[String(part)], rest, change) };
}

function withoutKeys(value: Json | undefined, keys: readonly string[]): Json {
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))
    : (value ?? null);
}

function reasonOf(errors: readonly string[]): string {
  const [first = 'It has no valid form.', ...others] = errors;
  return others.length === 0 ? first : `${first} (and ${others.length} more)`;
}

function invalid(reason: string): CheckedEvent {
  return { kind: 'invalid', reason, errors: [reason] };
}
