import { appendFileSync } from 'node:fs';
import path from 'node:path';
import type { SecretFilter } from '@signalbox/model';
import { type DestinationStream, type Logger, pino } from 'pino';
import { makePrivateDirectory } from '../private-directory.ts';
import type { Log, LogFields } from './log.ts';
import type { LogLevel } from './projections/log-line.ts';

/** The log of the process itself, as NDJSON: `<data>/logs/host.ndjson`, or standard error on request. */
export function openHostLog(options: {
  readonly dataDirectory: string;
  readonly level: LogLevel;
  /** pino redacts fields with the names of secrets; this redacts the values of secrets, wherever they are. */
  readonly filter: Pick<SecretFilter, 'text' | 'data'>;
  readonly to?: DestinationStream | undefined;
}): Log & { close(): void } {
  const { dataDirectory, level, filter } = options;
  const to = options.to ?? fileIn(dataDirectory);
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
      formatters: { level: name => ({ level: name }) },
      redact: {
        paths: ['token', 'authorization', '*.token', '*.authorization', '*.apiKey', '*.password'],
        censor: '[redacted]',
      },
    },
    to,
  );
  return {
    ...logOf(logger, filter, { component: 'host' }),
    close() {
      if ('end' in to && typeof to.end === 'function') to.end();
    },
  };
}

/** Fields are merged here: a child logger of pino would write a duplicate field twice. */
function logOf(logger: Logger, filter: Pick<SecretFilter, 'text' | 'data'>, fields: LogFields): Log {
  return {
    say: (level, message, more = {}) =>
      logger[level](filter.data(plainOf({ ...fields, ...more })), filter.text(message)),
    with: more => logOf(logger, filter, { ...fields, ...more }),
  };
}

/** An error's message and stack. */
function plainOf(fields: LogFields): LogFields {
  const plain = ([name, value]: readonly [string, unknown]) =>
    value instanceof Error ? [name, { type: value.name, message: value.message, stack: value.stack }] : [name, value];
  return Object.fromEntries(Object.entries(fields).map(plain));
}

function fileIn(dataDirectory: string): DestinationStream & { end(): void } {
  const folder = path.join(dataDirectory, 'logs');
  makePrivateDirectory(folder);
  const file = path.join(folder, 'host.ndjson');
  /** Lines that the disk did not accept. pino's own destination waits for space in a blocking loop. */
  let waiting: string[] = [];
  const flush = () => {
    if (waiting.length === 0) return;
    try {
      appendFileSync(file, waiting.join(''), { mode: 0o600 });
      waiting = [];
    } catch {
      waiting = waiting.slice(-MOST_WAITING);
    }
  };
  return {
    write(line) {
      waiting.push(line);
      flush();
    },
    end: flush,
  };
}

/** The most lines that wait for space; the oldest are dropped first. */
const MOST_WAITING = 1000;
