import {
  Bug,
  createSecretStream,
  type Json,
  type SecretFilter,
  type SecretStream,
  timestampOf,
} from '@signalbox/model';
import type { TaskProgress } from '@signalbox/plan';
import type {
  AgentMessage,
  AgentQuestion,
  AgentSession,
  Assignment,
  CallAdmission,
  CallEstimate,
  CallLog,
  CallOfModel,
  Commit,
  ModelName,
  OwnToolPort,
  RunReader,
  StopVerdict,
  StreamChunk,
  UsageRecord,
  WriteSet,
} from '@signalbox/runs';
import type { DecisionDesk } from '../decisions/decision-desk.ts';
import { askAboutLimit } from '../decisions/limit-decisions.ts';
import { draftEvent } from '../host/run-events.ts';
import type { Machine } from '../machine.ts';
import type { Reserved } from '../meter/reservations.ts';
import type { createActivity } from './host-activity.ts';
import { phaseOfNode } from './phase-of-node.ts';
import type { RateLimitDesk } from './rate-limit-desk.ts';
import { transcriptEvents } from './transcript-events.ts';

/** How often what an agent says is kept (T6). All agents keep it at the same times, so that their commits share transactions. */
const STREAM_MS = 100;
const PAGE = 500;
const CANCELED = 'the work was canceled';

function untilBeat(now: number): number {
  return STREAM_MS - (now % STREAM_MS);
}

export interface SessionPorts {
  readonly commit: Commit;
  readonly reader: RunReader;
  readonly machine: Machine;
  readonly decisions: DecisionDesk;
  readonly rateLimits: RateLimitDesk;
  /** Asked before a call, and after every spending. */
  readonly verdict: () => Promise<StopVerdict>;
  /** Reserves what a call may spend; undefined if the signal came first. */
  readonly room: (wanted: CallEstimate, signal: AbortSignal) => Promise<Reserved | undefined>;
  /** Told of what calls spent that were made here. */
  readonly activity: Pick<ReturnType<typeof createActivity>, 'tell'>;
  /** Told of every tool that the agent begins to use. */
  readonly progress: (progress: TaskProgress) => void;
  /** Takes secrets out of what the agent says and keeps. */
  readonly secrets?: SecretFilter | undefined;
  /** Calls the tools that the plan brings along. */
  readonly own?: OwnToolPort | undefined;
}

/** What one attempt of an agent has of its run. `close` keeps what is left of the stream. */
export async function openAgentSession(
  ports: SessionPorts,
  assignment: Assignment,
  signal: AbortSignal,
): Promise<AgentSession & { close(): Promise<void>; told(message: AgentMessage): Promise<void> }> {
  const { commit, reader, machine, decisions, rateLimits, secrets } = ports;
  const { run, task, node, iteration } = assignment;
  const { messages, facts, nextIndex } = await readStream(reader, assignment);
  const told = transcriptEvents(assignment, facts);
  let next = nextIndex;
  let pending: { readonly kind: StreamChunk['kind']; payload: Json }[] = [];
  let lastFlush: Promise<unknown> = Promise.resolve();
  let cancelFlush: (() => void) | undefined;
  /** The text so far, without an end that may be the start of a secret. */
  let saying: { readonly kind: StreamChunk['kind']; readonly stream: SecretStream } | undefined;
  /** Calls whose spending is not known yet. What is spent without one was told by an attempt before. */
  let calling = 0;

  const write = async (writes: Omit<WriteSet, 'at'>): Promise<void> => {
    const written = await commit.commit({ at: timestampOf(machine.clock), ...writes }, { run, version: 'any' });
    if (!written.ok) throw new SessionFault(written.error.message);
  };
  const say = (kind: StreamChunk['kind'], payload: Json) => {
    if (payload === '') return;
    const last = pending.at(-1);
    if (last?.kind === kind && typeof last.payload === 'string' && typeof payload === 'string') last.payload += payload;
    else pending.push({ kind, payload });
  };
  const endSaying = () => {
    if (saying !== undefined) say(saying.kind, saying.stream.end());
    saying = undefined;
  };
  const takeChunks = (): readonly StreamChunk[] => {
    cancelFlush?.();
    cancelFlush = undefined;
    const at = timestampOf(machine.clock);
    const chunks = pending.map(({ kind, payload }, offset) => ({ task, index: next + offset, kind, payload, at }));
    next += chunks.length;
    pending = [];
    return chunks;
  };
  /** One at a time, so that it is known which events were told when the next ones are made. Ends with what is to be kept. */
  const flush = (kept: readonly Json[] = []): Promise<void> => {
    const flushed = lastFlush.then(async () => {
      pending.push(...kept.map(payload => ({ kind: 'message' as const, payload })));
      const stream = takeChunks();
      if (stream.length === 0) return;
      const { events, settle } = told.of(stream);
      try {
        await write({ stream, ...(events.length > 0 && { events }) });
      } catch (thrown) {
        // Calls are facts, unlike the text of a message, and are tried again. What was to be kept is the caller's.
        pending = [...stream.filter(({ kind }) => kind === 'tool_start' || kind === 'tool_end'), ...pending];
        throw thrown;
      }
      settle();
    });
    lastFlush = flushed.catch(() => undefined);
    return flushed;
  };

  const ofTask = <Call extends CallOfModel>({ subagent, ...call }: Call) => ({
    ...call,
    ...(subagent !== undefined && { subagent }),
    ...{ call: `${task}/${call.call}`, node, task },
  });

  async function spentNow(usage: UsageRecord): Promise<void> {
    if (calling > 0) {
      calling--;
      ports.activity.tell({ kind: 'spent', usage, phase: await phaseOfNode(reader, run, node) });
    }
    await ports.verdict();
  }

  const calls: CallLog = {
    async began({ costMicroUsd, ...call }) {
      const cost = costMicroUsd === undefined ? {} : { costMicroUsd };
      await write({ events: [draftEvent(machine, 'model.called', { ...ofTask(call), ...cost })] });
    },
    async ended({ status, request, answer, ...call }, spent) {
      const kept = { ...(request && { request }), ...(answer && { answer }) };
      const of = { ...ofTask(call), ...(status !== undefined && { status }), ...kept };
      const told = { ...of, unknown: [...call.unknown] };
      if (spent === undefined) return write({ events: [draftEvent(machine, 'model.answered', told)] });
      const { inputTokens, outputTokens, cachedTokens, costMicroUsd } = spent;
      const amounts = { inputTokens, outputTokens, cachedTokens, costMicroUsd };
      const ended = draftEvent(machine, 'model.answered', { ...told, spent: amounts });
      const usage: UsageRecord = { ...spent, call: of.call, node, task, at: timestampOf(machine.clock) };
      await write({
        usage: [usage],
        events: [draftEvent(machine, 'usage.recorded', { call: usage.call, node, task }), ended],
      });
      await spentNow(usage);
    },
    refused: call => write({ events: [draftEvent(machine, 'model.refused', ofTask(call))] }),
  };

  const asked = (question: AgentQuestion) => ({ run, node, iteration, ...question });

  async function stopped(verdict: Extract<StopVerdict, { readonly kind: 'stop' }>): Promise<CallAdmission> {
    const waits = await askAboutLimit(decisions, verdict);
    return { kind: 'stop', reason: verdict.reason, ...(waits && { waits: waits.reason }) };
  }

  return {
    own: ports.own,
    signal,
    transcript: async () => messages,
    async keep(given) {
      const added = secrets?.data(given) ?? given;
      endSaying();
      await flush(added);
      messages.push(...added);
      return added;
    },
    stream(kind, payload) {
      if (kind === 'tool_start') ports.progress({ summary: toolName(payload) });
      if (saying?.kind !== kind) endSaying();
      if (typeof payload === 'string' && secrets !== undefined) {
        saying ??= { kind, stream: createSecretStream(secrets) };
        say(kind, saying.stream.push(payload));
      } else say(kind, payload);
      // What cannot be kept of the stream is lost; the transcript is what counts.
      cancelFlush ??= machine.timers.after(untilBeat(machine.clock.now()), () => void flush().catch(() => undefined));
    },
    async admit(model, estimate) {
      // A call with an estimate is checked as room is made for it; before, only if it would wait for its model.
      const verdict =
        estimate === undefined || rateLimits.closedFor(model) > 0 ? await ports.verdict() : ({ kind: 'go' } as const);
      if (verdict.kind === 'stop') return stopped(verdict);
      const leave = await rateLimits.enter(model, signal);
      if (leave === undefined && !signal.aborted) throw new HeldBack(model, rateLimits.closedFor(model));
      if (leave === undefined) return { kind: 'stop', reason: CANCELED };
      if (estimate === undefined) {
        calling++;
        return { kind: 'go', left: verdict.left, release: leave };
      }
      const room = await ports.room(estimate, signal).catch(thrown => {
        leave();
        throw thrown;
      });
      if (room?.kind !== 'go') {
        leave();
        if (room === undefined) return { kind: 'stop', reason: CANCELED };
        // The plan is told too, so that nothing else begins.
        await ports.verdict();
        return stopped(room);
      }
      calling++;
      return {
        kind: 'go',
        left: room.left,
        release(report) {
          room.release();
          leave(report);
        },
      };
    },
    async spend(spent) {
      const usage: UsageRecord = {
        ...spent,
        call: `${task}/${spent.call}`,
        node,
        task,
        at: timestampOf(machine.clock),
      };
      await write({
        usage: [usage],
        events: [draftEvent(machine, 'usage.recorded', { call: usage.call, node, task })],
      });
      await spentNow(usage);
    },
    calls,
    decide: question => decisions.ask(asked(question)),
    async answered(question, ms) {
      const settled = Promise.withResolvers<void>();
      const stop = [
        decisions.onSettled(asked(question), settled.resolve),
        machine.timers.after(ms, settled.resolve),
        onAbort(signal, settled.resolve),
      ];
      try {
        const known = await decisions.ask(asked(question));
        if (known !== undefined) return known;
        await settled.promise;
        return signal.aborted ? undefined : await decisions.ask(asked(question));
      } finally {
        for (const each of stop) each();
      }
    },
    async told(message) {
      // What the agent is saying goes on after it.
      const entry: Json = { ...message };
      await flush([entry]);
      messages.push(entry);
    },
    close() {
      endSaying();
      return flush();
    },
  };
}

function onAbort(signal: AbortSignal, aborted: () => void): () => void {
  signal.addEventListener('abort', aborted, { once: true });
  if (signal.aborted) aborted();
  return () => signal.removeEventListener('abort', aborted);
}

/** The process ends while the work waits for a model. */
export class HeldBack extends Error {
  override readonly name = 'HeldBack';
  readonly retryAfterMs: number;
  constructor({ provider, model }: ModelName, retryAfterMs: number) {
    super(`The process ended while this waited for ${provider}:${model}.`);
    this.retryAfterMs = Math.ceil(retryAfterMs);
  }
}

/** Nothing more can be kept of the work: it cannot go on. */
export class SessionFault extends Error {
  override readonly name = 'SessionFault';
}

async function readStream(reader: RunReader, { run, task }: Assignment) {
  const messages: Json[] = [];
  const facts: StreamChunk[] = [];
  let nextIndex = 0;
  for (;;) {
    const page = await reader.stream(run, task, nextIndex, PAGE);
    for (const chunk of page) {
      if (chunk.index < nextIndex) throw new Bug(`the stream of task ${task} is out of order`);
      if (chunk.kind === 'message') messages.push(chunk.payload);
      if (chunk.kind !== 'token' && chunk.kind !== 'thinking') facts.push(chunk);
      nextIndex = chunk.index + 1;
    }
    if (page.length < PAGE) return { messages, facts, nextIndex };
  }
}

function toolName(payload: Json): string {
  const { tool } = payload as { readonly tool?: unknown };
  return typeof tool === 'string' ? tool : 'a tool';
}
