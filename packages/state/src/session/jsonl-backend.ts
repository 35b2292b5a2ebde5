import * as fs from 'node:fs';
import * as path from 'node:path';
import { type ErrorEnvelope, err, failure, type Json, ok, type Result } from '@signalbox/model';
import { naming, thrownReason } from '../filesystem/system-reason.ts';
import { plainValue } from './plain-value.ts';
import type { Slice } from './slice.ts';
import type { SliceBackend } from './slice-backend.ts';
import { dispatchError, type SliceChange } from './slice-store.ts';

export type SliceUnreadableError = ErrorEnvelope<'state/slice-unreadable'>;

/**
 * Stores each of the given slices in `<directory>/<slice>.jsonl`, one item per line, synced before a dispatch returns.
 * Other slices of the session stay in memory.
 *
 * Invariants: a line that ends in a newline was acknowledged or is about to be; a last line without one never was, and is
 * cut off on opening. A failed write is undone by restoring the previous length or file.
 */
export function openJsonlBackend(
  directory: string,
  slices: readonly Slice<unknown>[],
): Result<SliceBackend, SliceUnreadableError> {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const loaded = new Map<string, readonly Json[]>();
  const fileOf = (slice: string) => path.join(directory, `${encodeURIComponent(slice)}.jsonl`);
  for (const slice of slices) {
    const items = readItems(fileOf(slice.name), slice);
    if (!items.ok) return items;
    loaded.set(slice.name, items.value);
  }
  return ok({
    load: slice => loaded.get(slice) ?? [],
    write(changes) {
      const undo: (() => void)[] = [];
      try {
        for (const change of changes) {
          if (loaded.has(change.slice)) writeChange(fileOf(change.slice), change, undo);
        }
        return ok(undefined);
      } catch (cause) {
        for (const step of undo.reverse()) step();
        return err(dispatchError(`a slice could not be written: ${thrownReason(cause)}`));
      }
    },
  });
}

function writeChange(file: string, { operation }: SliceChange, undo: (() => void)[]): void {
  switch (operation.kind) {
    case 'append':
    case 'extend': {
      const items = operation.kind === 'append' ? [operation.item] : operation.items;
      const isNew = !fs.existsSync(file);
      const fd = fs.openSync(file, 'a', 0o600);
      try {
        const { size } = fs.fstatSync(fd);
        undo.push(() => fs.truncateSync(file, size));
        writeWhole(file, fd, linesOf(items));
      } finally {
        fs.closeSync(fd);
      }
      if (isNew) syncDirectory(path.dirname(file));
      return;
    }
    case 'replace':
    case 'clear': {
      const before = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
      undo.push(() => rewrite(file, before));
      rewrite(file, operation.kind === 'clear' ? '' : linesOf(operation.items));
      return;
    }
  }
}

function rewrite(file: string, text: string): void {
  const fd = fs.openSync(`${file}.tmp`, 'w', 0o600);
  try {
    writeWhole(file, fd, text);
  } finally {
    fs.closeSync(fd);
  }
  fs.renameSync(`${file}.tmp`, file);
  syncDirectory(path.dirname(file));
}

/** All of the text, durably: a disk that is almost full takes the first part of it without a word. */
function writeWhole(file: string, fd: number, text: string): void {
  naming(file, () => {
    fs.writeFileSync(fd, text);
    fs.fsyncSync(fd);
  });
}

function syncDirectory(directory: string): void {
  const fd = fs.openSync(directory, 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function linesOf(items: readonly Json[]): string {
  return items.map(item => `${JSON.stringify(item)}\n`).join('');
}

function readItems(file: string, slice: Slice<unknown>): Result<readonly Json[], SliceUnreadableError> {
  if (!fs.existsSync(file)) return ok([]);
  const text = fs.readFileSync(file, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) fs.truncateSync(file, Buffer.byteLength(whole));
  const items: Json[] = [];
  for (const [index, line] of whole.split('\n').slice(0, -1).entries()) {
    const parsed = plainValue(slice.item, parsedLine(line));
    if (!parsed.ok) return err(unreadable(slice.name, index + 1, parsed.error));
    items.push(parsed.value);
  }
  return ok(items);
}

/** Returns undefined, which no schema of plain data accepts, for a line that is not JSON. */
function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function unreadable(slice: string, line: number, reason: string): SliceUnreadableError {
  return failure('state/slice-unreadable', {
    message: `slice ${slice} cannot be read: line ${line}: ${reason}`,
    suggestion: 'Move the file of this slice away, or correct the line, and start again.',
  });
}
