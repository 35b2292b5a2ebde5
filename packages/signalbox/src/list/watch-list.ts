import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorEnvelope } from '@signalbox/app/host';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { openDisplay } from '../live/live-display.ts';
import { paintOf, type Terminal } from '../terminal.ts';
import { type ListedRow, runTable } from './run-table.ts';

export interface WatchedList {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly lineOf: (row: ListedRow) => string;
  readonly ending: AbortSignal;
}

const LOOK_MS = 500;

/** Shows the list until the program is asked to end: redrawn in place, or a line for each run that is new or has changed. */
export async function watchList(
  { terminal, json, lineOf, ending }: WatchedList,
  read: () => Promise<readonly ListedRow[] | ErrorEnvelope>,
): Promise<ExitCode | ErrorEnvelope> {
  const { screen } = terminal;
  const paint = paintOf(terminal);
  let rows: readonly ListedRow[] = [];
  let fault: ErrorEnvelope | undefined;
  const told = new Map<string, string>();
  const display =
    screen === undefined || json
      ? undefined
      : openDisplay(screen, ({ width, height }, now) =>
          rows.length === 0 ? ['No runs yet.'] : runTable(rows.slice(0, height - 1), { now, width, paint }),
        );
  while (!ending.aborted) {
    const found = await read();
    if ('code' in found) {
      fault = found;
      break;
    }
    rows = found;
    if (display === undefined)
      for (const row of rows.toReversed()) {
        const line = lineOf(row);
        if (told.get(row.run.record.id) !== line) terminal.print(line);
        told.set(row.run.record.id, line);
      }
    await sleep(LOOK_MS, undefined, { signal: ending }).catch(() => undefined);
  }
  display?.close();
  return fault ?? exitCodes.done;
}
