import { canonicalJson, type Json, type JsonObject, jsonObject, type SecretMac } from '@signalbox/model';
import { plainData } from '../attempt/plain-data.ts';
import type { ToolKind } from './register.ts';
import type { ToolCallFields } from './session-update.ts';

/** A tool call of an agent, as far as it has told. Later updates replace the fields that they have. */
export type ToldCall = ToolCallFields;

export function merged(before: ToldCall | undefined, update: ToolCallFields): ToldCall {
  const told = Object.entries(update).filter(([, value]) => value !== undefined && value !== null);
  return { ...before, ...Object.fromEntries(told) } as ToldCall;
}

export function kindOf({ kind }: ToldCall): ToolKind {
  return kind ?? 'other';
}

/** The name under which a call is shown: the tool's own, otherwise what kind of tool it is. */
export function toolOf(call: ToldCall): string {
  return call.name ?? kindOf(call);
}

/** Tells a tool from others as exactly as the agent does: by name, otherwise by kind and title. */
export function exactTool(call: ToldCall): string {
  return call.name == null ? `${kindOf(call)}: ${call.title ?? ''}` : `${kindOf(call)}: ${call.name}`;
}

/** Whether the agent told the arguments of a call. */
export function hasInput({ rawInput }: ToldCall): boolean {
  return rawInput !== undefined && rawInput !== null;
}

/** The arguments of a call as an object. */
export function inputOf(call: ToldCall): JsonObject {
  if (!hasInput(call)) return {};
  const input = jsonObject.safeParse(plainData(call.rawInput));
  return input.success ? input.data : { value: plainData(call.rawInput) };
}

/** The differences that a call would make, as the agent shows them. */
export function diffsOf({ content }: ToldCall): readonly Json[] {
  return (content ?? []).flatMap(({ type, path, oldText, newText }) =>
    type === 'diff' ? [plainData({ path, oldText, newText })] : [],
  );
}

/** The paths that a call names. */
export function pathsOf({ locations, content }: ToldCall): readonly string[] {
  const differing = (content ?? []).flatMap(({ type, path }) => (type === 'diff' ? [String(path)] : []));
  return [...(locations ?? []).map(({ path }) => path), ...differing];
}

export interface Vendor {
  /** Fields of raw inputs that differ each time. */
  readonly volatile?: readonly string[] | undefined;
  readonly session: string;
  /** A plain digest would let anybody with the log check a guess of what was asked (R42). */
  readonly mac: SecretMac;
}

/**
 * Identifies a call without the agent's own ids: the same when it is asked again after a crash, in another session (R24).
 * `input` replaces the arguments.
 */
export function identityOf(call: ToldCall, vendor: Vendor, input?: JsonObject): string {
  const own = new Set([call.toolCallId, vendor.session]);
  const dropped = new Set(vendor.volatile ?? []);
  const clean = (value: Json): Json => {
    if (typeof value === 'string') return own.has(value) ? '' : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(clean);
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, part]) => (dropped.has(key) ? [] : [[key, clean(part as Json)]])),
    );
  };
  const { name, title, locations } = call;
  const asked =
    input !== undefined || hasInput(call)
      ? { kind: kindOf(call), tool: name ?? null, input: clean(input ?? inputOf(call)) }
      : { kind: kindOf(call), tool: name ?? null, title: title ?? null, locations, diffs: diffsOf(call) };
  return vendor.mac(`call ${canonicalJson(plainData(asked))}`);
}
