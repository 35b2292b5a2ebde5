import * as fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { manualMachine, memoryRun, someNode, someTask } from '../../test/support/run-builders.ts';
import { draftEvent } from '../host/run-events.ts';
import { openTelemetry } from './telemetry.ts';

const hex = (length: number) => z.string().regex(new RegExp(`^[0-9a-f]{${length}}$`));
const nanos = z.string().regex(/^\d{19}$/);
const attribute = z.strictObject({
  key: z.string(),
  value: z.union([
    z.strictObject({ stringValue: z.string() }),
    z.strictObject({ intValue: z.string().regex(/^\d+$/) }),
    z.strictObject({ doubleValue: z.number() }),
    z.strictObject({ boolValue: z.boolean() }),
  ]),
});
const attributes = z.array(attribute);
const scope = z.strictObject({ name: z.literal('signalbox'), version: z.string() });
const resource = z.strictObject({ attributes });
/** OTLP/JSON as opentelemetry-proto 1.x has it: names in camel case, ids in hex, numbers of 64 bits as texts. */
const traces = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource,
      scopeSpans: z.array(
        z.strictObject({
          scope,
          spans: z.array(
            z.strictObject({
              ...{ traceId: hex(32), spanId: hex(16), parentSpanId: hex(16).optional(), name: z.string() },
              ...{ kind: z.union([z.literal(1), z.literal(3)]), startTimeUnixNano: nanos, endTimeUnixNano: nanos },
              ...{ attributes, status: z.strictObject({ code: z.union([z.literal(0), z.literal(2)]) }) },
            }),
          ),
        }),
      ),
    }),
  ),
});
const point = z.strictObject({
  ...{ attributes, startTimeUnixNano: nanos, timeUnixNano: nanos, count: z.string(), sum: z.number() },
  ...{ bucketCounts: z.array(z.string().regex(/^\d+$/)), explicitBounds: z.array(z.number()) },
});
const metrics = z.strictObject({
  resourceMetrics: z.array(
    z.strictObject({
      resource,
      scopeMetrics: z.array(
        z.strictObject({
          scope,
          metrics: z.array(
            z.strictObject({
              ...{ name: z.string(), unit: z.string() },
              histogram: z.strictObject({ aggregationTemporality: z.literal(2), dataPoints: z.array(point) }),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** What the `gen_ai` conventions of OpenTelemetry 1.45.0 require of each operation, and the names that they have. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  chat: ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model'],
  invoke_agent: ['gen_ai.operation.name', 'gen_ai.agent.name'],
  execute_tool: ['gen_ai.operation.name', 'gen_ai.tool.name'],
  invoke_workflow: ['gen_ai.operation.name'],
};
const NAMES = new Set([
  ...Object.values(REQUIRED).flat(),
  ...['gen_ai.agent.id', 'gen_ai.tool.call.id', 'gen_ai.workflow.name', 'gen_ai.token.type'],
  ...['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens', 'gen_ai.usage.cache_read.input_tokens'],
]);

/** What they require of the points of each metric. */
const METRICS: Readonly<Record<string, readonly string[]>> = {
  'gen_ai.client.operation.duration': ['gen_ai.operation.name', 'gen_ai.provider.name'],
  'gen_ai.client.token.usage': ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.token.type'],
};
const unknownNames = (keys: readonly string[]) => keys.filter(key => key.startsWith('gen_ai.') && !NAMES.has(key));

async function collector() {
  const taken: { readonly url: string; readonly headers: NodeJS.Dict<string | string[]>; readonly body: unknown }[] =
    [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8'));
    taken.push({ url: request.url ?? '', headers: request.headers, body });
    response.end('{}');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { taken, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function directory(config: object): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'telemetry-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  fs.writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
  return folder;
}

const of = { node: someNode, task: someTask };
const model = { ...of, call: 'm', provider: 'google', model: 'gemini-2.5-flash' };

describe('telemetry', () => {
  it('[A1110, A1111] sends spans of a run, its agents, tools and calls to a collector, by the conventions', async () => {
    const { taken, url } = await collector();
    const machine = manualMachine();
    const { store, run } = await memoryRun(machine);
    const env = { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b' };
    const faults: string[] = [];
    const options = { env, feed: store, machine, warn: (why: string) => void faults.push(why) };
    const telemetry = openTelemetry({ ...options, dataDirectory: directory({ telemetry: { endpoint: url } }) });
    const commit = async (...events: readonly ReturnType<typeof draftEvent>[]) => {
      await store.commit({ at: events[0]?.ts as never, events }, { run, version: 'any' });
      machine.clock.advance(1_500);
    };
    const attempt = { ...of, iteration: 0, attempt: 1 };
    await commit(draftEvent(machine, 'run.created', { driver: 'plan', name: 'nightly' }));
    await commit(draftEvent(machine, 'task.started', attempt));
    await commit(draftEvent(machine, 'model.called', { ...model, input: 9, output: 9 }));
    const spent = { inputTokens: 30, outputTokens: 70, cachedTokens: 5, costMicroUsd: 8 };
    await commit(
      draftEvent(machine, 'model.answered', { ...model, outcome: 'answered', status: 200, unknown: [], spent }),
    );
    await commit(draftEvent(machine, 'call.began', { ...of, call: 'c', tool: 'read_file' }));
    await commit(draftEvent(machine, 'call.ended', { ...of, call: 'c', tool: 'read_file', outcome: 'failed' }));
    await commit(draftEvent(machine, 'task.ended', { ...attempt, outcome: 'done', stale: false }));
    await commit(draftEvent(machine, 'run.status', { from: 'running', to: 'completed' }));
    await telemetry?.close();
    expect([faults, taken.map(one => one.url)]).toEqual([[], ['/v1/traces', '/v1/metrics']]);
    expect(taken[0]?.headers['x-key']).toBe('a b');

    const { spans } = traces.parse(taken[0]?.body).resourceSpans[0]?.scopeSpans[0] ?? { spans: [] };
    const named = new Map(spans.map(span => [span.name, span]));
    const [chat, tool, agent, whole] = [
      ...['chat gemini-2.5-flash', 'execute_tool read_file', `invoke_agent ${someNode}`, 'invoke_workflow nightly'],
    ].map(name => named.get(name));
    expect(spans).toHaveLength(4);
    expect(new Set(spans.map(span => span.traceId))).toEqual(new Set([run.replaceAll('-', '')]));
    expect([chat?.parentSpanId, tool?.parentSpanId, agent?.parentSpanId, whole?.parentSpanId]).toEqual([
      ...[agent?.spanId, agent?.spanId, whole?.spanId, undefined],
    ]);
    expect(spans.map(span => [span.name, span.status.code])).toContainEqual(['execute_tool read_file', 2]);
    for (const span of spans) {
      const keys = span.attributes.map(({ key }) => key);
      const operation = span.attributes.find(({ key }) => key === 'gen_ai.operation.name')?.value;
      const { stringValue: named } = operation as { readonly stringValue: string };
      const required = REQUIRED[named] ?? ['unknown operation'];
      expect(span.name.split(' ')[0]).toBe(named);
      expect(keys).toEqual(expect.arrayContaining([...required, 'signalbox.run.id', 'signalbox.event.id']));
      expect(unknownNames(keys)).toEqual([]);
      expect(BigInt(span.endTimeUnixNano) > BigInt(span.startTimeUnixNano)).toBe(true);
    }
    expect(chat?.attributes).toEqual(
      expect.arrayContaining([
        { key: 'gen_ai.provider.name', value: { stringValue: 'gcp.gemini' } },
        { key: 'gen_ai.usage.input_tokens', value: { intValue: '30' } },
        { key: 'gen_ai.usage.output_tokens', value: { intValue: '70' } },
      ]),
    );

    const told = metrics.parse(taken[1]?.body).resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? [];
    for (const { name, histogram } of told)
      for (const { attributes } of histogram.dataPoints) {
        const keys = attributes.map(({ key }) => key);
        expect([name, keys]).toEqual([name, expect.arrayContaining([...(METRICS[name] ?? ['unknown metric'])])]);
        expect(unknownNames(keys)).toEqual([]);
      }
    expect(
      told.map(({ name, unit, histogram }) => [name, unit, histogram.dataPoints.map(({ count, sum }) => [count, sum])]),
    ).toEqual([
      ['gen_ai.client.operation.duration', 's', [['1', 1.5]]],
      [
        'gen_ai.client.token.usage',
        '{token}',
        [
          ['1', 30],
          ['1', 70],
        ],
      ],
    ]);
  });

  it('[A1110] is off by default, and a collector that is not there disturbs nothing', async () => {
    const machine = manualMachine();
    const { store, run } = await memoryRun(machine);
    const faults: string[] = [];
    const options = { env: {}, feed: store, machine, warn: (why: string) => void faults.push(why) };
    expect(openTelemetry({ ...options, dataDirectory: directory({}) })).toBeUndefined();
    expect(
      openTelemetry({ ...options, dataDirectory: directory({ telemetry: { endpoint: 'nowhere' } }) }),
    ).toBeUndefined();
    expect(faults).toHaveLength(1);
    const lost = openTelemetry({
      ...options,
      dataDirectory: directory({ telemetry: { endpoint: 'http://127.0.0.1:1' } }),
    });
    const event = draftEvent(machine, 'model.called', { ...model, input: 9, output: 9 });
    const end = draftEvent(machine, 'model.answered', { ...model, outcome: 'cut', unknown: [] });
    await store.commit({ at: event.ts as never, events: [event, end] }, { run, version: 'any' });
    await lost?.close();
    expect(faults.slice(1)).toEqual([
      'the collector was not reached: TypeError',
      'the collector was not reached: TypeError',
    ]);
  });
});
