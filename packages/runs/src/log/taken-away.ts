import { type Digest, digest, type Timestamp, text } from '@signalbox/model';
import * as z from 'zod';
import type { OpenRecord } from './open-record.ts';

/** What a later record removed from a body. The remaining body replaces the one that its header names (T7). */
export const bodyAway = z.strictObject({
  /** The record that replaced the body. Absent if the log was resealed since, as by an import. */
  by: z.int().positive().optional(),
  /** The collected frame. It still counts. */
  frame: z.int().nonnegative().optional(),
  /** Its events are gone; the header says how many there were. */
  events: z.literal(true).optional(),
});
export type BodyAway = z.infer<typeof bodyAway>;

/** The bodies that a record replaced, who asked for it, and why. */
export const takingAway = z.strictObject({
  kind: z.enum(['collapse', 'redaction']),
  by: text.min(1),
  why: text.min(1),
  records: z.array(z.strictObject({ n: z.int().nonnegative(), was: digest, now: digest })).readonly(),
});
export type TakingAway = z.infer<typeof takingAway>;

/** A record that replaced bodies, for verifying the log. */
export interface TakenAway {
  readonly kind: TakingAway['kind'];
  /** The number of the record, and when it was committed. */
  readonly record: number;
  readonly at: Timestamp;
  readonly by: string;
  readonly why: string;
  /** The numbers of the records whose bodies it replaced. */
  readonly records: readonly number[];
}

/**
 * Checks, while a log is read in order, that every body is the one that its header names, or the one named by the last record that replaced
 * it.
 *
 * 1. A replaced body names the record that replaced it, so it is accepted until that record comes; at the end none may be left.
 * 2. A record replaces bodies of earlier records, and names the previous digest of each.
 * 3. A body that reappears after a record replaced it is also a defect.
 */
export interface AwayCheck {
  /** Adds the next record. Returns why it does not follow. */
  take(record: OpenRecord): string | undefined;
  /** Returns the first body that contradicts the log, once all records were added. */
  end(): AwayFault | undefined;
  readonly taken: readonly TakenAway[];
}

interface AwayFault {
  readonly record: number;
  readonly what: string;
  /** The body claims to be replaced by a record that the log lacks, or no longer has. */
  readonly awaits?: number;
}

interface Body {
  readonly found: Digest;
  readonly saysBy: number | undefined;
  named: Digest;
  by: number | undefined;
}

export function awayCheck(): AwayCheck {
  const bodies = new Map<number, Body>();
  const taken: TakenAway[] = [];
  return {
    taken,
    take({ header, body, digest: found }) {
      const { n, at } = header;
      bodies.set(n, { found, saysBy: body.away?.by, named: header.body, by: undefined });
      if (body.taken === undefined) return undefined;
      const { records, ...facts } = body.taken;
      for (const { n: other, was, now } of records) {
        const replaced = other < n ? bodies.get(other) : undefined;
        if (replaced === undefined) return `it replaces the body of record ${other}, which does not come before it`;
        if (replaced.named !== was) return `it says that the body of record ${other} was another one`;
        replaced.named = now;
        replaced.by = n;
      }
      taken.push({ ...facts, record: n, at, records: records.map(one => one.n) });
      return undefined;
    },
    end() {
      for (const [record, { found, named, by, saysBy }] of bodies) {
        if (found === named && saysBy === by) continue;
        const what =
          by === undefined
            ? 'its body is not the one that its header names, and no record says that it was replaced'
            : `its body is not the one that record ${by} put in its place`;
        return { record, what, ...(saysBy !== undefined && !bodies.has(saysBy) && { awaits: saysBy }) };
      }
      return undefined;
    },
  };
}
