import { createHash } from 'node:crypto';
import type { AnyEvent } from '@signalbox/runs';

/** An attribute as OTLP/JSON has it. Numbers of 64 bits are texts there. */
interface OtlpAttribute {
  readonly key: string;
  readonly value:
    | { readonly stringValue: string }
    | { readonly intValue: string }
    | { readonly doubleValue: number }
    | { readonly boolValue: boolean };
}

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 1: internal, 3: client. */
  readonly kind: 1 | 3;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  /** 0: unset, 2: error. */
  readonly status: { readonly code: 0 | 2; readonly message?: string };
}

/** One call of a model that has ended, for metrics. */
export interface CallMeasure {
  readonly attributes: readonly OtlpAttribute[];
  readonly seconds: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

type Values = Readonly<Record<string, string | number | boolean | undefined>>;

export function attributesOf(values: Values): readonly OtlpAttribute[] {
  return Object.entries(values).flatMap(([key, value]): readonly OtlpAttribute[] => {
    if (value === undefined) return [];
    if (typeof value === 'string') return [{ key, value: { stringValue: value } }];
    if (typeof value === 'boolean') return [{ key, value: { boolValue: value } }];
    return [{ key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } }];
  });
}

interface OpenSpan {
  readonly name: string;
  readonly kind: OtlpSpan['kind'];
  readonly parent?: string;
  readonly startedAt: string;
  readonly values: Values;
}

/** Spans that are open at once, over all runs; older ones are forgotten. */
const MOST_OPEN = 10_000;

/**
 * Makes spans of events, by the `gen_ai` conventions of OpenTelemetry 1.45.0.
 *
 * 1. A run is a trace, named by its id; a span is named by what it is about, so that telling an event again makes the same span.
 * 2. A span is made when it ends. What began before this process listened has no span.
 * 3. No text that an agent, a model or a person wrote is in a span: only names, ids, counts and outcomes.
 */
export function createSpans(ended: { span(span: OtlpSpan): void; call(measure: CallMeasure): void }) {
  const open = new Map<string, OpenSpan>();

  function begin(key: string, span: OpenSpan): void {
    open.set(key, span);
    const oldest = open.size > MOST_OPEN ? open.keys().next().value : undefined;
    if (oldest !== undefined) open.delete(oldest);
  }

  function end(event: AnyEvent, key: string, values: Values, error?: string): OpenSpan | undefined {
    const span = open.get(key);
    if (span === undefined) return undefined;
    open.delete(key);
    const ids = { 'signalbox.run.id': event.runId, 'signalbox.event.id': event.id, 'signalbox.event.seq': event.seq };
    ended.span({
      traceId: event.runId.replaceAll('-', ''),
      spanId: spanId(key),
      ...(span.parent !== undefined && { parentSpanId: spanId(span.parent) }),
      name: span.name,
      kind: span.kind,
      startTimeUnixNano: nanos(span.startedAt),
      endTimeUnixNano: nanos(event.ts),
      attributes: attributesOf({ ...span.values, ...values, ...ids, 'error.type': error }),
      status: error === undefined ? { code: 0 } : { code: 2 },
    });
    return span;
  }

  return {
    /** Takes the next event of a run. */
    take(event: AnyEvent): void {
      const run = `run ${event.runId}`;
      switch (event.type) {
        case 'run.created':
          begin(run, {
            ...{ name: `invoke_workflow ${event.name}`, kind: 1, startedAt: event.ts },
            values: { 'gen_ai.operation.name': 'invoke_workflow', 'gen_ai.workflow.name': event.name },
          });
          return;
        case 'run.status':
          if (['completed', 'failed', 'stopped'].includes(event.to))
            end(
              event,
              run,
              { 'signalbox.run.status': event.to },
              event.to === 'failed' ? (event.error?.code ?? 'failed') : undefined,
            );
          return;
        case 'task.started':
          begin(`task ${event.task}`, {
            ...{ name: `invoke_agent ${event.node}`, kind: 1, parent: run, startedAt: event.ts },
            values: {
              'gen_ai.operation.name': 'invoke_agent',
              'gen_ai.agent.id': event.task,
              'gen_ai.agent.name': event.node,
              'signalbox.node.id': event.node,
              'signalbox.attempt': event.attempt,
            },
          });
          return;
        case 'task.ended':
          end(event, `task ${event.task}`, { 'signalbox.outcome': event.outcome }, event.error?.code);
          return;
        case 'call.began':
          begin(`tool ${event.call}`, {
            ...{ name: `execute_tool ${event.tool}`, kind: 1, parent: `task ${event.task}`, startedAt: event.ts },
            values: {
              'gen_ai.operation.name': 'execute_tool',
              'gen_ai.tool.name': event.tool,
              'gen_ai.tool.call.id': event.call,
              'signalbox.node.id': event.node,
            },
          });
          return;
        case 'call.ended':
          end(event, `tool ${event.call}`, {}, event.outcome === 'succeeded' ? undefined : event.outcome);
          return;
        case 'model.called':
          begin(`model ${event.call}`, {
            ...{ name: `chat ${event.model}`, kind: 3, parent: `task ${event.task}`, startedAt: event.ts },
            values: {
              'gen_ai.operation.name': 'chat',
              'gen_ai.provider.name': providerName(event.provider),
              'gen_ai.request.model': event.model,
              'signalbox.node.id': event.node,
              'signalbox.call.id': event.call,
            },
          });
          return;
        case 'model.answered': {
          const error = event.outcome === 'answered' ? undefined : String(event.status ?? event.outcome);
          const { inputTokens, outputTokens, cachedTokens } = event.spent ?? {};
          const span = end(
            event,
            `model ${event.call}`,
            {
              'gen_ai.usage.input_tokens': inputTokens,
              'gen_ai.usage.output_tokens': outputTokens,
              'gen_ai.usage.cache_read.input_tokens': cachedTokens,
              'http.response.status_code': event.status,
            },
            error,
          );
          if (span === undefined) return;
          ended.call({
            attributes: attributesOf({
              'gen_ai.operation.name': 'chat',
              'gen_ai.provider.name': providerName(event.provider),
              'gen_ai.request.model': event.model,
              'error.type': error,
            }),
            seconds: Math.max(0, (Date.parse(event.ts) - Date.parse(span.startedAt)) / 1_000),
            ...(inputTokens !== undefined && { inputTokens }),
            ...(outputTokens !== undefined && { outputTokens }),
          });
          return;
        }
        default:
          return;
      }
    },
  };
}

/** The conventions' own names of providers. */
function providerName(provider: string): string {
  return provider === 'google' ? 'gcp.gemini' : provider;
}

function spanId(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 16);
}

function nanos(time: string): string {
  return `${Date.parse(time)}000000`;
}
