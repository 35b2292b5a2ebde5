import { thrownText } from '@signalbox/model';
import type { RunFeed } from '@signalbox/runs';
import * as z from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import type { Machine } from '../machine.ts';
import { readConfigPart } from '../settings/config-file.ts';
import { createOtlpExporter } from './otlp-exporter.ts';
import { createSpans } from './spans.ts';

/** `telemetry` of the data directory's configuration. Without it, nothing is sent. */
export const telemetryPart = z.strictObject({
  /** An OTLP collector that takes JSON over HTTP, such as `http://127.0.0.1:4318`. */
  endpoint: z.url({ protocol: /^https?$/ }),
});

export interface TelemetryOptions {
  readonly dataDirectory: string;
  /** `OTEL_EXPORTER_OTLP_HEADERS` has headers for the collector: secrets do not belong into a file. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly feed: RunFeed;
  readonly machine: Pick<Machine, 'clock' | 'timers'>;
  readonly warn: (why: string) => void;
}

/** Sends spans and metrics of runs to a collector, if one is configured. */
export function openTelemetry(options: TelemetryOptions): { close(): Promise<void> } | undefined {
  const { dataDirectory, env, feed, machine, warn } = options;
  const settings = readConfigPart(dataDirectory, 'telemetry', telemetryPart);
  if (!settings.ok) warn(`config.json cannot be used: ${settings.error}`);
  if (!settings.ok || settings.value === undefined) return undefined;
  const exporter = createOtlpExporter({
    endpoint: settings.value.endpoint,
    headers: headersIn(env.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    version: manifest.version,
    timers: machine.timers,
    now: () => machine.clock.now(),
    onFault: warn,
  });
  const spans = createSpans(exporter);
  const stop = feed.subscribe('all', ({ events }) => {
    try {
      for (const { event } of events) spans.take(event);
    } catch (thrown) {
      // What cannot be told is no reason to stop the run that it is about.
      warn(thrownText(thrown));
    }
  });
  return {
    async close() {
      stop();
      await exporter.close();
    },
  };
}

/** `name=value,other=value`, with values encoded as in addresses. */
function headersIn(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').flatMap(pair => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}
