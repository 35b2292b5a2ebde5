import type { Timers } from '@signalbox/plan';
import { attributesOf, type CallMeasure, type OtlpSpan } from './spans.ts';

export interface OtlpOptions {
  /** Without a path: `/v1/traces` and `/v1/metrics` are put behind it. */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly version: string;
  readonly timers: Timers;
  readonly now: () => number;
  /** Told when a collector does not take what it is sent. */
  readonly onFault: (why: string) => void;
}

/** How often is sent, how much at once, and how much may wait. */
const EVERY_MS = 5_000;
const MOST_AT_ONCE = 512;
const MOST_WAITING = 10_000;
const TIMEOUT_MS = 10_000;

/** By the conventions: seconds of a call, and tokens. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

interface Histogram {
  readonly attributes: CallMeasure['attributes'];
  readonly counts: number[];
  count: number;
  sum: number;
}

/**
 * Sends spans and metrics as OTLP/JSON over HTTP.
 *
 * 1. Nothing waits for a collector: what it does not take in time is dropped, oldest first, and counted.
 * 2. Metrics are cumulative since the start of the process.
 */
export function createOtlpExporter({ endpoint, headers = {}, version, timers, now, onFault }: OtlpOptions) {
  const base = endpoint.replace(/\/+$/, '');
  const startedAt = now();
  let spans: OtlpSpan[] = [];
  let dropped = 0;
  const durations = new Map<string, Histogram>();
  const tokens = new Map<string, Histogram>();
  let hasNews = false;
  let cancel = () => {};
  let sending: Promise<void> = Promise.resolve();

  const scope = { name: 'signalbox', version };
  const resource = { attributes: attributesOf({ 'service.name': 'signalbox', 'service.version': version }) };
  const nanos = (ms: number) => `${Math.round(ms)}000000`;

  function record(
    into: Map<string, Histogram>,
    bounds: readonly number[],
    attributes: Histogram['attributes'],
    value: number,
  ) {
    const key = JSON.stringify(attributes);
    const found = into.get(key) ?? { attributes, counts: [...bounds, 0].map(() => 0), count: 0, sum: 0 };
    into.set(key, found);
    const at = bounds.findIndex(bound => value <= bound);
    const index = at < 0 ? bounds.length : at;
    found.counts[index] = (found.counts[index] ?? 0) + 1;
    found.count++;
    found.sum += value;
  }

  function points(of: Map<string, Histogram>, bounds: readonly number[]) {
    return {
      aggregationTemporality: 2,
      dataPoints: [...of.values()].map(({ attributes, counts, count, sum }) => ({
        ...{ attributes, startTimeUnixNano: nanos(startedAt), timeUnixNano: nanos(now()) },
        ...{ count: String(count), sum, bucketCounts: counts.map(String), explicitBounds: bounds },
      })),
    };
  }

  async function post(kind: 'traces' | 'metrics', body: object): Promise<void> {
    try {
      const answer = await fetch(`${base}/v1/${kind}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await answer.body?.cancel();
      if (!answer.ok) onFault(`the collector answered ${kind} with ${answer.status}`);
    } catch (thrown) {
      onFault(`the collector was not reached: ${(thrown as Error).name}`);
    }
  }

  async function send(): Promise<void> {
    while (spans.length > 0) {
      const batch = spans.slice(0, MOST_AT_ONCE);
      spans = spans.slice(MOST_AT_ONCE);
      await post('traces', { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: batch }] }] });
    }
    if (dropped > 0) onFault(`${dropped} spans were dropped`);
    dropped = 0;
    if (!hasNews) return;
    hasNews = false;
    const metrics = [
      { name: 'gen_ai.client.operation.duration', unit: 's', histogram: points(durations, SECONDS) },
      { name: 'gen_ai.client.token.usage', unit: '{token}', histogram: points(tokens, TOKENS) },
    ];
    await post('metrics', { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] });
  }

  function later(): void {
    cancel();
    cancel = timers.after(EVERY_MS, flush);
  }
  function flush(): void {
    sending = sending.then(send);
    later();
  }
  later();

  return {
    span(span: OtlpSpan): void {
      spans.push(span);
      if (spans.length <= MOST_WAITING) return;
      spans.shift();
      dropped++;
    },
    call({ attributes, seconds, inputTokens, outputTokens }: CallMeasure): void {
      hasNews = true;
      record(durations, SECONDS, attributes, seconds);
      const typed = (type: string) => [...attributes, ...attributesOf({ 'gen_ai.token.type': type })];
      if (inputTokens !== undefined) record(tokens, TOKENS, typed('input'), inputTokens);
      if (outputTokens !== undefined) record(tokens, TOKENS, typed('output'), outputTokens);
    },
    async close(): Promise<void> {
      cancel();
      await sending;
      await send();
    },
  };
}
