import { existsSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { contentOf, PACKED } from '../packed-file.ts';
import type { LogLine } from './projections/log-line.ts';
import { addLine, type LogSummary } from './projections/log-summary.ts';

export const STREAM = 'stream.ndjson';

/** The name of a compressed part of a log, numbered from 1. */
export function pieceOf(number: number): string {
  return `stream.${number}.ndjson${PACKED}`;
}

/**
 * Adds the existing lines to a summary, and returns how many compressed files there are. Removes a partial last line, whose event is
 * written again, and lines that are already compressed.
 */
export function readBack(folder: string, summary: LogSummary): number {
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
  for (const part of [...packed, whole]) {
    for (const line of part.split('\n').slice(0, -1)) {
      const parsed = parsedLine(line);
      if (parsed !== undefined) addLine(summary, parsed, Buffer.byteLength(line) + 1);
    }
  }
  return pieces;
}

function piecesIn(folder: string): number {
  const numbers = readdirSync(folder).map(name => Number(/^stream\.(\d+)\.ndjson\.zst$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers);
}

function parsedLine(line: string): LogLine | undefined {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return undefined;
  }
}
