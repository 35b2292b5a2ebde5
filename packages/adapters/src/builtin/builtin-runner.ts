import { Bug, type Clock, type IdSource, type Result } from '@signalbox/model';
import {
  type AgentOutcome,
  type AgentRunner,
  type AgentSession,
  type Assignment,
  type CallReport,
  type TaskError,
  unheardMessages,
} from '@signalbox/runs';
import { type AnyTool, isAllowed, machineTimers, type Timers } from '@signalbox/state';
import type { AgentTools } from '../attempt/agent-tools.ts';
import { plainData } from '../attempt/plain-data.ts';
import { createRedactor } from '../attempt/redaction.ts';
import { canceledFailure, failed, reportOf, taskFailure } from '../attempt/task-failure.ts';
import { usageOf } from './call-usage.ts';
import { type AnswerForm, answerFormOf } from './final-answer.ts';
import { callModel } from './model-call.ts';
import { type ModelRequest, modelRequest } from './model-request.ts';
import type { ModelOf, ResolvedModel } from './model-source.ts';
import { nextStep } from './next-step.ts';
import { callEstimate, outputLimit } from './output-limit.ts';
import { LIST_PRICES, type Prices, priceOf } from './prices.ts';
import { promptOf } from './prompt.ts';
import { startOf } from './resume.ts';
import { estimateTokens } from './token-estimate.ts';
import { runCalls } from './tool-turn.ts';
import {
  type CallUsage,
  type Conversation,
  lastConversation,
  readTranscript,
  type TranscriptEntry,
  tokensUsed,
} from './transcript.ts';

export interface BuiltinRunnerOptions {
  readonly modelOf: ModelOf;
  readonly toolsFor: (assignment: Assignment, session: AgentSession) => Promise<Result<AgentTools, TaskError>>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly timers?: Timers;
  /** Takes precedence over the built-in price list. */
  readonly prices?: Prices;
  /** Whether the work has a cost limit: then a model without a known price is refused. */
  readonly costLimited?: (assignment: Assignment) => boolean;
  /** A model call is abandoned after this much silence. */
  readonly stallMs?: number;
}

const DEFAULT_STALL_MS = 300_000;

/**
 * Signalbox's built-in agent: our own loop around the providers' packages.
 *
 * 1. The next step follows from the transcript alone, so an attempt resumes where the last one was cut off.
 * 2. A model's answer is stored before anything it asks for is done.
 * 3. Nothing is retried here: retries belong to the task, and are durable.
 */
export function createBuiltinRunner(options: BuiltinRunnerOptions): AgentRunner {
  return {
    async run(assignment, session) {
      const resolved = await options.modelOf(assignment);
      if (!resolved.ok) return failed(resolved.error);
      const redact = createRedactor(resolved.value.secrets);
      try {
        const outcome = await attempt(assignment, session, resolved.value, options);
        if (outcome.kind !== 'failed') return outcome;
        return failed({ ...outcome.error, message: redact.text(outcome.error.message) });
      } catch (thrown) {
        // A wait for an admission or a commit may end with a throw.
        if (session.signal.aborted && !(thrown instanceof Bug)) return failed(canceledFailure());
        throw thrown;
      }
    },
  };
}

async function attempt(
  given: Assignment,
  session: AgentSession,
  resolved: ResolvedModel,
  options: BuiltinRunnerOptions,
): Promise<AgentOutcome> {
  const { clock, timers = machineTimers, stallMs = DEFAULT_STALL_MS } = options;
  let assignment = given;
  const redact = createRedactor(resolved.secrets);
  const price = priceOf(resolved.name, options.prices ?? {}) ?? priceOf(resolved.name, LIST_PRICES);
  const model = `${resolved.name.provider}:${resolved.name.model}`;
  if (price === undefined && options.costLimited?.(assignment) === true) return failed(priceUnknown(assignment, model));

  const read = readTranscript(await session.transcript());
  if (!read.ok) return failed(read.error);
  const entries = [...read.value];
  const keep = async (entry: TranscriptEntry) => {
    const kept = await session.keep([redact.data(plainData(entry))]);
    // Redaction changes texts only, so an entry stays one.
    entries.push(...(kept as unknown as readonly TranscriptEntry[]));
  };
  /** Takes what people wrote to the agent into the conversation; false if there is nothing new. */
  const hear = async (): Promise<boolean> => {
    const unheard = unheardMessages(await session.transcript());
    if (unheard !== undefined) await keep(unheard);
    return unheard !== undefined;
  };
  const conversation = (): Conversation => {
    const found = lastConversation(entries, assignment.task);
    if (found === undefined) throw new Bug(`the transcript of task ${assignment.task} has no beginning`);
    return found;
  };

  // The cost of the last answer may not have been reported before the attempt was cut off. Reported twice, it counts once.
  await spendLastAnswer();
  const start = startOf(entries, assignment);
  if (start.kind === 'refuse') return failed(start.error);
  if (start.kind === 'begin') {
    const { note } = start;
    await keep({ v: 1, kind: 'begun', model, priceKnown: price !== undefined, ...(note && { note }) });
  }

  const opened = await options.toolsFor(assignment, session);
  if (!opened.ok) return failed(opened.error);
  const tools = opened.value;
  const { allow } = assignment.tools ?? {};
  if (allow !== undefined && tools.always !== undefined)
    assignment = { ...assignment, tools: { ...assignment.tools, allow: [...allow, ...tools.always] } };
  try {
    const offered = tools.tools.filter(tool => isAllowed(tool.name, assignment.tools));
    const form = answerFormOf(
      assignment.schema,
      offered.map(tool => tool.name),
    );
    if (!form.ok) return failed(form.error);
    return await loop(offered, form.value);
  } finally {
    await tools.close();
  }

  async function loop(offered: readonly AnyTool[], form: AnswerForm): Promise<AgentOutcome> {
    const request = modelRequest(assignment, offered, form);
    for (;;) {
      if (session.signal.aborted) return failed(canceledFailure());
      const known = nextStep(conversation(), tokensUsed(entries), assignment, form);
      const mayHear = known.kind === 'ask-model' || known.kind === 'done';
      const step = mayHear && (await hear()) ? nextStep(conversation(), tokensUsed(entries), assignment, form) : known;
      switch (step.kind) {
        case 'done':
          return { kind: 'done', output: step.output };
        case 'fail':
          return failed(step.error);
        case 'correct':
          await keep({ v: 1, kind: 'correction', text: step.text });
          break;
        case 'run-calls': {
          const over = await runCalls(step.turn, {
            assignment,
            session,
            tools,
            form,
            now: () => clock.now(),
            keep: async entry => {
              // If people are still being waited for, there is nothing new to report.
              if (entry.kind !== 'waiting' || !conversation().waits) await keep(entry);
            },
            stream: (kind, payload) => session.stream(kind, redact.data(plainData(payload))),
          });
          if (over !== undefined) return over;
          break;
        }
        case 'ask-model': {
          const over = await askModel(request, form.kind === 'tool' ? form.tool.name : undefined);
          if (over !== undefined) return over;
          break;
        }
      }
    }
  }

  async function askModel(
    { system, ...request }: ModelRequest,
    answerTool: string | undefined,
  ): Promise<AgentOutcome | undefined> {
    const prompt = promptOf(conversation(), assignment, system);
    const sent = { ...request, prompt };
    const input = estimateTokens(sent);
    const admission = await session.admit(resolved.name, callEstimate(input, price));
    if (admission.kind === 'stop') {
      const { reason, waits } = admission;
      if (waits !== undefined) return { kind: 'blocked', reason: waits };
      return failed(taskFailure('budget-exceeded', `${reason} Raise the limit of the run to go on.`));
    }
    const maxOutputTokens = outputLimit(admission.left, input, price);
    const startedAt = clock.now();
    let report: CallReport | undefined;
    try {
      const answer = await callModel(
        resolved,
        { ...sent, ...(maxOutputTokens !== undefined && { maxOutputTokens }) },
        {
          signal: session.signal,
          timers,
          stallMs,
          now: () => clock.now(),
          said: (kind, text) => session.stream(kind, redact.text(text.toWellFormed())),
        },
      );
      const wallMs = Math.max(0, Math.round(clock.now() - startedAt));
      if (!answer.ok) {
        const { error, retryAfterMs, usage, content, windows } = answer.error;
        const said = reportOf({ ...error, message: redact.text(error.message) }, retryAfterMs);
        if (said !== undefined) report = { ...said, windows };
        const hasSpent = usage !== undefined || content.length > 0;
        if (hasSpent) {
          const spent = usageOf(usage, { sent, content, price, wallMs, answerTool });
          await spend(`${assignment.task}/failed/${options.ids.mint()}`, { ...spent, toolCalls: 0 });
        }
        // The remaining budget cut it short, not the model: the limit decides whether there may be more.
        const isCutShort = maxOutputTokens !== undefined && error.code === 'answer-truncated';
        return isCutShort && hasSpent ? undefined : failed(error);
      }
      const { content, usage, windows } = answer.value;
      report = { kind: 'answered', windows };
      const spent = usageOf(usage, { sent, content, price, wallMs, answerTool });
      await keep({ v: 1, kind: 'assistant', content: [...content], usage: spent });
      await spendLastAnswer();
    } finally {
      // Nothing that was spent may be missing both from what is reserved and from what is recorded.
      admission.release(report);
    }
    return undefined;
  }

  async function spendLastAnswer(): Promise<void> {
    const index = entries.findLastIndex(entry => entry.kind === 'assistant');
    const last = entries[index];
    if (last?.kind !== 'assistant') return;
    const number = entries.slice(0, index + 1).filter(entry => entry.kind === 'assistant').length;
    await spend(`${assignment.task}/${number}`, last.usage);
  }

  async function spend(call: string, { estimated: _, ...usage }: CallUsage): Promise<void> {
    await session.spend({ call, ...resolved.name, ...usage });
  }
}

function priceUnknown(assignment: Assignment, model: string): TaskError {
  return taskFailure(
    'price-unknown',
    `Node ${assignment.node} uses ${model}, of which no price is known, in a run that limits its cost. Give the price of the model, use another one, or limit tokens instead.`,
  );
}
