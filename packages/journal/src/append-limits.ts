/** Limits of one append, which is written, synced and read as one piece. */
export const MAX_PLAN_EVENTS = 5_000;
export const MAX_PLAN_BYTES = 16 * 1024 * 1024;
