import type { AgentId, ApprovalId, Json, Resolution } from '@signalbox/model';
import { resolution as storedResolution } from '@signalbox/model';
import type { AgentQuestion, AgentSession } from '@signalbox/runs';
import * as z from 'zod';
import type { Machine } from '../machine.ts';
import { answerOf, askedDecision, decisionIdOfCall } from './asked-decision.ts';
import type { EventSender } from './event-sender.ts';
import type { WorkEvents } from './work-events.ts';

const ANSWER = 'fleet_answer';
const keptAnswer = z.strictObject({
  v: z.literal(1),
  kind: z.literal(ANSWER),
  decision: z.string(),
  resolution: storedResolution,
});

export interface OwnSessionPorts {
  readonly agent: AgentId;
  readonly signal: AbortSignal;
  readonly timers: Machine['timers'];
  readonly sender: Pick<EventSender, 'send'>;
  readonly events: WorkEvents;
  /** Entries that earlier lives kept. */
  readonly before: readonly Json[];
  /** Stores entries, and returns them without secrets. */
  readonly store: (entries: readonly Json[]) => readonly Json[];
  /** The agent told the name of its vendor's session. */
  readonly opened: () => void;
}

/**
 * What an agent of the fleet has of it: its questions are decisions of the fleet, its transcript is its own.
 *
 * 1. What it keeps is stored before it is told.
 * 2. An answer that arrived is stored before it counts as delivered: the next life does not ask again.
 */
export function openOwnSession(ports: OwnSessionPorts) {
  const { agent, signal, timers, sender, events, store } = ports;
  const messages: Json[] = [];
  const answers = new Map<ApprovalId, Resolution>();
  /** Asked and not answered yet. */
  const open = new Map<ApprovalId, PromiseWithResolvers<void>>();
  let came = Promise.withResolvers<void>();
  for (const entry of ports.before) {
    const answer = keptAnswer.safeParse(entry);
    if (answer.success) answers.set(answer.data.decision as ApprovalId, answer.data.resolution);
    else messages.push(entry);
  }

  /** The answer if it is there. A question is told each time it is asked: the fleet knows it by its id. */
  function ask(question: AgentQuestion): Resolution | undefined {
    const id = decisionIdOfCall(agent, question.call);
    const known = answers.get(id);
    if (known !== undefined) return answerOf(question, known);
    const event = askedDecision(agent, question);
    if (event === undefined) return CANNOT_ASK;
    if (!open.has(id)) open.set(id, Promise.withResolvers());
    sender.send(event);
    return undefined;
  }

  const session: AgentSession = {
    signal,
    transcript: async () => messages,
    async keep(given) {
      const kept = store(given);
      messages.push(...kept);
      const vendorSession = events.vendorSession();
      for (const entry of kept) for (const event of events.kept(entry)) sender.send(event);
      if (events.vendorSession() !== vendorSession) ports.opened();
      return kept;
    },
    stream(kind, payload) {
      for (const event of events.streamed(kind, payload)) sender.send(event);
    },
    vendor(eventType, payload) {
      for (const event of events.raw(eventType, payload)) sender.send(event);
    },
    admit: async () => ({ kind: 'go', release() {} }),
    async spend(usage) {
      for (const event of events.spent(usage)) sender.send(event);
    },
    decide: async question => ask(question),
    async answered(question, ms) {
      const known = ask(question);
      const waiting = open.get(decisionIdOfCall(agent, question.call));
      if (known !== undefined || waiting === undefined) return known;
      const late = Promise.withResolvers<void>();
      const cancel = timers.after(ms, late.resolve);
      signal.addEventListener('abort', () => late.resolve(), { once: true });
      if (signal.aborted) late.resolve();
      await Promise.race([waiting.promise, late.promise]);
      cancel();
      const answer = answers.get(decisionIdOfCall(agent, question.call));
      return answer && answerOf(question, answer);
    },
  };

  return {
    session,
    openDecisions: (): readonly ApprovalId[] => [...open.keys()],
    /** Resolves when an answer or a message came since this was asked. */
    news: () => came.promise,
    /** False if it was answered before. */
    answer(decision: ApprovalId, resolution: Resolution): boolean {
      if (answers.has(decision)) return false;
      store([{ v: 1, kind: ANSWER, decision, resolution } as unknown as Json]);
      answers.set(decision, resolution);
      open.get(decision)?.resolve();
      open.delete(decision);
      came.resolve();
      came = Promise.withResolvers();
      return true;
    },
    /** A message that the agent reads before its next prompt. */
    tell(id: string, text: string, by: string): void {
      messages.push(...store([{ v: 1, kind: 'person', id, text, by }]));
    },
  };
}

export type OwnSession = ReturnType<typeof openOwnSession>;

const CANNOT_ASK: Resolution = {
  resolutionType: 'reject',
  rationale: 'A question that asks for values cannot be put to a person here. Ask with options instead.',
  actionKind: 'review',
};
