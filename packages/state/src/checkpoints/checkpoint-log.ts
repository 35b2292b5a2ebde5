import * as fs from 'node:fs';
import { type HostFiles, nodeHostFiles } from '../filesystem/host-files.ts';

/** Durable storage for checkpoints: lines of text, oldest first. */
export interface CheckpointLog {
  /** Its path on disk. */
  readonly file?: string;
  /** Appends a line. With `durable` it survives a machine crash once this returns. */
  append(line: string, options: { readonly durable: boolean }): Promise<void>;
  load(): Promise<readonly string[]>;
  /** Replaces all lines atomically. */
  rewrite(lines: readonly string[]): Promise<void>;
}

export function createMemoryCheckpointLog(): CheckpointLog {
  let lines: string[] = [];
  return {
    async append(line) {
      lines.push(line);
    },
    load: async () => [...lines],
    async rewrite(next) {
      lines = [...next];
    },
  };
}

/** A JSONL file. A last line without a newline was never acknowledged and is cut off on loading. */
export function openHostCheckpointLog(file: string, files: HostFiles = nodeHostFiles): CheckpointLog {
  return {
    file,
    async append(line, { durable }) {
      const before = fs.statSync(file, { throwIfNoEntry: false })?.size;
      try {
        const writer = files.append(file, 0o600);
        try {
          writer.write(Buffer.from(`${line}\n`));
        } finally {
          writer.close();
        }
        if (!durable) return;
        await files.sync(file);
        if (before === undefined) await files.sync(parentOf(file));
      } catch (cause) {
        // What a full disk took of a line must not become the beginning of the next one.
        if (fs.existsSync(file)) files.truncate(file, before ?? 0);
        throw cause;
      }
    },
    async load() {
      if (!fs.existsSync(file)) return [];
      const text = fs.readFileSync(file, 'utf8');
      const whole = text.slice(0, text.lastIndexOf('\n') + 1);
      if (whole.length < text.length) fs.truncateSync(file, Buffer.byteLength(whole));
      return whole.split('\n').slice(0, -1);
    },
    async rewrite(lines) {
      fs.rmSync(`${file}.tmp`, { force: true });
      const writer = files.create(`${file}.tmp`, 0o600);
      try {
        for (const line of lines) writer.write(Buffer.from(`${line}\n`));
      } finally {
        writer.close();
      }
      await files.sync(`${file}.tmp`);
      files.rename(`${file}.tmp`, file);
      await files.sync(parentOf(file));
    },
  };
}

function parentOf(file: string): string {
  return file.slice(0, file.lastIndexOf('/'));
}
