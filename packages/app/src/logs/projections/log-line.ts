import type { Json, JsonObject, RunId, Timestamp } from '@signalbox/model';
import { type AnyEvent, factsOfEvent, type StreamChunk } from '@signalbox/runs';
import { agentIn } from '../../agents/agents-of-run.ts';

/** From least to most severe. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof logLevels)[number];

export function isAtLeast(level: LogLevel, least: LogLevel): boolean {
  return logLevels.indexOf(level) >= logLevels.indexOf(least);
}

/** One line of the log of a run. A run and its sub-plans share one correlation id. */
export interface LogLine {
  readonly timestamp: Timestamp;
  readonly level: LogLevel;
  /** The part of the system that it concerns. */
  readonly component: string;
  readonly run: RunId;
  readonly node?: string | undefined;
  readonly task?: string | undefined;
  readonly correlationId: string;
  /** The type of the event, or `stream.<kind>`. */
  readonly event: string;
  /** The event's place in the run; agent output has none. */
  readonly seq?: number | undefined;
  readonly message: string;
  readonly data?: Json | undefined;
  /** Fields were truncated. */
  readonly truncated?: true | undefined;
}

/** Longer texts are truncated: a line is for reading, the row has everything. */
export const MAX_TEXT = 2048;

export type CleanData = (value: Json) => Json;

/** The line for an event. `clean` removes secrets from outside content. */
export function lineOfEvent(event: AnyEvent, correlationId: string, clean: CleanData): LogLine {
  const { v: _, id: __, runId, seq, ts, type, ...fields } = event as AnyEvent & Record<string, Json>;
  const { node, task, ...rest } = fields as Record<string, Json>;
  const cleaned = clean(redactNamed(rest) as Json);
  const cut = truncate(cleaned, MAX_TEXT);
  const message = factsOfEvent(event)?.words?.(event as never) ?? type;
  return {
    timestamp: ts,
    level: levelOf(event),
    component: componentOf(type),
    run: runId,
    ...(typeof node === 'string' && { node }),
    ...(typeof task === 'string' && { task }),
    correlationId,
    event: type,
    seq,
    message: String(truncate(clean(message), MAX_TEXT).value),
    ...(Object.keys(rest).length > 0 && { data: cut.value }),
    ...((cut.isCut || message.length > MAX_TEXT) && { truncated: true }),
  };
}

/** The line for agent output. */
export function lineOfChunk(
  run: RunId,
  node: string,
  { task, kind, payload, at }: StreamChunk,
  correlationId: string,
  clean: CleanData,
): LogLine {
  const cut = truncate(clean(redactNamed(payload)), MAX_TEXT);
  const agent = kind === 'message' ? agentIn(cut.value) : undefined;
  const text = typeof cut.value === 'string' ? cut.value : JSON.stringify(cut.value);
  const said = agent === undefined ? text : `Its agent is ${agent.words}.`;
  const isTalk = kind === 'token' || kind === 'thinking' || kind === 'message';
  return {
    timestamp: at,
    level: isTalk && agent === undefined ? 'debug' : 'info',
    component: 'agent',
    run,
    node,
    task,
    correlationId,
    event: `stream.${kind}`,
    message: said.length > MAX_TEXT ? `${said.slice(0, MAX_TEXT)}…` : said,
    ...((cut.isCut || said.length > MAX_TEXT) && { truncated: true }),
  };
}

function levelOf(event: AnyEvent): LogLevel {
  const { level = event.type === 'run.stalled' ? 'warn' : 'info' } = factsOfEvent(event) ?? {};
  return typeof level === 'function' ? level(event as never) : level;
}

function componentOf(type: string): string {
  const end = type.indexOf('.');
  return end < 0 ? type : type.slice(0, end);
}

const SECRET_KEY = /(^|[_-])(api[_-]?key|token|secret|password|passwd|authorization|cookie|credentials?)$/i;
const CAMEL_SECRET = /(apiKey|Token|Secret|Password|Authorization|Cookie|Credentials?)$/;

/** Redacts members with secret names. Returns the same value if there are none. */
export function redactNamed(value: Json): Json {
  return mapped(value, (member, key) =>
    typeof member === 'string' && key !== undefined && (SECRET_KEY.test(key) || CAMEL_SECRET.test(key))
      ? '[redacted]'
      : member,
  );
}

/** Truncates long texts, with the number of removed characters. Returns the same value if there are none. */
export function truncate(value: Json, most: number): { readonly value: Json; readonly isCut: boolean } {
  let room = most;
  const kept = mapped(value, (part, key) => {
    room -= (key?.length ?? 0) + (typeof part === 'string' ? part.length : 0) + EACH;
    if (typeof part !== 'string' || part.length <= most) return part;
    return `${part.slice(0, most)}… (${part.length - most} more)`;
  });
  // No character takes more than six in JSON.
  if (room >= 0 || JSON.stringify(kept).length <= most * 8) return { value: kept, isCut: kept !== value };
  return { value: `${JSON.stringify(kept).slice(0, most)}…`, isCut: true };
}

/** The most that a number, a literal or the punctuation around a member takes in JSON. */
const EACH = 32;

/** The value with `change` applied to every part; the same value if nothing changes. */
function mapped(value: Json, change: (part: Json, key?: string) => Json, key?: string): Json {
  const changed = change(value, key);
  if (changed !== value || typeof value !== 'object' || value === null) return changed;
  if (Array.isArray(value)) {
    const items = value.map(item => mapped(item as Json, change));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  // Nothing is copied before the first change: most lines have none.
  const members = value as JsonObject;
  let copy: Map<string, Json> | undefined;
  for (const name in members) {
    const member = members[name] as Json;
    const kept = mapped(member, change, name);
    if (kept === member) continue;
    copy ??= new Map(Object.entries(members as Record<string, Json>));
    copy.set(name, kept);
  }
  return copy === undefined ? value : Object.fromEntries(copy);
}
