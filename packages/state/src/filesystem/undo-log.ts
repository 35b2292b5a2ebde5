import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { digest } from '@signalbox/model';
import * as z from 'zod';
import { applyStep } from '../layers/apply-steps.ts';
import { type HostFiles, nodeHostFiles, syncAll } from './host-files.ts';
import { restoreStep } from './restore-plan.ts';

/** A call or restore that has begun and not ended. A record found at a start was interrupted. */
const undoRecord = z.strictObject({
  version: z.literal(1),
  /** Unique to this record: independent agents may use the same call id. */
  id: z.string().min(1),
  callId: z.string().min(1),
  tool: z.string(),
  startedAt: z.number(),
  /** The task of the call. */
  evaluation: z.string().optional(),
  work: z.discriminatedUnion('kind', [
    /** Cannot be undone: only its start is recorded. */
    z.strictObject({ kind: z.literal('external') }),
    /**
     * The tree goes back to `before`; `paths`, if given, is all that the call may touch. Null for a restore on its own:
     * until it is `restoring` it has changed nothing.
     */
    z.strictObject({
      kind: z.literal('files'),
      root: z.string(),
      /** Distinguishes the root from a later directory or link at its path. */
      identity: z.string().optional(),
      before: digest.nullable(),
      paths: z.array(z.string()).optional(),
      /** What git ran before the call, in the store. */
      programs: digest.optional(),
      /** When the call's process ended or was last known to be alive, on the clock of the root's filesystem. */
      endedAt: z.number().optional(),
      /** The name of the staging directory, if its usual one was taken. */
      staging: z.string().optional(),
      /** Kept copies of what the restore overwrites or removes. */
      kept: z.strictObject({ digest, paths: z.array(z.string()) }).optional(),
      /** Set from the moment a restore may have changed something. */
      restoring: z.strictObject({ staging: z.string(), steps: z.array(restoreStep) }).optional(),
    }),
    /**
     * The changes of a layer are being applied. The call has ended once its checkpoint log says so; until then, completed steps
     * are reverted.
     */
    z.strictObject({
      kind: z.literal('layer'),
      root: z.string(),
      /** The identity of the root, not of whatever is at its path later. */
      place: z.strictObject({ dev: z.string(), ino: z.string() }),
      layer: z.string(),
      staging: z.string(),
      steps: z.array(applyStep),
      /** What the steps replace, as a tree in the store, if it is kept. */
      before: digest.nullable(),
      /** The log that records how the call ended; null if there is none. */
      checkpoints: z.string().nullable(),
    }),
  ]),
});
export type UndoRecord = z.infer<typeof undoRecord>;

/** Records calls under way. `put` is durable when it returns. */
export interface UndoLog {
  put(record: UndoRecord): Promise<void>;
  /** By default the removal is durable: the record does not reappear after a machine crash. */
  remove(id: string, options?: { readonly durable?: boolean }): Promise<void>;
  /** Records that a record's owner is alive, and returns the time on the clock of the log's filesystem. */
  touch(id: string): Promise<number | undefined>;
  /** When a record's owner was last known to be alive; undefined if there is no such record. */
  lastAlive(id: string): Promise<number | undefined>;
  /** Records that have not ended, in no particular order. */
  pending(): Promise<readonly UndoRecord[]>;
}

export function createMemoryUndoLog(): UndoLog {
  const records = new Map<string, UndoRecord>();
  const alive = new Map<string, number>();
  // Rounded up: filesystem timestamps are finer than the clock reading.
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

/** A partial line left by a full disk or a crash must not become the beginning of the next one. */
function cutTorn(file: string, files: HostFiles): void {
  const text = fs.readFileSync(file);
  const whole = text.lastIndexOf(NEWLINE) + 1;
  if (whole < text.length) files.truncate(file, whole);
}

const NEWLINE = 0x0a;

/** Undefined if not even the first line was finished: then nothing had begun. */
function lastRecord(text: string): readonly UndoRecord[] {
  const line = text
    .slice(0, Math.max(0, text.lastIndexOf('\n')))
    .split('\n')
    .at(-1);
  return line === undefined || line === '' ? [] : [undoRecord.parse(JSON.parse(line))];
}
