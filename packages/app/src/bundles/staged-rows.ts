import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import type { ArchiveRow } from '@signalbox/runs';

/**
 * Rows on their way into a store, in a file: they come one by one, over time, and go in at once. Nothing of them counts
 * before.
 */
export interface StagedRows {
  add(row: ArchiveRow): void;
  /** All of them, in their order, a bounded number in memory. */
  rows(): Iterable<ArchiveRow>;
  remove(): void;
}

const CHUNK = 1 << 20;

export function stageRows(file: string): StagedRows {
  const handle = openSync(file, 'wx+', 0o600);
  let text = '';
  const flush = () => {
    if (text !== '') writeSync(handle, text);
    text = '';
  };
  return {
    add(row) {
      text += `${JSON.stringify(row)}\n`;
      if (text.length >= CHUNK) flush();
    },
    *rows() {
      flush();
      const chunk = Buffer.alloc(CHUNK);
      let rest = Buffer.alloc(0);
      for (let at = 0; ; ) {
        const read = readSync(handle, chunk, 0, CHUNK, at);
        if (read === 0) return;
        at += read;
        const bytes = Buffer.concat([rest, chunk.subarray(0, read)]);
        let from = 0;
        for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
          yield JSON.parse(bytes.toString('utf8', from, end)) as ArchiveRow;
          from = end + 1;
        }
        rest = bytes.subarray(from);
      }
    },
    remove() {
      closeSync(handle);
      rmSync(file, { force: true });
    },
  };
}
