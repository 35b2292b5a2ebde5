import type { Json, JsonObject } from '@signalbox/model';
import { isObject } from '../story/json-object.ts';
import type { ToolUse } from './tool-use.ts';

/** One attempt of an agent at a task: one process and one session of an agent of another vendor. */
export interface Attempt {
  readonly agent?: AgentFacts;
  readonly plan: readonly PlanStep[];
  readonly parts: readonly Part[];
  /** Its calls. A later attempt may make the same call again, under the same name. */
  readonly tools: ReadonlyMap<string, ToolUse>;
  /** How its turn ended. */
  readonly end?: { readonly status: string; readonly words: string | undefined };
}

/** What is known about an agent of another vendor. */
export interface AgentFacts {
  readonly title: string;
  readonly version: string | undefined;
  readonly from: string | undefined;
  /** The vendor's id of the session. */
  readonly session: string | undefined;
  /** How it is made to ask. */
  readonly asking: string | undefined;
  readonly onLayer: boolean;
}

export interface PlanStep {
  readonly text: string;
  readonly status: string;
}

export type Part =
  | { readonly kind: 'said' | 'thought' | 'prompt' | 'note'; readonly text: string }
  | { readonly kind: 'tool'; readonly call: string }
  /** A model's answer is complete. */
  | { readonly kind: 'turn'; readonly number: number; readonly usage: TurnUsage }
  /** A person's text for the agent. */
  | { readonly kind: 'person'; readonly text: string; readonly by: string; readonly isRead: boolean }
  | { readonly kind: 'changes'; readonly patch: string; readonly isApplied: boolean };

/** What a model's answer used; unknown amounts are absent. */
export interface TurnUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costMicroUsd?: number;
  readonly wallMs?: number;
}

interface Growing {
  agent?: AgentFacts;
  plan: readonly PlanStep[];
  parts: Part[];
  tools: Map<string, ToolUse>;
  /** Where the parts begin that no message has told yet. */
  mark: number;
  /** How many answers are complete. */
  turns: number;
  end?: Attempt['end'];
}

/**
 * Puts together what an agent said and did.
 *
 * 1. Text arrives twice: in pieces as it is said, and as a message once it is complete. The message counts; pieces that it does not
 *    contain yet stay after it.
 * 2. A call has its place where it was first heard of.
 */
export function createAttempts() {
  const all: Growing[] = [];
  const fresh = (): Growing => ({ plan: [], parts: [], tools: new Map(), mark: 0, turns: 0 });
  const current = (): Growing => {
    if (all.length === 0) all.push(fresh());
    return all[all.length - 1] as Growing;
  };

  return {
    all: (): readonly Attempt[] =>
      all.map(({ agent, plan, parts, tools, end }) => ({
        ...{ plan, parts, tools },
        ...(agent && { agent }),
        ...(end && { end }),
      })),

    begun(payload: JsonObject): void {
      const last = current();
      const isUsed = last.agent !== undefined || last.parts.length > 0 || last.end !== undefined;
      if (isUsed) all.push(fresh());
      const agent = agentIn(payload);
      if (agent !== undefined) current().agent = agent;
    },

    planned(entries: Json | undefined): void {
      if (Array.isArray(entries)) current().plan = entries.flatMap(stepOf);
    },

    said(kind: 'said' | 'thought', text: string): void {
      const { parts, mark } = current();
      const last = parts.at(-1);
      if (last?.kind === kind && parts.length > mark) parts[parts.length - 1] = { kind, text: last.text + text };
      else if (text !== '') parts.push({ kind, text });
    },

    told({ thought, said, usage }: Told): void {
      const attempt = current();
      const live = attempt.parts.splice(attempt.mark);
      const rest = (['thought', 'said'] as const).flatMap(kind => leftOf(live, kind, kind === 'said' ? said : thought));
      attempt.turns += 1;
      attempt.parts.push(
        ...partOf('thought', thought),
        ...partOf('said', said),
        ...(usage === undefined ? [] : [{ kind: 'turn' as const, number: attempt.turns, usage }]),
        ...live.filter(({ kind }) => kind !== 'said' && kind !== 'thought'),
      );
      attempt.mark = attempt.parts.length;
      attempt.parts.push(...rest);
    },

    /** How many answers of the current attempt are complete. */
    turns: () => current().turns,

    /** Whether the current attempt is the built-in agent's. */
    isOurs: () => current().agent === undefined,

    /** Whether this attempt has made the call. */
    has: (call: string): boolean => current().tools.has(call),

    called(use: ToolUse): void {
      const { tools, parts } = current();
      if (!tools.has(use.call)) parts.push({ kind: 'tool', call: use.call });
      tools.set(use.call, use);
    },

    add(part: Part): void {
      const attempt = current();
      const isSaying = attempt.parts.slice(attempt.mark).some(({ kind }) => kind === 'said' || kind === 'thought');
      attempt.parts.push(part);
      if (!isSaying) attempt.mark = attempt.parts.length;
    },

    ended(status: string | undefined, words: string | undefined): void {
      current().end = { status: status ?? 'unknown', words };
    },
  };
}

interface Told {
  readonly thought: string;
  readonly said: string;
  readonly usage?: TurnUsage | undefined;
}

function partOf(kind: 'said' | 'thought', text: string): readonly Part[] {
  return text.trim() === '' ? [] : [{ kind, text }];
}

/** The pieces of text that a message does not contain yet. */
function leftOf(live: readonly Part[], kind: 'said' | 'thought', told: string): readonly Part[] {
  const heard = live.flatMap(part => (part.kind === kind ? [part.text] : [])).join('');
  return heard.startsWith(told) ? partOf(kind, heard.slice(told.length)) : [];
}

function agentIn({ agent, session, asking, onLayer }: JsonObject): AgentFacts | undefined {
  if (!isObject(agent) || typeof agent.title !== 'string') return undefined;
  return {
    title: agent.title,
    version: textOf(agent.version),
    from: textOf(agent.from),
    session: textOf(session),
    asking: askingWords(asking),
    onLayer: onLayer === true,
  };
}

/** How an agent is made to ask, in words. */
function askingWords(asking: Json | undefined): string | undefined {
  if (!isObject(asking)) return undefined;
  switch (asking.kind) {
    case 'mode':
      return `by its mode “${textOf(asking.mode)}”`;
    case 'option':
      return `by its option ${textOf(asking.option)}: “${textOf(asking.value)}”`;
    case 'settings':
      return 'by our settings for it';
    default:
      return undefined;
  }
}

function stepOf(entry: Json): readonly PlanStep[] {
  if (!isObject(entry) || typeof entry.content !== 'string') return [];
  return [{ text: entry.content, status: textOf(entry.status) ?? 'pending' }];
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
