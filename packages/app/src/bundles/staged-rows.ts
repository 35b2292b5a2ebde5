import { closeSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import type { ArchiveRow } from '@signalbox/runs';

/** Rows on their way into a store, in a file: they arrive one by one, and are imported at once. None of them counts before. */
export interface StagedRows {
  add(row: ArchiveRow): void;
  /** All rows, in order, a bounded number in memory. */
  rows(): Iterable<ArchiveRow>;
  remove(): void;
}

const CHUNK = 1 << 20;

export function stageRows(file: string): StagedRows {
  const handle = openSync(file, 'wx+', 0o600);
  let text = '';
  const flush = () => {
    if (text !== '') writeFileSync(handle, text);
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
      /** Parts of an unfinished row. */
      let begun: Buffer[] = [];
      for (let at = 0; ; ) {
        const read = readSync(handle, chunk, 0, CHUNK, at);
        if (read === 0) return;
        at += read;
        const bytes = chunk.subarray(0, read);
        let from = 0;
        for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
          const row = Buffer.concat([...begun, bytes.subarray(from, end)]);
          begun = [];
          yield JSON.parse(row.toString()) as ArchiveRow;
          from = end + 1;
        }
        begun.push(Buffer.from(bytes.subarray(from)));
      }
    },
    remove() {
      closeSync(handle);
      rmSync(file, { force: true });
    },
  };
}
