import * as z from 'zod';

/** The source of time. Pure packages never read the machine's clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** An ISO-8601 instant in UTC. Informational: order comes from sequence numbers, never from time. */
export const timestamp = z.iso.datetime().brand<'Timestamp'>();
export type Timestamp = z.infer<typeof timestamp>;

export function timestampOf(clock: Clock): Timestamp {
  return new Date(clock.now()).toISOString() as Timestamp;
}
