import path from 'node:path';
import {
  type AgentId,
  type ArtifactId,
  type ArtifactKind,
  cutAtWord,
  deriveId,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonObject,
  type MessageId,
  projectPath,
  type Timestamp,
} from '@signalbox/model';
import type { AgentOutcome, AgentSession } from '@signalbox/runs';
import * as z from 'zod';
import type { EventOf } from './event-sender.ts';

export interface WorkPlace {
  readonly agent: AgentId;
  readonly session: string;
  readonly pluginName: string;
  readonly workstream: string;
  /** The project's directory, and the one that the agent works in. */
  readonly project: string;
  readonly directory: string;
  now(): Timestamp;
}

/** Longer texts are cut: an event has at most 1 MB. */
const MAX_TEXT = 20_000;
const MAX_INPUT = 200_000;

const call = { call: z.string().min(1), tool: z.string() };
const kinded = z.looseObject({
  ...call,
  kind: z.string().optional(),
  input: z.unknown(),
  locations: z.array(z.looseObject({ path: z.string() })).optional(),
  diffs: z.array(z.looseObject({ path: z.string() })).optional(),
});
const entry = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('begun'),
    model: z.string(),
    session: z.string().optional(),
  }),
  z.looseObject({
    kind: z.literal('assistant'),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))]),
  }),
  z.looseObject({ kind: z.literal('tool_proposed'), ...call, input: z.unknown() }),
  z.looseObject({
    kind: z.literal('tool_ended'),
    ...call,
    status: z.enum(['succeeded', 'failed', 'unknown', 'refused', 'denied']),
    output: z.looseObject({ type: z.string(), value: z.unknown() }).optional(),
    ms: z.number().nonnegative().optional(),
    approval: z.string().optional(),
  }),
  z.looseObject({ kind: z.literal('note'), text: z.string() }),
  z.looseObject({
    kind: z.literal('plan'),
    entries: z.array(z.looseObject({ content: z.string(), status: z.string().optional() })),
  }),
]);

type Known = { readonly [Kind in z.infer<typeof entry>['kind']]: Extract<z.infer<typeof entry>, { kind: Kind }> };

/**
 * The events of the fleet that follow from what an agent does in a turn: from what it keeps, streams and spends, whatever runs it. The
 * same for an agent of a plan and for one of the fleet's own.
 */
export interface WorkEvents {
  kept(entry: Json): readonly EventOf[];
  streamed(kind: Parameters<AgentSession['stream']>[0], payload: Json): readonly EventOf[];
  spent(usage: Parameters<AgentSession['spend']>[0]): readonly EventOf[];
  /** Something of the vendor's that has no form of ours. */
  raw(eventType: string, payload: Json): readonly EventOf[];
  ended(outcome: AgentOutcome): readonly EventOf[];
  /** The vendor's session, as far as it was told. */
  vendorSession(): string;
  artifacts(): readonly ArtifactId[];
}

export function createWorkEvents(place: WorkPlace): WorkEvents {
  /** Calls that run, by their name. */
  const running = new Map<string, z.infer<typeof kinded>>();
  const artifacts = new Set<ArtifactId>();
  let messages = 0;
  let vendorSession = '';

  const of: { readonly [Kind in keyof Known]: (entry: Known[Kind]) => readonly EventOf[] } = {
    begun(begun) {
      vendorSession = begun.session ?? vendorSession;
      return [{ type: 'lifecycle', action: 'session_start', reason: `On ${begun.model}` }];
    },
    assistant({ content }) {
      const texts =
        typeof content === 'string' ? [content] : content.map(part => (part.type === 'text' ? part.text : ''));
      const said = texts.join('').trim();
      if (said === '') return [];
      messages += 1;
      const messageId = deriveId<MessageId>('fleet-message', place.session, messages);
      return [{ type: 'message.assistant.final', messageId, content: cutAtWord(said, MAX_TEXT) }];
    },
    tool_proposed: ({ call: id, tool, input }) => [{ ...callOf(id, tool, input), phase: 'requested', approved: false }],
    tool_ended({ call: id, tool, status, output, ms, approval }) {
      const before = running.get(id);
      running.delete(id);
      const isDone = status === 'succeeded';
      const approved = status !== 'denied' && status !== 'refused' && approval !== 'reject';
      const ended: EventOf = {
        ...callOf(id, tool, before?.input),
        phase: isDone ? 'completed' : 'failed',
        approved,
        ...(output === undefined ? {} : { output: shown(output.value) }),
        ...(ms === undefined ? {} : { durationMs: ms }),
      };
      return isDone && before !== undefined ? [ended, ...changedFiles(before)] : [ended];
    },
    note: ({ text }) => [{ type: 'status', message: cutAtWord(text, MAX_TEXT) }],
    plan({ entries }) {
      const done = entries.filter(({ status }) => status === 'completed').length;
      const now = entries.find(({ status }) => status === 'in_progress') ?? entries[done];
      const description = cutAtWord(now?.content ?? 'Its plan is done.', MAX_TEXT);
      const progressPct = entries.length === 0 ? null : Math.round((done / entries.length) * 100);
      return [{ type: 'progress', operationId: 'plan', description, progressPct }];
    },
  };

  /** Files in the project that a call changed, as it says. Two agents that write the same one are in conflict. */
  function changedFiles({ kind, tool, locations = [], diffs = [], input }: z.infer<typeof kinded>): readonly EventOf[] {
    if (kind !== 'edit' && kind !== 'delete' && kind !== 'move' && tool !== 'write_file' && tool !== 'edit_file')
      return [];
    const own = isJsonObject(input as Json) ? (input as JsonObject).path : undefined;
    const named = [...diffs, ...locations].map(one => one.path);
    const all = named.length > 0 ? named : typeof own === 'string' ? [own] : [];
    return [...new Set(all)].flatMap((given): EventOf[] => {
      const file = projectPath.safeParse(path.relative(place.project, path.resolve(place.directory, given)));
      if (!file.success) return [];
      const artifactId = deriveId<ArtifactId>('fleet-file', place.agent, file.data);
      artifacts.add(artifactId);
      const at = place.now();
      return [
        {
          type: 'artifact',
          artifactId,
          name: path.basename(file.data),
          kind: kindOfFile(file.data),
          workstream: place.workstream,
          status: 'draft',
          qualityScore: 0,
          provenance: { createdBy: place.agent, createdAt: at, sourcePath: file.data },
        },
      ];
    });
  }

  return {
    kept(given) {
      const read = entry.safeParse(given);
      return read.success ? (of[read.data.kind] as (one: unknown) => readonly EventOf[])(read.data) : [];
    },
    streamed(kind, payload) {
      if (kind === 'tool_start') {
        const read = kinded.safeParse(payload);
        if (!read.success) return [];
        const { call: id, tool, input } = read.data;
        running.set(id, read.data);
        return [{ ...callOf(id, tool, input), phase: 'running', approved: true }];
      }
      if (kind !== 'tool_end') return [];
      // Every other end is kept, too.
      const canceled = z.looseObject({ ...call, outcome: z.literal('canceled') }).safeParse(payload);
      if (!canceled.success) return [];
      const { call: id, tool } = canceled.data;
      const input = running.get(id)?.input;
      running.delete(id);
      return [{ ...callOf(id, tool, input), phase: 'failed', output: 'canceled', approved: true }];
    },
    spent({ call: id, provider, model, inputTokens, outputTokens, cachedTokens, toolCalls, costMicroUsd, wallMs }) {
      const counts = { inputTokens, outputTokens, cachedTokens, toolCalls, costMicroUsd, wallMs };
      const known = Object.entries(counts).flatMap(([name, value]) =>
        typeof value === 'number' && value >= 0 ? [[name, Math.round(value)] as const] : [],
      );
      return [{ type: 'usage', call: cut(id, 256), provider, model, ...Object.fromEntries(known) } as EventOf];
    },
    raw(eventType, payload) {
      const read = jsonObject.safeParse(payload);
      const given = read.success && size(read.data) <= MAX_INPUT ? read.data : {};
      return [{ type: 'raw_provider', providerName: place.pluginName, eventType: cut(eventType, 256), payload: given }];
    },
    ended(outcome) {
      if (outcome.kind === 'blocked') return [];
      const artifactsProduced = [...artifacts];
      if (outcome.kind === 'done') {
        const { output } = outcome;
        const text = typeof output === 'string' ? output : JSON.stringify(output);
        const summary = cutAtWord(text, MAX_TEXT);
        return [{ type: 'completion', summary, artifactsProduced, decisionsNeeded: [], outcome: 'success' }];
      }
      const { class: of_, code, message } = outcome.error;
      const recoverable = of_ === 'retryable';
      const fault: EventOf = {
        type: 'error',
        severity: 'high',
        message: cutAtWord(message, MAX_TEXT) || code,
        recoverable,
        errorCode: cut(code, 256),
        category: 'provider',
      };
      return [fault];
    },
    vendorSession: () => vendorSession,
    artifacts: () => [...artifacts],
  };
}

function callOf(id: string, tool: string, input: unknown) {
  const read = jsonObject.safeParse(input);
  const fits = read.success && size(read.data) <= MAX_INPUT;
  return {
    type: 'tool_call' as const,
    toolCallId: cut(id, 256),
    toolName: cut(tool, 256) || 'other',
    input: fits ? read.data : {},
  };
}

function shown(value: unknown): Json {
  if (typeof value === 'string') return cutAtWord(value, MAX_TEXT);
  return size(value) <= MAX_INPUT
    ? (value as Json)
    : `${size(value)} characters of output, which are in its transcript`;
}

function kindOfFile(file: string): ArtifactKind {
  if (/\.(test|spec)\.[a-z]+$/.test(file)) return 'test';
  if (/\.(md|txt|rst|adoc)$/i.test(file)) return 'document';
  return /\.(json|ya?ml|toml|ini|cfg|conf|env)$/i.test(file) ? 'config' : 'code';
}

const cut = (given: string, most: number) => given.slice(0, most).toWellFormed();

function size(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}
