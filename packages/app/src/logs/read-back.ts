import { existsSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { contentOf, PACKED } from '../packed-file.ts';
import type { LogLine } from './projections/log-line.ts';
import { type LogSummary, withLine } from './projections/log-summary.ts';

export const STREAM = 'stream.ndjson';

/** The name of a compressed part of a log. They count from 1. */
export function pieceOf(number: number): string {
  return `stream.${number}.ndjson${PACKED}`;
}

/**
 * The summary of the lines that are there, and how many compressed files there are. A last line that was cut off goes: its event is
 * told anew. Lines that were compressed and are still in the other file go too.
 */
export function readBack(folder: string, empty: LogSummary): { readonly summary: LogSummary; readonly pieces: number } {
  const pieces = piecesIn(folder);
  const packed = Array.from({ length: pieces }, (_, index) =>
    Buffer.from(contentOf(path.join(folder, pieceOf(index + 1)))).toString(),
  );
  const file = path.join(folder, STREAM);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const isPacked = text !== '' && packed.at(-1) === text;
  if (isPacked) rmSync(file);
  const whole = isPacked ? '' : text.slice(0, text.lastIndexOf('\n') + 1);
  if (!isPacked && whole.length < text.length) truncateSync(file, Buffer.byteLength(whole));
  const summary = [...packed, whole].reduce(
    (before, part) => part.split('\n').slice(0, -1).reduce(counted, before),
    empty,
  );
  return { summary, pieces };
}

function piecesIn(folder: string): number {
  const numbers = readdirSync(folder).map(name => Number(/^stream\.(\d+)\.ndjson\.zst$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers);
}

function counted(summary: LogSummary, line: string): LogSummary {
  const parsed = parsedLine(line);
  return parsed === undefined ? summary : withLine(summary, parsed, Buffer.byteLength(line) + 1);
}

function parsedLine(line: string): LogLine | undefined {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return undefined;
  }
}
