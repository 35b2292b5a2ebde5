import type {
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { cutAtWord, err, type JsonObject, jsonObject, ok, type Result } from '@signalbox/model';
import type { LimitWindow, TaskError } from '@signalbox/runs';
import type { Timers } from '@signalbox/state';
import { plainData } from '../attempt/plain-data.ts';
import { canceledFailure, taskFailure } from '../attempt/task-failure.ts';
import { callFailure, headersOf, retryAfterOf } from './call-failure.ts';
import { limitWindows } from './limit-windows.ts';
import type { ResolvedModel } from './model-source.ts';
import type { AssistantPart, CallPart } from './transcript.ts';

/** The result of one request to a model. */
export interface ModelAnswer {
  readonly content: readonly AssistantPart[];
  readonly usage: LanguageModelV4Usage | undefined;
  /** The provider's reported limits. */
  readonly windows: readonly LimitWindow[];
}

export interface CallRefusal {
  readonly error: TaskError;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number;
  /** What it cost anyway, if reported. */
  readonly usage?: LanguageModelV4Usage;
  readonly content: readonly AssistantPart[];
  readonly windows: readonly LimitWindow[];
}

export interface CallContext {
  readonly signal: AbortSignal;
  readonly timers: Timers;
  /** The call is abandoned after this much silence. */
  readonly stallMs: number;
  readonly now: () => number;
  readonly said: (kind: 'token' | 'thinking', text: string) => void;
}

/** How much of an invalid input is kept. */
const MAX_MALFORMED = 2_000;

/** One streamed request. Its only suspension point is the next part of the stream. */
export async function callModel(
  resolved: ResolvedModel,
  options: Omit<LanguageModelV4CallOptions, 'abortSignal'>,
  context: CallContext,
): Promise<Result<ModelAnswer, CallRefusal>> {
  const stop = new AbortController();
  const passOn = () => stop.abort(context.signal.reason);
  if (context.signal.aborted) passOn();
  context.signal.addEventListener('abort', passOn, { once: true });
  let stalled = false;
  const watch = () =>
    context.timers.after(context.stallMs, () => {
      stalled = true;
      stop.abort(new Error('the provider said nothing for too long'));
    });
  let unwatch = watch();
  const answer = createAnswerBuilder(context.said);
  let windows: readonly LimitWindow[] = [];
  const refused = (error: TaskError, cause?: unknown): Result<never, CallRefusal> => {
    const retryAfterMs = cause === undefined ? undefined : retryAfterOf(cause, context.now());
    return err({
      error: retryAfterMs === undefined ? error : { ...error, retryAfterMs },
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(answer.usage() && { usage: answer.usage() as LanguageModelV4Usage }),
      content: answer.content(),
      windows: cause === undefined ? windows : [...windows, ...limitWindows(headersOf(cause), context.now())],
    });
  };
  try {
    const { stream, response } = await untilAborted(
      resolved.model.doStream({
        ...options,
        abortSignal: stop.signal,
        ...(resolved.providerOptions && { providerOptions: resolved.providerOptions }),
      }),
      stop.signal,
    );
    windows = limitWindows(response?.headers ?? {}, context.now());
    const reader = stream.getReader();
    try {
      for (;;) {
        const { value, done } = await untilAborted(reader.read(), stop.signal);
        if (done) break;
        unwatch();
        unwatch = watch();
        if (value.type === 'error') throw new StreamFailure(value.error);
        answer.add(value);
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  } catch (thrown) {
    if (context.signal.aborted) return refused(canceledFailure());
    if (stalled) return refused(stalledFor(resolved, context.stallMs));
    const cause = thrown instanceof StreamFailure ? thrown.cause : thrown;
    return refused(callFailure(cause, resolved, { inStream: thrown instanceof StreamFailure }), cause);
  } finally {
    unwatch();
    context.signal.removeEventListener('abort', passOn);
  }
  const problem = unfinished(resolved, answer);
  return problem === undefined ? ok({ content: answer.content(), usage: answer.usage(), windows }) : refused(problem);
}

class StreamFailure extends Error {
  override readonly name = 'StreamFailure';
  constructor(cause: unknown) {
    super('the stream reported an error', { cause });
  }
}

/** Not every stream ends when aborted, but the wait for it does. */
function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).then(() => signal.removeEventListener('abort', abort));
  });
}

type AnswerBuilder = ReturnType<typeof createAnswerBuilder>;

/** Assembles the parts of a stream, each block at the position where it began. */
function createAnswerBuilder(said: CallContext['said']) {
  const blocks: { part: AssistantPart; id?: string }[] = [];
  let finish: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined;

  const open = (type: 'text' | 'reasoning', id: string) => {
    const found = blocks.findLast(block => block.id === id && block.part.type === type);
    if (found !== undefined) return found;
    const made = { id, part: { type, text: '' } satisfies AssistantPart };
    blocks.push(made);
    return made;
  };
  /** The last metadata of a block is what the provider wants back. */
  const grow = (
    type: 'text' | 'reasoning',
    part: { readonly id: string; readonly delta?: string; readonly providerMetadata?: SharedV4ProviderMetadata },
  ) => {
    const block = open(type, part.id);
    if (block.part.type === 'tool-call') return;
    const { delta = '' } = part;
    block.part = { ...block.part, text: block.part.text + delta, ...optionsOf(part.providerMetadata) };
    if (delta !== '') said(type === 'text' ? 'token' : 'thinking', delta);
  };

  return {
    add(part: LanguageModelV4StreamPart): void {
      switch (part.type) {
        case 'text-start':
        case 'text-delta':
        case 'text-end':
          grow('text', part);
          return;
        case 'reasoning-start':
        case 'reasoning-delta':
        case 'reasoning-end':
          grow('reasoning', part);
          return;
        case 'tool-call':
          if (part.providerExecuted !== true) blocks.push({ part: callPart(part) });
          return;
        case 'finish':
          finish = part;
          return;
        default:
          return;
      }
    },
    /** Empty blocks are dropped, unless a provider needs them back. */
    content: (): readonly AssistantPart[] =>
      blocks
        .map(block => wellFormed(block.part))
        .filter(
          part => part.type === 'tool-call' || part.text !== '' || (part.type === 'reasoning' && part.providerOptions),
        ),
    usage: () => finish?.usage,
    reason: () => finish?.finishReason.unified,
  };
}

function callPart(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): CallPart {
  const { toolCallId, toolName } = part;
  const common = { type: 'tool-call' as const, toolCallId, toolName, ...optionsOf(part.providerMetadata) };
  try {
    const input = jsonObject.safeParse(plainData(JSON.parse(part.input === '' ? '{}' : part.input)));
    if (input.success) return { ...common, input: input.data };
  } catch {
    // The model sees it as invalid input.
  }
  return { ...common, input: {}, malformed: cutAtWord(part.input, MAX_MALFORMED) };
}

function optionsOf(metadata: SharedV4ProviderMetadata | undefined): { providerOptions?: Record<string, JsonObject> } {
  return metadata === undefined ? {} : { providerOptions: plainData(metadata) as Record<string, JsonObject> };
}

function wellFormed(part: AssistantPart): AssistantPart {
  // Only texts change.
  return plainData(part) as unknown as AssistantPart;
}

/** Why a complete answer is not usable. */
function unfinished({ name }: ResolvedModel, answer: AnswerBuilder): TaskError | undefined {
  const model = `${name.provider}:${name.model}`;
  const content = answer.content();
  switch (answer.reason()) {
    case undefined:
    case 'interrupted':
      return taskFailure('answer-cut-off', `The answer of ${model} was cut off in the middle.`, { class: 'retryable' });
    case 'error':
      return taskFailure('provider-failed', `${model} broke off its answer.`, { class: 'retryable' });
    case 'length':
      return taskFailure(
        'answer-truncated',
        `The answer of ${model} is longer than the model can give. Ask for a shorter one, or for less at a time.`,
      );
    case 'content-filter':
      return taskFailure('answer-refused', `${model} or its provider's filter refused to answer. Change the prompt.`);
    default:
      if (content.some(part => part.type !== 'reasoning')) return undefined;
      return taskFailure('answer-empty', `${model} answered nothing.`, { class: 'retryable' });
  }
}

function stalledFor({ name }: ResolvedModel, ms: number): TaskError {
  return taskFailure('provider-stalled', `${name.provider}:${name.model} said nothing for ${ms} ms.`, {
    class: 'retryable',
  });
}
