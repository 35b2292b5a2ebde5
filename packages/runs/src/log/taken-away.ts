import { type Digest, digest, type Timestamp, text } from '@signalbox/model';
import * as z from 'zod';
import type { OpenRecord } from './open-record.ts';

/** What a later record took out of a body. The body that is left stands in the place of the one that its header names (T7). */
export const bodyAway = z.strictObject({
  /** The record that replaced the body. Absent where the log was sealed again since, as an import does. */
  by: z.int().positive().optional(),
  /** The frame that was collected. It still counts. */
  frame: z.int().nonnegative().optional(),
  /** Its events are gone; the header says how many there were. */
  events: z.literal(true).optional(),
});
export type BodyAway = z.infer<typeof bodyAway>;

/** Which bodies a record replaced, who asked for it, and why. */
export const takingAway = z.strictObject({
  kind: z.enum(['collapse', 'redaction']),
  by: text.min(1),
  why: text.min(1),
  records: z.array(z.strictObject({ n: z.int().nonnegative(), was: digest, now: digest })).readonly(),
});
export type TakingAway = z.infer<typeof takingAway>;

/** A record that replaced bodies, for whoever verifies the log. */
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
 * Checks while a log is read in order that every body is the one that its header names, or the one that the last record which
 * replaced it names.
 *
 * 1. A replaced body names the record that replaced it, so it is accepted until that record comes; at the end none is left.
 * 2. A record replaces bodies of records before it, and names the digest that each had before.
 * 3. A body that is back, after a record replaced it, is a defect too.
 */
export interface AwayCheck {
  /** Takes in the next record. Returns why it does not follow. */
  take(record: OpenRecord): string | undefined;
  /** Returns the first body that is not as the log says, once all records were taken in. */
  end(): AwayFault | undefined;
  readonly taken: readonly TakenAway[];
}

export interface AwayFault {
  readonly record: number;
  readonly what: string;
  /** The body names a record as the one that replaced it which the log does not have, or not any more. */
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
