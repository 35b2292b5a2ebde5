import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Clock, Timestamp } from '@signalbox/model';
import { timestamp, timestampOf } from '@signalbox/model';

/** A use is noted at most this often. */
const NOTED_EVERY_MS = 60_000;

/** The last use of each token, in a file beside its user's. It is a note, not a fact: one that cannot be written is skipped. */
export interface LastUse {
  of(name: string): Timestamp | undefined;
  note(name: string): void;
  forget(name: string): void;
}

export function openLastUse(fileOf: (name: string) => string, clock: Clock): LastUse {
  const noted = new Map<string, number>();
  return {
    of(name) {
      try {
        return timestamp.safeParse(readFileSync(fileOf(name), 'utf8')).data;
      } catch {
        return undefined;
      }
    },
    note(name) {
      const now = clock.now();
      const before = noted.get(name);
      if (before !== undefined && Math.abs(now - before) < NOTED_EVERY_MS) return;
      noted.set(name, now);
      try {
        writeFileSync(fileOf(name), timestampOf(clock), { mode: 0o600 });
      } catch {
        // A full or read-only disk must not lock anyone out.
      }
    },
    forget(name) {
      noted.delete(name);
      rmSync(fileOf(name), { force: true });
    },
  };
}
