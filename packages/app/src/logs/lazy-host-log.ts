import type { Log, LogFields } from './log.ts';
import type { LogLevel } from './projections/log-line.ts';

type HostLog = Log & { close(): void };

/** The log of the process, opened on first use: most commands log nothing. */
export function lazyHostLog(open: () => Promise<HostLog>): Log & { close(): Promise<void> } {
  let opened: Promise<HostLog> | undefined;
  let saying: Promise<void> = Promise.resolve();

  const logWith = (fields: LogFields): Log => ({
    say(level: LogLevel, message, more = {}) {
      opened ??= open();
      saying = saying.then(async () => (await opened)?.say(level, message, { ...fields, ...more })).catch(() => {});
    },
    with: more => logWith({ ...fields, ...more }),
  });

  return {
    ...logWith({}),
    async close() {
      await saying;
      (await opened?.catch(() => undefined))?.close();
    },
  };
}
