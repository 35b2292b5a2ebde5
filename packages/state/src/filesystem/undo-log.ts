import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { digest } from '@signalbox/model';
import * as z from 'zod';
import { applyStep } from '../layers/apply-steps.ts';
import { type HostFiles, nodeHostFiles, syncAll } from './host-files.ts';
import { restoreStep } from './restore-plan.ts';

/** A call, or a restore, that has begun and not ended. What is still here at a start was cut short. */
export const undoRecord = z.strictObject({
  version: z.literal(1),
  /** Names this record alone: agents that know nothing of each other may use the same call id. */
  id: z.string().min(1),
  callId: z.string().min(1),
  tool: z.string(),
  startedAt: z.number(),
  /** What the call is charged to: a task, where agents run. */
  evaluation: z.string().optional(),
  work: z.discriminatedUnion('kind', [
    /** Cannot be undone: only that it began is known. */
    z.strictObject({ kind: z.literal('external') }),
    /**
     * The tree goes back to `before`; `paths`, if given, is all that the call may touch. Null for a restore on its own:
     * until it is `restoring` it has changed nothing.
     */
    z.strictObject({
      kind: z.literal('files'),
      root: z.string(),
      /** Tells the root from another directory, or a link, that is at its path by then. */
      identity: z.string().optional(),
      before: digest.nullable(),
      paths: z.array(z.string()).optional(),
      /** When the call's process had ended or was last known to live, on the clock of the root's filesystem. */
      endedAt: z.number().optional(),
      /** The name of the staging directory, if its usual one was taken. */
      staging: z.string().optional(),
      /** What the restore overwrites or removes, kept. */
      kept: z.strictObject({ digest, paths: z.array(z.string()) }).optional(),
      /** Set from the moment a restore may have changed something. */
      restoring: z.strictObject({ staging: z.string(), steps: z.array(restoreStep) }).optional(),
    }),
    /**
     * The changes of a layer are being applied. The call is over once its log of checkpoints says so; until then what was done of
     * the steps is taken back.
     */
    z.strictObject({
      kind: z.literal('layer'),
      root: z.string(),
      /** The root that is meant: not whatever is at its path later. */
      place: z.strictObject({ dev: z.string(), ino: z.string() }),
      layer: z.string(),
      staging: z.string(),
      steps: z.array(applyStep),
      /** What the steps replace, as a tree in the store, where it is kept. */
      before: digest.nullable(),
      /** The log that says how the call ended; null where none is kept. */
      checkpoints: z.string().nullable(),
    }),
  ]),
});
export type UndoRecord = z.infer<typeof undoRecord>;

/** Where calls that are under way are written down. What is put is durable when that returns. */
export interface UndoLog {
  put(record: UndoRecord): Promise<void>;
  /** Unless told otherwise, the record does not come back, whatever happens to the machine. */
  remove(id: string, options?: { readonly durable?: boolean }): Promise<void>;
  /** Says that the process which owns a record lives, and answers when that was, on the clock of the log's filesystem. */
  touch(id: string): Promise<number | undefined>;
  /** When the owner of a record was last known to live; undefined where there is no such record. */
  lastAlive(id: string): Promise<number | undefined>;
  /** What began and did not end, in no order. */
  pending(): Promise<readonly UndoRecord[]>;
}

export function createMemoryUndoLog(): UndoLog {
  const records = new Map<string, UndoRecord>();
  const alive = new Map<string, number>();
  // Rounded up: filesystems stamp changes more finely than the clock is read.
  const now = () => Date.now() + 1;
  return {
    async put(record) {
      records.set(record.id, record);
      alive.set(record.id, now());
    },
    async remove(id) {
      records.delete(id);
      alive.delete(id);
    },
    async touch(id) {
      if (records.has(id)) alive.set(id, now());
      return alive.get(id);
    },
    lastAlive: async id => alive.get(id),
    pending: async () => [...records.values()],
  };
}

/** One file per record. Each line replaces the one before it; a last line without a newline was never finished. */
export function openHostUndoLog(directory: string, files: HostFiles = nodeHostFiles): UndoLog {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const fileOf = (id: string) => `${directory}/${createHash('sha256').update(id).digest('hex')}.jsonl`;
  return {
    async put(record) {
      const file = fileOf(record.id);
      const isNew = !fs.existsSync(file);
      if (!isNew) cutTorn(file, files);
      const writer = files.append(file, 0o600);
      try {
        writer.write(Buffer.from(`${JSON.stringify(record)}\n`));
      } finally {
        writer.close();
      }
      await syncAll(files, isNew ? [file, directory] : [file]);
    },
    async remove(id, { durable = true } = {}) {
      if (!fs.existsSync(fileOf(id))) return;
      files.unlink(fileOf(id));
      if (durable) await files.sync(directory);
    },
    async touch(id) {
      const file = fileOf(id);
      if (!fs.existsSync(file)) return undefined;
      files.touch(file);
      return fs.statSync(file).ctimeMs;
    },
    lastAlive: async id => fs.statSync(fileOf(id), { throwIfNoEntry: false })?.ctimeMs,
    async pending() {
      const names = fs.readdirSync(directory).filter(name => name.endsWith('.jsonl'));
      return names.flatMap(name => lastRecord(fs.readFileSync(`${directory}/${name}`, 'utf8')));
    },
  };
}

/** What a full disk or a crash left of a line must not become the beginning of the next one. */
function cutTorn(file: string, files: HostFiles): void {
  const text = fs.readFileSync(file);
  const whole = text.lastIndexOf(NEWLINE) + 1;
  if (whole < text.length) files.truncate(file, whole);
}

const NEWLINE = 0x0a;

/** None where not even the first line was finished: then nothing had begun. */
function lastRecord(text: string): readonly UndoRecord[] {
  const line = text
    .slice(0, Math.max(0, text.lastIndexOf('\n')))
    .split('\n')
    .at(-1);
  return line === undefined || line === '' ? [] : [undoRecord.parse(JSON.parse(line))];
}
